#include "cli/recover_output.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/text_columns.hpp"

namespace holdfast::cli::recover_output_test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

recovery::Summary summary_of_a_day() {
  recovery::Summary summary{.run = "r", .queue = "app.dlq"};
  summary.found = 119'762;
  summary.recovered.add("collection.scan", 118'500);
  summary.failed.add("collection.scan", 1000);
  summary.skipped.add("the map has no type \"Unheard\"", 262);
  summary.left = 1262;
  summary.duplicates = 7;
  summary.took = 20s;
  summary.worked = 12s;
  return summary;
}

TEST(RecoverOutput, V9_says_what_became_of_all) {
  const std::string text = recover_summary(summary_of_a_day(), "amqp://host/%2f/app.dlq");
  for (const char* line :
       {"118,500  recovered", "118,500  collection.scan", "1,000  failed", "262  skipped",
        "262  the map has no type \"Unheard\"", "1,262  still in app.dlq", "7  may be there twice",
        "took 20s; recovered 118,500 messages in 12s, 9,875/s",
        "Ended: every message was handled."})
    EXPECT_THAT(text, HasSubstr(line));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(columns_of(line), kColumns) << line;
}

// P6
TEST(RecoverOutput, says_that_it_is_not_known_how_many_are_left) {
  recovery::Summary summary = summary_of_a_day();
  summary.left.reset();
  EXPECT_THAT(recover_summary(summary, ""),
              HasSubstr("unknown  still in app.dlq: the broker cannot tell"));
  EXPECT_THAT(recover_json({.summary = summary, .plan = {}}, ""), Not(HasSubstr("still_in")));
}

TEST(RecoverOutput, names_the_other_broker_that_messages_went_to) {
  recovery::Summary summary = summary_of_a_day();
  EXPECT_THAT(recover_json({.summary = summary, .plan = {}}, ""), Not(HasSubstr("to_broker")));
  summary.to_place = "amqp://other/%2f";
  EXPECT_THAT(recover_summary(summary, "amqp://host/%2f/app.dlq"),
              HasSubstr("amqp://host/%2f/app.dlq\nto amqp://other/%2f\n"));
  const recovery::Run::Outcome outcome{.summary = summary, .plan = {}};
  EXPECT_THAT(recover_plan(outcome, "amqp://host/%2f/app.dlq"), HasSubstr("to amqp://other/%2f\n"));
  EXPECT_THAT(recover_json(outcome, ""), HasSubstr(R"("to_broker":"amqp://other/%2f")"));
}

TEST(RecoverOutput, names_from_messages_do_nothing_to_a_terminal) {
  recovery::Summary summary = summary_of_a_day();
  summary.recovered.add("evil\x1b[2J\nline");
  EXPECT_THAT(recover_summary(summary, ""), Not(HasSubstr("\x1b")));
}

TEST(RecoverOutput, json_has_all_of_it) {
  const std::string json = recover_json({.summary = summary_of_a_day(), .plan = {}}, "amqp://h");
  for (const char* part : {R"("recovered":{"total":118500,"by_target":{"collection.scan":118500}})",
                           R"("skipped":{"total":262,"by_reason":)", R"("still_in_queue":1262)",
                           R"("possible_duplicates":7)", R"("ended":"empty")"})
    EXPECT_THAT(json, HasSubstr(part));
}

TEST(RecoverOutput, a_bar_has_rate_and_time_left) {
  const std::string bar = bar_line({.done = 30'000, .found = 120'000, .rate = 9000, .kept = 3});
  EXPECT_EQ(bar, "[######------------------] 30,000/120,000  9,000/s  10s left  3 kept");
  EXPECT_LE(columns_of(bar_line({.done = 1'000'000'000'000,
                                 .found = 1'000'000'000'000,
                                 .rate = 1e9,
                                 .kept = 1'000'000'000'000})),
            kColumns);
}

TEST(RecoverOutput, tells_lines_where_there_is_no_terminal) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  Io io{in, out, err};
  RecoverProgress progress(io, {});
  progress.found(119'762);
  recovery::Summary summary;
  summary.took = 2s;
  summary.recovered.add("q", 1700);
  progress.moved(summary);
  progress.moved(summary);
  progress.warned({.kind = recovery::Warning::Kind::skipped, .text = "message \"x\" is kept"});
  EXPECT_EQ(err.str(),
            "Found 119762 messages in DLQ. Starting recovery...\n"
            "Recovered 1000 messages so far...\n"
            "Warning: message \"x\" is kept\n");
}

TEST(RecoverOutput, wipes_its_bar_before_it_says_something) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  Io io{in, out, err};
  io.err_is_terminal = true;
  RecoverProgress progress(io, {});
  recovery::Summary summary;
  summary.took = 1s;
  progress.moved(summary);
  progress.warned({.kind = recovery::Warning::Kind::queue, .text = "x"});
  EXPECT_THAT(err.str(), HasSubstr("\r\x1b[KWarning: x\n"));
}

}  // namespace
}  // namespace holdfast::cli::recover_output_test
