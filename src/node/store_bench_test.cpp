#include "node/store_bench.hpp"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/apart.hpp"
#include "node/bench_place.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::node::store_bench {
namespace {

class StoreBench : public ::testing::Test {
 protected:
  // In a process of its own, as it wants it, and on a store that is empty.
  template <class Measure>
  Result<std::vector<double>> measured(Measure measure) {
    const auto place =
        OwnPlace::beside("sqlite:tasks.db", std::to_string(++places_), folder_.path().string());
    if (!place) return std::unexpected(place.error());
    options_.url = place->url();
    auto numbers = io::run_apart([&]() -> Result<std::vector<double>> {
      const auto found = measure(options_);
      if (!found) return std::unexpected(found.error());
      if constexpr (std::is_same_v<std::decay_t<decltype(*found)>, double>) {
        return std::vector{*found};
      } else if constexpr (std::is_same_v<std::decay_t<decltype(*found)>, Drained>) {
        return std::vector{found->per_s, found->peak_mb};
      } else {
        return std::vector{found->p50_ms, found->p99_ms, found->most_ms};
      }
    });
    if (const auto cleared = place->clear(); !cleared) return std::unexpected(cleared.error());
    return numbers;
  }

  static Options few() {
    Options options;
    options.tasks = 2000;
    options.batch = 100;
    options.rate = 500;
    options.steady = std::chrono::milliseconds(400);
    options.failing = 200;
    options.concurrency = 50;
    return options;
  }

  Options options_ = few();
  holdfast::testing::TemporaryFolder folder_;
  int places_ = 0;
};

TEST_F(StoreBench, measures_what_is_submitted) {
  const auto found = measured(enqueue);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_GT(found->at(0), 0);
}

TEST_F(StoreBench, measures_how_a_full_queue_is_worked_off) {
  const auto found = measured(drain);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_GT(found->at(0), 0);
  EXPECT_GT(found->at(1), 1);
}

TEST_F(StoreBench, measures_from_submit_to_done_and_to_dead) {
  for (const auto measure : {end_to_end, failing}) {
    const auto found = measured(measure);
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_GT(found->at(0), 0);
  }
}

TEST_F(StoreBench, measures_latency) {
  const auto found = measured(latency);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_GT(found->at(0), 0);
  EXPECT_GE(found->at(1), found->at(0));
  EXPECT_GE(found->at(2), found->at(1));
}

TEST_F(StoreBench, ends_in_time_with_what_was_done_until_then) {
  options_.tasks = 100'000'000;
  options_.most = std::chrono::milliseconds(500);
  const auto found = measured(end_to_end);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_GT(found->at(0), 0);
}

TEST_F(StoreBench, fails_where_there_is_no_store) {
  options_.url = "sqlite:" + (folder_ / "missing/tasks.db");
  EXPECT_FALSE(enqueue(options_));
  EXPECT_FALSE(drain(options_));
  EXPECT_FALSE(end_to_end(options_));
  EXPECT_FALSE(failing(options_));
  EXPECT_FALSE(latency(options_));
}

}  // namespace
}  // namespace holdfast::node::store_bench
