// A policy with a retry budget and a circuit breaker: the library half of N4.
#include <expected>
#include <memory>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/retry.hpp>
#include <holdfast/testing.hpp>

#include "core/policy_testing.hpp"

namespace holdfast::retry::policy_guards_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::Flaky;
using ::testing::IsEmpty;

using PolicyGuards = PolicyFixture;

TEST_F(PolicyGuards, N4_retries_spend_a_shared_budget) {
  auto budget = std::make_shared<RetryBudget>(
      RetryBudget::Options{.ratio = 0, .per_second = 0, .capacity = 3}, clock);
  const auto limited = policy.budget(budget).wait(no_wait());
  Flaky<int> fetch;
  fetch.throws(std::runtime_error("down"));
  History history;
  EXPECT_ANY_THROW(limited.call(fetch, history));
  EXPECT_EQ(history.gave_up(), GiveUp::attempts);  // 4 attempts: 3 retries
  EXPECT_ANY_THROW(limited.call(fetch, history));
  EXPECT_EQ(history.gave_up(), GiveUp::budget);
  EXPECT_EQ(history.attempts(), 1);
}

TEST_F(PolicyGuards, N4_a_throttle_is_free_of_the_budget) {
  auto budget = std::make_shared<RetryBudget>(
      RetryBudget::Options{.ratio = 0, .per_second = 0, .capacity = 1}, clock);
  const auto classifier = Classifier::make(
      {{.name = "slow", .pattern = "slow down", .verdict = VerdictKind::throttle, .wait = 1s}});
  Flaky<int> fetch;
  fetch.throws(std::runtime_error("slow down"), 3).returns(1);
  EXPECT_EQ(policy.budget(budget).classify_with(classifier.value()).call(fetch), 1);
  EXPECT_EQ(budget->left(), 1.0);
}

TEST_F(PolicyGuards, N4_a_policy_feeds_its_breaker_and_stops_when_it_opens) {
  auto breaker = std::make_shared<Breaker>(
      Breaker::Options{.name = "db", .consecutive_failures = 2, .open_for = fixed(30s)}, clock,
      random);
  const auto guarded = policy.breaker(breaker);
  Flaky<int> fetch;
  fetch.throws(std::runtime_error("down"), 2).returns(1);
  History history;
  EXPECT_THROW(guarded.call(fetch, history), std::runtime_error);
  EXPECT_EQ(fetch.calls(), 2);
  EXPECT_EQ(history.gave_up(), GiveUp::breaker_open);
  EXPECT_EQ(history.attempts(), 2);
  EXPECT_THAT(clock.slept(), ElementsAre(1s));  // not again: it would end before the next probe

  EXPECT_THROW(guarded.call(fetch), BreakerOpen);  // not even tried
  EXPECT_EQ(fetch.calls(), 2);
  clock.advance(30s);
  EXPECT_EQ(guarded.call(fetch), 1);
  EXPECT_EQ(breaker->state(), Breaker::State::closed);
}

TEST_F(PolicyGuards, N4_a_breaker_that_others_opened_ends_the_call_with_its_last_error) {
  auto breaker = std::make_shared<Breaker>(Breaker::Options{.open_for = fixed(30s)}, clock, random);
  const auto guarded =
      policy.breaker(breaker).before_sleep([&](const BeforeSleep&) { breaker->force_open(); });
  Flaky<int> fetch;
  fetch.throws(std::out_of_range("the last"), 1).returns(1);
  History history;
  EXPECT_THROW(guarded.call(fetch, history), std::out_of_range);
  EXPECT_EQ(history.gave_up(), GiveUp::breaker_open);
  EXPECT_EQ(history.attempts(), 1);
  EXPECT_EQ(log.of("retry.give_up").at(0).fields.at("attempts"), "1");
}

TEST_F(PolicyGuards, N4_a_refused_call_returns_an_error_where_it_can) {
  auto breaker = std::make_shared<Breaker>(Breaker::Options{.name = "db"}, clock, random);
  breaker->force_open();
  const auto guarded = policy.breaker(breaker);
  const auto result = guarded.call([]() -> Result<int> { return 1; });
  EXPECT_EQ(result.error().code, ErrorCode::unavailable);
  EXPECT_EQ(result.error().message, "circuit breaker \"db\" is open; next probe in 30s");
  EXPECT_THROW(static_cast<void>(guarded.call([]() -> std::expected<int, int> { return 1; })),
               BreakerOpen);
}

TEST_F(PolicyGuards, N4_waits_for_an_open_breaker_without_spending_attempts) {
  auto breaker = std::make_shared<Breaker>(
      Breaker::Options{.consecutive_failures = 1, .open_for = fixed(30s)}, clock, random);
  const auto guarded = policy.breaker(breaker, WhenOpen::wait).stop(attempts(3)).wait(fixed(1s));
  Flaky<int> fetch;
  fetch.throws(std::runtime_error("down"), 2).returns(1);
  std::vector<int> numbers;
  EXPECT_EQ(guarded.call([&](const Attempt& attempt) {
    numbers.push_back(attempt.number);
    return fetch();
  }),
            1);
  EXPECT_THAT(numbers, ElementsAre(1, 2, 3));
  EXPECT_THAT(clock.slept(), ElementsAre(1s, 29s, 1s, 29s));
}

TEST_F(PolicyGuards, N4_waits_for_an_open_breaker_only_as_long_as_it_may) {
  auto breaker = std::make_shared<Breaker>(Breaker::Options{.open_for = fixed(30s)}, clock, random);
  breaker->force_open();
  const auto guarded = policy.breaker(breaker, WhenOpen::wait).stop(elapsed(10s));
  EXPECT_THROW(guarded.call([] { return 1; }), BreakerOpen);
  EXPECT_THAT(clock.slept(), IsEmpty());
}

TEST_F(PolicyGuards, a_throttle_says_nothing_about_the_dependency) {
  auto breaker =
      std::make_shared<Breaker>(Breaker::Options{.consecutive_failures = 1}, clock, random);
  const auto classifier = Classifier::make(
      {{.name = "slow", .pattern = "slow down", .verdict = VerdictKind::throttle, .wait = 1s}});
  Flaky<int> fetch;
  fetch.throws(std::runtime_error("slow down"), 3).returns(1);
  EXPECT_EQ(policy.breaker(breaker).classify_with(classifier.value()).call(fetch), 1);
  EXPECT_EQ(breaker->state(), Breaker::State::closed);
}

TEST_F(PolicyGuards, failures_that_are_given_up_say_nothing_about_the_dependency) {
  auto breaker =
      std::make_shared<Breaker>(Breaker::Options{.consecutive_failures = 1}, clock, random);
  const auto guarded = policy.breaker(breaker).give_up_on<std::invalid_argument>();
  EXPECT_THROW(guarded.call([]() -> int { throw std::invalid_argument("x"); }),
               std::invalid_argument);
  EXPECT_EQ(breaker->state(), Breaker::State::closed);
}

}  // namespace
}  // namespace holdfast::retry::policy_guards_test
