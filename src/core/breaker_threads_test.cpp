#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/breaker.hpp>
#include <holdfast/budget.hpp>
#include <holdfast/testing.hpp>

namespace holdfast::breaker_threads_test {
namespace {

using namespace std::chrono_literals;

template <class F>
void on_threads(int count, F f) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&f, i] { f(i); });
}

TEST(BreakerThreads, never_lets_more_probes_through_than_it_should) {
  testing::FakeClock clock;
  testing::FakeRandom random;
  Breaker breaker({.consecutive_failures = 1, .open_for = retry::fixed(1s), .probes = 3}, clock,
                  random);
  for (int round = 0; round < 200; ++round) {
    breaker.force_open();
    clock.advance(1s);
    std::atomic<int> through = 0;
    std::vector<Breaker::Permit> held(4);
    on_threads(4, [&](int i) {
      held[static_cast<std::size_t>(i)] = breaker.try_acquire();
      if (held[static_cast<std::size_t>(i)]) ++through;
    });
    ASSERT_EQ(through, 3);
    on_threads(4, [&](int i) { held[static_cast<std::size_t>(i)].success(); });
    ASSERT_EQ(breaker.state(), Breaker::State::closed);
  }
}

TEST(BreakerThreads, every_change_is_announced_once_and_in_a_legal_order) {
  testing::FakeClock clock;
  testing::FakeRandom random;
  std::atomic<int> opened = 0;
  std::atomic<int> half_opened = 0;
  std::atomic<int> closed = 0;
  Breaker breaker({.consecutive_failures = 2,
                   .failure_rate = 0.3,
                   .window = 1s,
                   .least_calls = 5,
                   .open_for = retry::fixed(1ms),
                   .probes = 2,
                   .on_change =
                       [&](const Breaker::Change& change) {
                         if (change.to == Breaker::State::open) ++opened;
                         if (change.to == Breaker::State::half_open) ++half_opened;
                         if (change.to == Breaker::State::closed) ++closed;
                       }},
                  clock, random);
  on_threads(4, [&](int thread) {
    for (int i = 0; i < 5000; ++i) {
      auto permit = breaker.try_acquire();
      if (!permit) {
        clock.advance(1ms);
      } else if ((i + thread) % 7 == 0) {
        permit = {};
      } else if ((i * 31 + thread) % 3 == 0) {
        permit.failure();
      } else {
        permit.success();
      }
    }
  });
  // Each half-open follows an open and ends in open or closed; the last of each may be under way.
  EXPECT_GT(opened, 10);
  EXPECT_LE(half_opened, opened);
  EXPECT_LE(closed, half_opened);
}

TEST(RetryBudgetThreads, never_gives_out_more_than_it_has) {
  testing::FakeClock clock;
  RetryBudget budget({.ratio = 0, .per_second = 0, .capacity = 1000}, clock);
  std::atomic<int> spent = 0;
  on_threads(4, [&](int) {
    for (int i = 0; i < 1000; ++i)
      spent += budget.spend() ? 1 : 0;
  });
  EXPECT_EQ(spent, 1000);
}

}  // namespace
}  // namespace holdfast::breaker_threads_test
