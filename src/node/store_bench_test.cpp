#include "node/store_bench.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "io/apart.hpp"
#include "node/bench_place.hpp"
#include "support/redis_server.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::node::store_bench::store_bench_test {
namespace {

// On an embedded store, and on Redis.
class StoreBench : public ::testing::TestWithParam<const char*> {
 protected:
  StoreBench() {
    if (std::string_view(GetParam()) == "sqlite") return;
    server_ = std::make_unique<holdfast::testing::RedisServer>();
    url_ = server_->url();
  }

  // In a process of its own, as it wants it, and on a store that is empty.
  template <class Measure>
  Result<std::vector<double>> measured(Measure measure) {
    const auto place = OwnPlace::beside(url_, std::to_string(++places_), folder_.path().string());
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
  std::string url_ = "sqlite:tasks.db";
  std::unique_ptr<holdfast::testing::RedisServer> server_;
  holdfast::testing::TemporaryFolder folder_;
  int places_ = 0;
};

TEST_P(StoreBench, measures_what_is_submitted) {
  const auto found = measured(enqueue);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_GT(found->at(0), 0);
}

TEST_P(StoreBench, measures_how_a_full_queue_is_worked_off) {
  const auto found = measured(drain);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_GT(found->at(0), 0);
  EXPECT_GT(found->at(1), 1);
}

TEST_P(StoreBench, measures_from_submit_to_done_and_to_dead) {
  for (const auto measure : {end_to_end, failing}) {
    const auto found = measured(measure);
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_GT(found->at(0), 0);
  }
}

TEST_P(StoreBench, measures_latency) {
  const auto found = measured(latency);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_GT(found->at(0), 0);
  EXPECT_GE(found->at(1), found->at(0));
  EXPECT_GE(found->at(2), found->at(1));
}

TEST_P(StoreBench, ends_in_time_with_what_was_done_until_then) {
  options_.tasks = 100'000'000;
  options_.most = std::chrono::milliseconds(500);
  const auto found = measured(end_to_end);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_GT(found->at(0), 0);
}

TEST_P(StoreBench, leaves_nothing_on_a_server_that_others_use_too) {
  if (!server_) return;
  EXPECT_EQ(server_->ask({"SET", "mine", "1"}).text, "OK");
  options_.workers = 2;
  const auto found = measured(drain);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(server_->ask({"DBSIZE"}).text, "1");
}

INSTANTIATE_TEST_SUITE_P(On, StoreBench, ::testing::Values("sqlite", "redis"),
                         [](const auto& info) { return std::string(info.param); });

TEST(StoreBenchPlain, fails_where_there_is_no_store) {
  const holdfast::testing::TemporaryFolder folder;
  Options options;
  options.url = "sqlite:" + (folder / "missing/tasks.db");
  EXPECT_FALSE(enqueue(options));
  EXPECT_FALSE(drain(options));
  EXPECT_FALSE(end_to_end(options));
  EXPECT_FALSE(failing(options));
  EXPECT_FALSE(latency(options));
}

}  // namespace
}  // namespace holdfast::node::store_bench::store_bench_test
