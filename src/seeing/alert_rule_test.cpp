#include "seeing/alert_rule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/testing/fake_clock.hpp>

namespace holdfast::seeing::alert_rule_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

// Looks once a minute, by default.
struct AlertRuleTest : ::testing::Test {
  AlertRuleTest() { look(); }

  // What was told, as "kind" or "kind over".
  std::vector<std::string> look(Duration after = 1min) {
    clock.advance(after);
    std::vector<std::string> told;
    alerts = rule.look(seen, clock.now(), clock.wall_now());
    for (const Alert& alert : alerts)
      told.push_back(std::string(to_string(alert.kind)) + (alert.resolved ? " over" : ""));
    return told;
  }
  void attempts(std::uint64_t count, std::uint64_t retried = 0, std::uint64_t timeouts = 0) {
    seen.totals.attempts += count;
    seen.totals.retried += retried;
    seen.totals.timeouts += timeouts;
  }

  holdfast::testing::FakeClock clock;
  AlertRule rule{AlertThresholds{.over = 5min, .quiet = 15min}};
  AlertRule::Seen seen;
  std::vector<Alert> alerts;
};

TEST_F(AlertRuleTest, T9_dead_letters_that_grow_are_told_once_and_then_that_it_is_over) {
  EXPECT_THAT(look(), IsEmpty());
  seen.totals.dead = 3;
  const WallTime began = clock.wall_now() + 1min;
  EXPECT_THAT(look(), ElementsAre("dead_letters"));
  EXPECT_EQ(alerts[0].value, 3);
  EXPECT_EQ(alerts[0].since, began);
  EXPECT_EQ(alerts[0].text(), "new dead letters: 3 in 5m (alert at 1)");
  for (int minute = 0; minute < 4; ++minute)
    EXPECT_THAT(look(), IsEmpty()) << "it is told, and still true";
  EXPECT_EQ(rule.firing().size(), 1U);
  EXPECT_THAT(look(), ElementsAre("dead_letters over"));
  EXPECT_EQ(alerts[0].since, began);
  EXPECT_THAT(rule.firing(), IsEmpty());
  EXPECT_THAT(look(), IsEmpty());
}

TEST_F(AlertRuleTest, what_goes_on_is_told_again_after_each_quiet_period) {
  int told = 0;
  for (int minute = 0; minute < 46; ++minute) {
    ++seen.totals.dead;
    told += static_cast<int>(look().size());
  }
  EXPECT_EQ(told, 4);  // at the beginning, and after 15, 30 and 45 minutes
}

TEST_F(AlertRuleTest, what_comes_and_goes_is_told_no_more_often) {
  int told = 0;
  for (int round = 0; round < 4; ++round) {
    ++seen.totals.dead;
    for (int minute = 0; minute < 7; ++minute)
      for (const std::string& line : look())
        told += line == "dead_letters";
  }
  EXPECT_EQ(told, 2);  // in 28 minutes
}

TEST_F(AlertRuleTest, what_was_never_told_is_never_told_to_be_over) {
  ++seen.totals.dead;
  EXPECT_THAT(look(), ElementsAre("dead_letters"));
  EXPECT_THAT(look(6min), ElementsAre("dead_letters over"));
  ++seen.totals.dead;
  EXPECT_THAT(look(), IsEmpty()) << "within its quiet period";
  EXPECT_EQ(rule.firing().size(), 1U) << "but it is there to be seen";
  EXPECT_THAT(look(6min), IsEmpty());
}

TEST_F(AlertRuleTest, T9_shares_of_retries_and_timeouts) {
  attempts(100, 20, 5);
  EXPECT_THAT(look(), IsEmpty()) << "at the threshold is not above it";
  attempts(0, 1, 1);
  EXPECT_THAT(look(), ElementsAre("retry_rate", "timeout_rate"));
  EXPECT_DOUBLE_EQ(alerts[0].value, 0.21);
  EXPECT_EQ(alerts[0].text(), "21.0 % of attempts were retried in 5m (alert above 20.0 %)");
  EXPECT_DOUBLE_EQ(alerts[1].value, 0.06);
  attempts(1000);
  EXPECT_THAT(look(), ElementsAre("retry_rate over", "timeout_rate over"));
}

TEST_F(AlertRuleTest, few_attempts_say_nothing) {
  attempts(19, 19, 19);
  EXPECT_THAT(look(), IsEmpty());
  attempts(1, 1, 1);
  EXPECT_EQ(look().size(), 2U);
}

TEST_F(AlertRuleTest, a_task_that_is_due_for_too_long) {
  seen.oldest = 10min;
  seen.queue = "mail";
  EXPECT_THAT(look(), IsEmpty());
  seen.oldest = 11min;
  EXPECT_THAT(look(), ElementsAre("backlog_age"));
  EXPECT_EQ(alerts[0].text(), "a task of queue \"mail\" has been due for 11m (alert above 10m)");
  EXPECT_THAT(alerts[0].json(), HasSubstr(R"("queue":"mail")"));
  seen.oldest = 0s;
  EXPECT_THAT(look(), ElementsAre("backlog_age over"));
}

TEST_F(AlertRuleTest, zeros_switch_off) {
  rule.set(
      {.over = 5min, .dead_letters = 0, .retry_rate = 0, .timeout_rate = 0, .backlog_age = {}});
  attempts(100, 100, 100);
  seen.totals.dead = 100;
  seen.oldest = 24h;
  EXPECT_THAT(look(), IsEmpty());
}

TEST_F(AlertRuleTest, T9_every_value_can_be_seen_wrong_or_not) {
  const auto check = [&](AlertKind kind) { return rule.checks()[static_cast<std::size_t>(kind)]; };
  rule.set({.over = 5min, .dead_letters = 5, .timeout_rate = 0, .quiet = 15min});
  attempts(10, 1, 1);
  seen.totals.dead = 4;
  seen.oldest = 90s;
  EXPECT_THAT(look(), IsEmpty());
  EXPECT_EQ(check(AlertKind::dead_letters),
            (AlertCheck{.kind = AlertKind::dead_letters, .value = 4, .threshold = 5}));
  EXPECT_EQ(check(AlertKind::retry_rate),
            (AlertCheck{.kind = AlertKind::retry_rate, .value = 0.1, .threshold = 0.2}));
  EXPECT_EQ(check(AlertKind::timeout_rate),
            (AlertCheck{.kind = AlertKind::timeout_rate, .value = 0.1, .threshold = {}}));
  EXPECT_EQ(check(AlertKind::backlog_age),
            (AlertCheck{.kind = AlertKind::backlog_age, .value = 90, .threshold = 600}));
  attempts(0, 9);
  look();
  EXPECT_EQ(check(AlertKind::retry_rate).value, 1);
  EXPECT_FALSE(check(AlertKind::retry_rate).firing) << "few attempts say nothing";
  attempts(20, 20);
  look();
  EXPECT_TRUE(check(AlertKind::retry_rate).firing);
  look(6min);
  EXPECT_EQ(check(AlertKind::retry_rate).value, 0) << "of nothing";
}

TEST_F(AlertRuleTest, other_thresholds_end_what_is_not_wrong_by_them) {
  seen.totals.dead = 3;
  EXPECT_THAT(look(), ElementsAre("dead_letters"));
  rule.set({.over = 5min, .dead_letters = 10});
  EXPECT_THAT(look(), ElementsAre("dead_letters over"));
}

TEST_F(AlertRuleTest, what_was_before_the_first_look_is_no_news) {
  AlertRule late({.over = 5min});
  seen.totals.dead = 100;
  EXPECT_THAT(late.look(seen, clock.now(), clock.wall_now()), IsEmpty());
}

// The first look may come late: it waits for the store.
TEST_F(AlertRuleTest, T9_what_fails_before_the_first_look_is_told) {
  rule.begin(seen.totals, clock.now());
  seen.totals.dead = 1;
  EXPECT_THAT(look(), ElementsAre("dead_letters"));
}

TEST_F(AlertRuleTest, a_message_says_all_of_it) {
  ++seen.totals.dead;
  look();
  const std::string message =
      alert_message(alerts.at(0), clock.wall_now(), "https://tasks.example");
  EXPECT_THAT(message, HasSubstr(R"({"type":"holdfast.alert","timestamp":")"));
  EXPECT_THAT(message, HasSubstr(R"("server":"https://tasks.example")"));
  EXPECT_THAT(message, HasSubstr(R"("data":{"alert":"dead_letters","state":"firing","value":1,)"));
}

}  // namespace
}  // namespace holdfast::seeing::alert_rule_test
