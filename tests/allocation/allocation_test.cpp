// What must not allocate does not.
#include <expected>

#include <gtest/gtest.h>

#include <holdfast/classify.hpp>
#include <holdfast/retry.hpp>
#include <holdfast/testing.hpp>

#include "allocation/counting_new.hpp"

namespace holdfast::allocation_test {
namespace {

using namespace std::chrono_literals;

TEST(Allocation, is_counted_here) {
  const long before = allocations;
  std::vector<std::string> kept(100, std::string(100, 'x'));
  EXPECT_GE(allocations - before, 101);
}

TEST(Allocation, a_successful_call_through_a_policy_makes_none) {
  const auto plain = retry::Policy().stop(retry::attempts(5));
  EXPECT_EQ(allocations_of([&] { plain.call([] { return 1; }); }), 0);
  EXPECT_EQ(allocations_of([&] { plain.call([] {}); }), 0);
  EXPECT_EQ(allocations_of([&] {
              static_cast<void>(plain.call([]() -> std::expected<int, int> { return 1; }));
            }),
            0);
}

TEST(Allocation, a_policy_with_everything_makes_none_either) {
  const auto full = retry::Policy()
                        .named("a name too long to be kept inside of a string object itself")
                        .stop(retry::attempts(5) | retry::elapsed(1s))
                        .retry_on<std::runtime_error>()
                        .classify_with(Classifier::make(presets::all()).value())
                        .budget(std::make_shared<RetryBudget>())
                        .breaker(std::make_shared<Breaker>(Breaker::Options{.failure_rate = 0.5}))
                        .before_attempt([](const retry::Attempt&) {})
                        .on_give_up([](const retry::GaveUp&) {})
                        .log_to(Logger(stderr_log()));
  EXPECT_EQ(allocations_of([&] { full.call([] { return 1; }); }), 0);
}

TEST(Allocation, a_breaker_and_a_budget_make_none) {
  Breaker breaker;
  EXPECT_EQ(allocations_of([&] { breaker.try_acquire().success(); }), 0);
  RetryBudget budget;
  EXPECT_EQ(allocations_of([&] {
              budget.earn();
              static_cast<void>(budget.spend());
            }),
            0);
}

TEST(Allocation, a_wait_makes_none) {
  const auto wait = retry::fixed(1s).times(2).then(retry::from_error(
      retry::exponential({.jitter = retry::Jitter::decorrelated}) + retry::fixed(1ms)));
  int number = 0;
  EXPECT_EQ(allocations_of([&] {
              static_cast<void>(wait.next({.retry = ++number, .previous = 2s}, system_random()));
            }),
            0);
}

TEST(Allocation, a_text_of_ten_megabytes_is_classified_without_a_copy) {
  const auto classifier = Classifier::make(presets::all()).value();
  const std::string text = std::string(10 << 20, 'x') + " connection refused";
  static_cast<void>(classifier.classify({text}));  // fills the cache of what its patterns meet
  const std::size_t before = allocated_bytes;
  EXPECT_EQ(classifier.classify({text}).verdict.kind, VerdictKind::retry);
  EXPECT_EQ(classifier.explain({text}).rule, "network.refused");
  EXPECT_LT(allocated_bytes - before, 1U << 20);
}

}  // namespace
}  // namespace holdfast::allocation_test
