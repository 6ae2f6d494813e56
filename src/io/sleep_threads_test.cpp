#include <atomic>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include <holdfast/retry.hpp>
#include <holdfast/testing.hpp>

// Sleeps of an hour that end only because another thread cuts them short, and a held clock.
namespace holdfast::retry::sleep_threads_test {
namespace {

using namespace std::chrono_literals;

TEST(SleepThreads, a_stop_request_wakes_a_sleeper) {
  std::stop_source source;
  std::jthread stopper([&] { source.request_stop(); });
  EXPECT_FALSE(system_clock().sleep_for(1h, source.get_token()));
}

TEST(SleepThreads, a_stop_request_ends_a_call_with_its_last_error) {
  std::stop_source source;
  std::stop_source other;
  const auto policy =
      Policy().stop(requested(other.get_token()) | requested(source.get_token())).wait(fixed(1h));
  History history;
  std::jthread stopper;
  EXPECT_THROW(policy.call(
                   [&] {
                     stopper = std::jthread([&] { source.request_stop(); });
                     throw std::out_of_range("the original");
                   },
                   history),
               std::out_of_range);
  EXPECT_EQ(history.gave_up(), GiveUp::stop_requested);
  EXPECT_EQ(history.attempts(), 1);
}

TEST(SleepThreads, a_stop_request_that_needs_more_than_itself_does_not_end_the_sleep) {
  testing::FakeClock clock(testing::FakeClock::Sleeps::held);
  std::stop_source source;
  const auto policy = Policy(clock, system_random())
                          .stop(requested(source.get_token()) & attempts(2))
                          .wait(fixed(1s));
  testing::Flaky<int> fetch;
  fetch.throws(std::runtime_error("no"));
  History history;
  std::jthread test([&] {
    clock.wait_for_sleepers(1);
    source.request_stop();
    clock.wait_for_sleepers(1);
    clock.advance(1s);
  });
  EXPECT_ANY_THROW(policy.call(fetch, history));
  EXPECT_EQ(history.attempts(), 2);
}

TEST(FakeClockThreads, holds_sleepers_until_it_is_advanced) {
  testing::FakeClock clock(testing::FakeClock::Sleeps::held);
  std::jthread sleeper([&] { EXPECT_TRUE(clock.sleep_for(10s)); });
  clock.wait_for_sleepers(1);
  clock.advance(9s);
  clock.wait_for_sleepers(1);
  clock.advance(1s);
}

TEST(FakeClockThreads, waits_for_the_next_sleep_and_not_for_one_that_is_over) {
  testing::FakeClock clock(testing::FakeClock::Sleeps::held);
  constexpr int kSleeps = 200;
  std::atomic<int> slept = 0;
  std::jthread sleeper([&](const std::stop_token& stop) {
    // One more than is advanced for: it is held until the end of the test.
    while (clock.sleep_for(1s, stop))
      ++slept;
  });
  for (int i = 0; i < kSleeps; ++i) {
    clock.wait_for_sleepers(1);
    clock.advance(1s);
  }
  clock.wait_for_sleepers(1);
  EXPECT_EQ(slept, kSleeps);
}

}  // namespace
}  // namespace holdfast::retry::sleep_threads_test
