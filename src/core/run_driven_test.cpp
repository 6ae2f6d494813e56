// A call driven from outside, step by step, as an event loop of a user's own would do it.
#include <memory>

#include <gtest/gtest.h>

#include <holdfast/retry.hpp>
#include <holdfast/testing.hpp>

namespace holdfast::retry::run_driven_test {
namespace {

using namespace std::chrono_literals;
using Kind = Run::Next::Kind;

struct Driven : ::testing::Test {
  testing::FakeClock clock;
  testing::FakeRandom random;
  Policy policy = Policy(clock, random).stop(attempts(2)).wait(fixed(5s));
};

TEST_F(Driven, says_go_sleep_and_nothing_and_never_sleeps_itself) {
  retry::Run run(policy, nullptr);
  EXPECT_EQ(run.begin().kind, Kind::go);
  const auto until = run.failed(Observed::error(1));
  ASSERT_TRUE(until);
  EXPECT_EQ(*until, clock.now() + 5s);
  EXPECT_EQ(run.woke(true).kind, Kind::go);
  EXPECT_EQ(run.attempt().number, 2);
  EXPECT_FALSE(run.failed(Observed::error(1)));
  EXPECT_TRUE(clock.slept().empty());
}

TEST_F(Driven, an_attempt_that_a_breaker_kept_waiting_until_the_stop_is_not_counted) {
  auto breaker = std::make_shared<Breaker>(
      Breaker::Options{.consecutive_failures = 1, .open_for = fixed(30s)}, clock, random);
  int told = 0;
  const auto patient = policy.breaker(breaker, WhenOpen::wait).on_give_up([&](const GaveUp& end) {
    told = end.attempts;
  });
  retry::Run run(patient, nullptr);
  ASSERT_EQ(run.begin().kind, Kind::go);
  ASSERT_TRUE(run.failed(Observed::error(1)));
  clock.advance(5s);
  ASSERT_EQ(run.woke(true).kind, Kind::sleep);  // for the breaker
  EXPECT_EQ(run.woke(false).kind, Kind::refuse);
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace holdfast::retry::run_driven_test
