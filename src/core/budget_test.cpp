#include <limits>

#include <gtest/gtest.h>

#include <holdfast/budget.hpp>
#include <holdfast/testing.hpp>

namespace holdfast::budget_test {
namespace {

using namespace std::chrono_literals;

TEST(RetryBudget, begins_full_and_runs_out) {
  testing::FakeClock clock;
  RetryBudget budget({.ratio = 0, .per_second = 0, .capacity = 3}, clock);
  EXPECT_TRUE(budget.spend());
  EXPECT_TRUE(budget.spend());
  EXPECT_TRUE(budget.spend());
  EXPECT_FALSE(budget.spend());
  EXPECT_EQ(budget.left(), 0.0);
}

TEST(RetryBudget, calls_earn_a_fraction_each) {
  testing::FakeClock clock;
  RetryBudget budget({.ratio = 0.1, .per_second = 0, .capacity = 1}, clock);
  EXPECT_TRUE(budget.spend());
  for (int i = 0; i < 9; ++i)
    budget.earn();
  EXPECT_FALSE(budget.spend());
  budget.earn();
  EXPECT_TRUE(budget.spend());
}

TEST(RetryBudget, time_earns_a_trickle) {
  testing::FakeClock clock;
  RetryBudget budget({.ratio = 0, .per_second = 2, .capacity = 5}, clock);
  while (budget.spend()) {
  }
  clock.advance(499ms);
  EXPECT_FALSE(budget.spend());
  clock.advance(1ms);
  EXPECT_TRUE(budget.spend());
  EXPECT_FALSE(budget.spend());
}

TEST(RetryBudget, saves_no_more_than_its_capacity) {
  testing::FakeClock clock;
  RetryBudget budget({.ratio = 1, .per_second = 1000, .capacity = 2}, clock);
  for (int i = 0; i < 100; ++i)
    budget.earn();
  clock.advance(std::chrono::years(100));
  EXPECT_EQ(budget.left(), 2.0);
}

TEST(RetryBudget, small_steps_of_time_add_up) {
  testing::FakeClock clock;
  RetryBudget budget({.ratio = 0, .per_second = 0.5, .capacity = 1}, clock);
  EXPECT_TRUE(budget.spend());
  for (int i = 0; i < 2000; ++i) {
    clock.advance(1ms);
    static_cast<void>(budget.left());
  }
  EXPECT_NEAR(budget.left(), 1.0, 0.001);
}

TEST(RetryBudget, nonsense_options_mean_no_retries) {
  testing::FakeClock clock;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  RetryBudget budget({.ratio = -1, .per_second = nan, .capacity = -3}, clock);
  budget.earn();
  clock.advance(1h);
  EXPECT_FALSE(budget.spend());
}

TEST(RetryBudget, without_a_limit_to_its_capacity_it_is_full_and_not_empty) {
  testing::FakeClock clock;
  RetryBudget budget({.capacity = std::numeric_limits<double>::infinity()}, clock);
  EXPECT_TRUE(budget.spend());
}

TEST(RetryBudget, loses_nothing_by_being_asked_often) {
  testing::FakeClock clock;
  RetryBudget budget({.ratio = 0, .per_second = 10, .capacity = 1}, clock);
  ASSERT_TRUE(budget.spend());
  for (int i = 0; i < 500'000; ++i) {  // 199 ns: nearly twice the time of the smallest part
    clock.advance(199ns);
    static_cast<void>(budget.left());
  }
  EXPECT_NEAR(budget.left(), 0.995, 0.001);
}

}  // namespace
}  // namespace holdfast::budget_test
