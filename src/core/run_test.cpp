#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/retry.hpp>
#include <holdfast/testing.hpp>

// The corners of a run: late wake-ups, refusals, and predicates and errors of unusual types.
namespace holdfast::retry {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::FakeClock;
using testing::FakeRandom;
using testing::Flaky;

struct RunTest : ::testing::Test {
  FakeClock clock;
  FakeRandom random;
  Policy policy = Policy(clock, random).stop(attempts(4)).wait(fixed(1s));
};

bool is_seven(int error) noexcept {
  return error == 7;
}

TEST_F(RunTest, takes_predicates_that_do_not_throw) {
  const auto fails = [](int error) {
    return [error]() -> std::expected<int, int> { return std::unexpected(error); };
  };
  History history;
  EXPECT_FALSE(policy.retry_if(&is_seven).call(fails(7), history));
  EXPECT_EQ(history.attempts(), 4);
  EXPECT_FALSE(policy.retry_if(is_seven).call(fails(8), history));
  EXPECT_EQ(history.attempts(), 1);
  EXPECT_FALSE(
      policy.retry_if([](int error) noexcept { return error == 7; }).call(fails(7), history));
  EXPECT_EQ(history.attempts(), 4);
}

TEST_F(RunTest, asks_predicates_about_thrown_pointers) {
  std::vector<std::string> seen;
  const auto picky = policy.retry_if([&](const char* text) {
    seen.emplace_back(text);
    return false;
  });
  EXPECT_THROW(picky.call([]() -> int { throw "not an object"; }), const char*);
  EXPECT_THAT(seen, ElementsAre("not an object"));
}

TEST_F(RunTest, an_exception_of_a_predicate_ends_the_call) {
  const auto broken = policy.retry_if(
      [](const std::runtime_error&) -> bool { throw std::logic_error("the predicate's"); });
  EXPECT_THROW(broken.call([]() -> int { throw std::runtime_error("x"); }), std::logic_error);
}

TEST_F(RunTest, a_wait_beyond_all_time_is_slept_by_the_fake_clock) {
  Flaky<int> fetch;
  fetch.throws(std::runtime_error("x"), 1).returns(1);
  EXPECT_EQ(policy.wait(fixed(Duration::max())).call(fetch), 1);
  EXPECT_EQ(clock.now(), SteadyTime::max());
}

// A machine whose cheap clock is some milliseconds behind the exact one.
class CoarseClock final : public Clock {
 public:
  explicit CoarseClock(FakeClock& clock) : clock_(clock) {}

  [[nodiscard]] SteadyTime now() const noexcept override { return clock_.now(); }
  [[nodiscard]] WallTime wall_now() const noexcept override { return clock_.wall_now(); }
  [[nodiscard]] SteadyTime rough_now() const noexcept override { return clock_.now() - 4ms; }
  bool sleep_until(SteadyTime until, std::stop_token stop) override {
    return clock_.sleep_until(until, std::move(stop));
  }

 private:
  FakeClock& clock_;
};

TEST_F(RunTest, N4_a_wait_as_long_as_the_breaker_is_open_is_enough) {
  CoarseClock coarse(clock);
  auto breaker = std::make_shared<Breaker>(
      Breaker::Options{.consecutive_failures = 1, .open_for = fixed(1s)}, coarse, random);
  Flaky<int> fetch;
  fetch.throws(std::runtime_error("x"), 1).returns(1);
  EXPECT_EQ(Policy(coarse, random).wait(fixed(1s)).breaker(breaker).call(fetch), 1);
}

TEST_F(RunTest, N4_a_breaker_with_no_time_left_lets_a_probe_through) {
  CoarseClock coarse(clock);
  Breaker breaker({.open_for = fixed(30s)}, coarse, random);
  breaker.force_open();
  clock.advance(30s - 1ns);
  EXPECT_FALSE(breaker.try_acquire());
  clock.advance(1ns);
  EXPECT_EQ(breaker.retry_in(), 0s);
  EXPECT_TRUE(breaker.try_acquire());
}

}  // namespace
}  // namespace holdfast::retry
