#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "io/loop.hpp"

namespace holdfast::io::loop_threads_test {
namespace {

constexpr int kThreads = 4;
constexpr int kPosts = 5000;

TEST(LoopThreads, runs_all_on_one_thread_and_in_the_order_of_each_poster) {
  Loop loop;
  std::array<int, kThreads> next{};
  int left = kThreads * kPosts;
  const auto own = std::this_thread::get_id();
  std::vector<std::jthread> posters;
  for (std::size_t thread = 0; thread < kThreads; ++thread) {
    posters.emplace_back([&, thread] {
      for (int n = 0; n < kPosts; ++n) {
        loop.post([&, thread, n] {
          EXPECT_EQ(std::this_thread::get_id(), own);
          EXPECT_EQ(next[thread]++, n);
          if (--left == 0) loop.stop();
        });
      }
    });
  }
  loop.run();
  EXPECT_EQ(left, 0);
}

TEST(LoopThreads, wakes_from_idleness_for_every_post) {
  Loop loop;
  std::jthread runner([&] { loop.run(); });
  for (int n = 0; n < 1000; ++n) {
    std::atomic<bool> ran = false;
    loop.post([&] {
      ran = true;
      ran.notify_one();
    });
    ran.wait(false);
  }
  loop.stop();
}

TEST(LoopThreads, posts_that_meet_its_end_are_run_or_destroyed) {
  const auto counted = std::make_shared<int>();
  {
    Loop loop;
    std::vector<std::jthread> posters;
    for (int thread = 0; thread < kThreads; ++thread) {
      posters.emplace_back([&] {
        for (int n = 0; n < kPosts; ++n)
          loop.post([counted] {});
      });
    }
    posters.emplace_back([&] { loop.stop(); });
    loop.run();
  }
  EXPECT_EQ(counted.use_count(), 1);
}

}  // namespace
}  // namespace holdfast::io::loop_threads_test
