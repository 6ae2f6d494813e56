#include "cli/recover_totals.hpp"

#include <sstream>

#include <gmock/gmock.h>

#include "cli/text_columns.hpp"

namespace holdfast::cli::recover_totals_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

RecoverTotals totals_of_two() {
  recovery::Summary summary{.run = "r", .queue = "app.dlq"};
  summary.found = 1200;
  summary.recovered.add("scan", 1000);
  summary.failed.add("scan", 150);
  summary.skipped.add("no type", 50);
  summary.left = 200;
  RecoverTotals totals;
  totals.add(summary);
  totals.add(summary);
  totals.failed_queues.push_back({"amqp://mq/%2f/gone.dlq", "NOT_FOUND - no queue 'gone.dlq'"});
  totals.not_begun.push_back({"amqp://mq/%2f/late.dlq", "its time is over (--total)"});
  return totals;
}

TEST(RecoverTotals, add_up_and_name_what_was_not_done) {
  const std::string text = totals_text(totals_of_two());
  for (const char* line : {"TOTAL OF 2 QUEUES", "2,000  recovered", "300  failed", "100  skipped",
                           "400  still in the queues", "Failed: amqp://mq/%2f/gone.dlq: NOT_FOUND",
                           "Not begun: amqp://mq/%2f/late.dlq: its time is over (--total)"})
    EXPECT_THAT(text, HasSubstr(line));
  EXPECT_THAT(text, Not(HasSubstr("would be")));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(columns_of(line), kColumns) << line;
}

TEST(RecoverTotals, say_what_was_discarded) {
  recovery::Summary summary{.run = "r", .queue = "app.dlq"};
  summary.discards = true;
  summary.discarded = 3;
  RecoverTotals totals;
  totals.add(summary);
  totals.add(summary);
  EXPECT_THAT(totals_text(totals), HasSubstr("6  discarded"));
  EXPECT_THAT(totals_text(totals), Not(HasSubstr("recovered")));
  EXPECT_THAT(totals_json(totals, {}), HasSubstr(R"("discarded":6)"));
}

TEST(RecoverTotals, of_dry_runs_say_that_a_limit_has_ended_one) {
  recovery::Summary summary{.queue = "app.dlq", .dry = true, .ended = recovery::Ended::limit};
  summary.found = 20;
  summary.planned = 5;
  summary.passed = 10;
  RecoverTotals totals{.dry = true};
  totals.add(summary);
  EXPECT_THAT(totals_text(totals), HasSubstr("15  messages of 20 were looked at"));
  EXPECT_THAT(totals_json(totals, {}), HasSubstr(R"("seen":15,"complete":false)"));
}

TEST(RecoverTotals, are_one_json_object_with_all_queues) {
  const std::string json = totals_json(totals_of_two(), {R"({"queue":"a"})", R"({"queue":"b"})"});
  EXPECT_THAT(json, HasSubstr(R"({"queues":[{"queue":"a"},{"queue":"b"}],"total":{"queues":2,)"));
  EXPECT_THAT(json, HasSubstr(R"("recovered":2000,"failed":300,"skipped":100)"));
  EXPECT_THAT(json, HasSubstr(R"("not_begun":[{"from":"amqp://mq/%2f/late.dlq",)"));
}

}  // namespace
}  // namespace holdfast::cli::recover_totals_test
