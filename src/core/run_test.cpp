#include <exception>
#include <expected>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/retry.hpp>
#include <holdfast/testing.hpp>

// The corners of a run: late wake-ups, refusals, and predicates and errors of unusual types.
namespace holdfast::retry::run_test {
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

TEST_F(RunTest, describes_an_error_that_is_an_empty_exception_pointer) {
  const auto fails = []() -> std::expected<int, std::exception_ptr> {
    return std::unexpected(std::exception_ptr());
  };
  History history;
  EXPECT_FALSE(policy.call(fails, history));
  EXPECT_EQ(history.failures().front().failure.message, "no exception");
}

TEST_F(RunTest, begins_no_attempt_after_the_deadline_though_it_wakes_late) {
  // The hook stands for whatever makes a sleep end late: a slow hook, a machine that was suspended.
  const auto slow =
      policy.stop(elapsed(5s)).before_sleep([&](const BeforeSleep&) { clock.advance(10s); });
  Flaky<int> fetch;
  fetch.throws(std::runtime_error("the original"), 1).returns(1);
  History history;
  EXPECT_THROW(slow.call(fetch, history), std::runtime_error);
  EXPECT_EQ(fetch.calls(), 1);
  EXPECT_EQ(history.attempts(), 1);
  EXPECT_EQ(history.gave_up(), GiveUp::time);
}

TEST_F(RunTest, a_wait_beyond_all_time_is_slept_by_the_fake_clock) {
  Flaky<int> fetch;
  fetch.throws(std::runtime_error("x"), 1).returns(1);
  EXPECT_EQ(policy.wait(fixed(Duration::max())).call(fetch), 1);
  EXPECT_EQ(clock.now(), SteadyTime::max());
}

TEST_F(RunTest, N4_the_history_of_a_refused_call_says_why) {
  auto breaker = std::make_shared<Breaker>(Breaker::Options{}, clock, random);
  breaker->force_open();
  History history;
  EXPECT_THROW(policy.breaker(breaker).call([] { return 1; }, history), BreakerOpen);
  EXPECT_EQ(history.attempts(), 0);
  EXPECT_FALSE(history.succeeded());
  EXPECT_EQ(history.gave_up(), GiveUp::breaker_open);
}

// Requests a stop in the sleep that is the `at`th.
class StoppingClock final : public Clock {
 public:
  StoppingClock(FakeClock& clock, int at) : clock_(clock), at_(at) {}

  [[nodiscard]] SteadyTime now() const noexcept override { return clock_.now(); }
  [[nodiscard]] WallTime wall_now() const noexcept override { return clock_.wall_now(); }
  bool sleep_until(SteadyTime until, std::stop_token stop) override {
    if (--at_ == 0) source.request_stop();
    return clock_.sleep_until(until, std::move(stop));
  }

  std::stop_source source;

 private:
  FakeClock& clock_;
  int at_;
};

TEST_F(RunTest, N4_a_stop_while_waiting_for_a_breaker_counts_the_attempts_that_were_made) {
  StoppingClock stopping(clock, 2);  // the first sleep is the policy's, the second the breaker's
  auto breaker =
      std::make_shared<Breaker>(Breaker::Options{.consecutive_failures = 1}, clock, random);
  int told = 0;
  GiveUp reason{};
  const auto waiting = Policy(stopping, random)
                           .stop(requested(stopping.source.get_token()))
                           .wait(fixed(1s))
                           .breaker(breaker, WhenOpen::wait)
                           .on_give_up([&](const GaveUp& gave_up) {
                             told = gave_up.attempts;
                             reason = gave_up.reason;
                           });
  History history;
  EXPECT_THROW(waiting.call([]() -> int { throw std::runtime_error("x"); }, history),
               std::runtime_error);
  EXPECT_EQ(reason, GiveUp::stop_requested);
  EXPECT_EQ(told, 1);
  EXPECT_EQ(history.attempts(), 1);
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
}  // namespace holdfast::retry::run_test
