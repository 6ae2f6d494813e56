#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "io/fifo_testing.hpp"
#include "io/witness_file.hpp"

namespace holdfast::io::witness_file_threads_test {
namespace {

TEST(WitnessFileThreads, never_gives_one_place_to_two) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 20'000;
  const testing::TemporaryFolder folder;
  const std::string path = folder / "witness";
  {
    // Fewer places than threads, so that some find none.
    auto witness = std::move(
        WitnessFile::open({.path = path, .store_is_new = true, .places = kThreads - 1}).value());
    std::array<std::atomic<bool>, kThreads - 1> taken{};
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&] {
        for (int n = 0; n < kRounds; ++n) {
          const auto place = witness->begin({});
          if (place != WitnessFile::kNoPlace) {
            EXPECT_FALSE(taken[place].exchange(true));
            taken[place] = false;
          }
          witness->end(place, {});
        }
      });
    }
    threads.emplace_back([&] { witness->forget_last_life(); });
  }
  const auto next = WitnessFile::open({.path = path, .places = kThreads - 1}).value()->last_life();
  ASSERT_TRUE(next.has_value());
  EXPECT_TRUE(next->empty());
}

}  // namespace
}  // namespace holdfast::io::witness_file_threads_test
