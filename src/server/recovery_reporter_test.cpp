#include "server/recovery_reporter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/testing/fake_clock.hpp>

namespace holdfast::server::recovery_reporter_test {
namespace {

using recovery::Ended;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Outcome = Result<recovery::Run::Outcome>;

Outcome outcome_of(Ended ended, std::uint64_t recovered, std::uint64_t skipped) {
  recovery::Summary summary{.run = "20261119T031245Z-9f3a1c2b", .queue = "app.dlq", .ended = ended};
  summary.found = recovered + skipped;
  summary.left = skipped;
  summary.recovered.add("work", recovered);
  summary.skipped.add("no type", skipped);
  return recovery::Run::Outcome{.summary = summary, .plan = {}};
}

struct ReporterTest : ::testing::Test {
  holdfast::testing::FakeClock clock;
  seeing::RecoveryCounts counts;
  std::vector<std::string> sent;
  std::vector<AuditEntry> audit;
  RecoveryReporter reporter{
      {.counts = counts,
       .clock = clock,
       .notify = [this](std::string json) { sent.push_back(std::move(json)); },
       .audit = [this](AuditEntry entry) { audit.push_back(std::move(entry)); },
       .server = "https://tasks.example.org"}};

  static RecoveryRun run_of(config::Notify notify) {
    RecoveryRun run{.name = "night",
                    .queue = "app.dlq",
                    .broker = "amqp://mq/%2f",
                    .place = "amqp://planted@mq/%2f/app.dlq",
                    .config = {}};
    run.config.notify = notify;
    return run;
  }
};

TEST_F(ReporterTest, notifies_of_problems_unless_it_is_told_otherwise) {  // T9
  const Outcome well = outcome_of(Ended::empty, 7, 0);
  const Outcome kept = outcome_of(Ended::empty, 7, 2);
  const Outcome failed = fail(ErrorCode::not_found, "count messages", "no such queue");
  for (const Outcome* outcome : {&well, &kept, &failed})
    reporter.ended(run_of(config::Notify::never), *outcome);
  EXPECT_TRUE(sent.empty());
  for (const Outcome* outcome : {&well, &kept, &failed})
    reporter.ended(run_of(config::Recover().notify), *outcome);
  EXPECT_THAT(sent, ElementsAre(HasSubstr("2 skipped"), HasSubstr("no such queue")));
  sent.clear();
  for (const Outcome* outcome : {&well, &kept, &failed})
    reporter.ended(run_of(config::Notify::always), *outcome);
  EXPECT_EQ(sent.size(), 3U);
}

TEST_F(ReporterTest, a_message_says_what_became_of_the_messages_and_why_it_ended) {
  const std::string json =
      recovery_message(run_of(config::Notify::always), outcome_of(Ended::stall, 7, 2),
                       clock.wall_now(), "https://tasks.example.org");
  for (
      const char* part :
      {R"({"type":"holdfast.recovery","timestamp":")", R"("server":"https://tasks.example.org")",
       R"("data":{"recovery":"night","broker":"amqp://mq/%2f","queue":"app.dlq","ended":"stall",)"
       R"("all_done":false,"run":"20261119T031245Z-9f3a1c2b","found":9,"recovered":7,"failed":0,)"
       R"("skipped":2,"not_chosen":0,"parked":0,"possible_duplicates":0,"left":2,"took_seconds":0)",
       R"("text":"recovery \"night\" of app.dlq has ended: no progress for too long (--stall); )"
       R"(7 recovered, 0 failed, 2 skipped, 2 left"}})"}) {
    EXPECT_THAT(json, HasSubstr(part));
  }
  EXPECT_THAT(json, ::testing::Not(HasSubstr("planted")));
}

TEST_F(ReporterTest, a_message_of_a_run_that_could_not_begin_says_why) {
  const std::string json = recovery_message(
      run_of(config::Notify::always), fail(ErrorCode::not_found, "count messages", "no such queue"),
      clock.wall_now(), "");
  EXPECT_THAT(json, HasSubstr(R"("ended":"failed","all_done":false,"error":"count messages: )"));
  EXPECT_THAT(json, HasSubstr("could not begin: count messages: no such queue"));
  EXPECT_THAT(json, ::testing::Not(HasSubstr("\"server\"")));
}

TEST_F(ReporterTest, the_audit_has_the_start_and_the_end_of_a_run_that_found_something) {
  const RecoveryRun run = run_of(config::Notify::never);
  reporter.began(run);
  reporter.found(run, 9);
  reporter.ended(run, outcome_of(Ended::stall, 7, 2));
  ASSERT_EQ(audit.size(), 2U);
  EXPECT_EQ(audit[0], (AuditEntry{.who = "schedule night",
                                  .action = "recover.start",
                                  .what = "dead-letter queue app.dlq at amqp://mq/%2f",
                                  .count = 9}));
  EXPECT_EQ(audit[1],
            (AuditEntry{.who = "schedule night",
                        .action = "recover",
                        .what = "dead-letter queue app.dlq at amqp://mq/%2f",
                        .count = 7,
                        .refused = 2,
                        .reason = "run 20261119T031245Z-9f3a1c2b: no progress for too long "
                                  "(--stall); 7 recovered, 0 failed, 2 skipped, 2 left"}));
}

TEST_F(ReporterTest, the_audit_has_nothing_of_a_run_that_had_nothing_to_do_or_did_not_begin) {
  const RecoveryRun run = run_of(config::Notify::never);
  reporter.found(run, 0);
  reporter.ended(run, outcome_of(Ended::empty, 0, 0));
  reporter.ended(run, fail(ErrorCode::not_found, "count messages", "no such queue"));
  EXPECT_TRUE(audit.empty());
  reporter.found(run, 0);
  reporter.ended(run, outcome_of(Ended::empty, 3, 0));  // they came while it ran
  EXPECT_EQ(audit.size(), 1U);
}

TEST_F(ReporterTest, the_audit_has_nothing_of_a_run_that_was_refused_before_it_took_a_message) {
  Outcome refused = outcome_of(Ended::failed, 0, 0);
  refused->summary.found = 9;
  refused->summary.error = Error{ErrorCode::unavailable, "recover", "the management API is away"};
  const RecoveryRun run = run_of(config::Notify::never);
  reporter.began(run);
  reporter.ended(run, refused);
  EXPECT_TRUE(audit.empty());
  Outcome stalled = outcome_of(Ended::stall, 0, 0);
  stalled->summary.found = 9;
  reporter.ended(run, stalled);
  EXPECT_EQ(audit.size(), 1U);
}

TEST_F(ReporterTest, counts_runs_and_messages) {
  config::Recover recover;
  const std::string url = "amqp://u:planted@mq/%2f/app.dlq";
  recover.from = {.text = config::Secret(url, ""), .shown = url};
  reporter.expect({{"night", recover}});
  const RecoveryRun run = run_of(config::Notify::never);
  reporter.began(run);
  reporter.ended(run, outcome_of(Ended::caught_up, 7, 2));
  reporter.began(run);
  reporter.ended(run, fail(ErrorCode::not_found, "count messages", "no such queue"));
  const auto& of = counts.all().at("night");
  EXPECT_EQ(of.queue, "app.dlq");
  EXPECT_EQ(of.started, 2U);
  EXPECT_EQ(of.ended.at("caught up"), 1U);
  EXPECT_EQ(of.ended.at("failed"), 1U);
  EXPECT_EQ(of.ended.at("stall"), 0U);
  EXPECT_THAT(of.messages, ElementsAre(7, 0, 2));
}

}  // namespace
}  // namespace holdfast::server::recovery_reporter_test
