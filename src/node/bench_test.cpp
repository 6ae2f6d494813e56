#include "node/bench.hpp"

#include <csignal>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <holdfast/clock.hpp>

#include "io/apart.hpp"

namespace holdfast::node::bench::bench_test {
namespace {

namespace fs = std::filesystem;

class BenchTest : public ::testing::Test {
 protected:
  BenchTest() {
    std::string name = (fs::temp_directory_path() / "holdfast-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "cannot make " << name;
    folder_ = name;
    options_.url = "sqlite:" + (folder_ / "tasks.db").string();
    options_.progress = [this](double part) { told_.push_back(part); };
  }
  ~BenchTest() override { fs::remove_all(folder_); }

  fs::path folder_;
  std::vector<double> told_;
  Options options_{.tasks = 2000,
                   .batch = 100,
                   .rate = 500,
                   .steady = std::chrono::milliseconds(400),
                   .failing = 200,
                   .waiting = 500};
};

TEST_F(BenchTest, measures_throughput) {
  const auto measured = throughput(options_);
  ASSERT_TRUE(measured) << measured.error().text();
  EXPECT_GT(measured->done_per_s, 0);
  EXPECT_GE(measured->enqueued_per_s, measured->done_per_s);
}

TEST_F(BenchTest, measures_latency_and_tells_of_progress_from_the_beginning) {
  const auto measured = latency(options_);
  ASSERT_TRUE(measured) << measured.error().text();
  EXPECT_GT(measured->p50_ms, 0);
  EXPECT_GE(measured->p99_ms, measured->p50_ms);
  EXPECT_GE(measured->most_ms, measured->p99_ms);
  ASSERT_GE(told_.size(), 2u);
  EXPECT_LT(told_.front(), 0.9);  // while tasks were still being submitted
}

TEST_F(BenchTest, measures_failures) {
  const auto measured = failures(options_);
  ASSERT_TRUE(measured) << measured.error().text();
  EXPECT_GT(*measured, 0);
}

TEST_F(BenchTest, measures_an_idle_worker) {
  const auto measured = idle_mb(options_);
  ASSERT_TRUE(measured) << measured.error().text();
  EXPECT_GT(*measured, 1);
}

TEST_F(BenchTest, measures_the_start_and_then_works_for_a_while) {
  ASSERT_TRUE(fill(options_));
  const auto measured = start(options_);
  ASSERT_TRUE(measured) << measured.error().text();
  EXPECT_GT(measured->seconds, 0);
  EXPECT_GT(measured->mb, 1);
  // All of them are done: a second start would have nothing to wait for.
  options_.waiting = 0;
  EXPECT_TRUE(start(options_));
}

TEST_F(BenchTest, waits_for_nothing_where_there_is_nothing) {
  options_.waiting = 0;
  EXPECT_TRUE(start(options_));
}

TEST_F(BenchTest, fails_where_there_is_no_store) {
  options_.url = "sqlite:" + (folder_ / "missing" / "tasks.db").string();
  EXPECT_FALSE(throughput(options_));
  EXPECT_FALSE(latency(options_));
  EXPECT_FALSE(failures(options_));
  EXPECT_FALSE(idle_mb(options_));
  EXPECT_FALSE(fill(options_));
  EXPECT_FALSE(start(options_));
}

// A disk that fails once a file has grown so far.
void limit_files(rlim_t bytes) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{.rlim_cur = bytes, .rlim_max = bytes};
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

TEST_F(BenchTest, fails_when_the_store_breaks_while_it_is_filled) {
  options_.tasks = 20'000;
  const auto failed = io::run_apart([&]() -> Result<std::vector<double>> {
    limit_files(1 << 20);
    const auto measured = throughput(options_);
    if (!measured) return std::unexpected(measured.error());
    return std::vector<double>();
  });
  ASSERT_FALSE(failed);
  // Whoever reads the error must know which file it is about.
  EXPECT_THAT(failed.error().message,
              ::testing::HasSubstr((folder_ / "tasks.db").string() + ": disk I/O error"));
}

// As soon as this process has its log open, it can write to it no more.
void break_log(const std::filesystem::path& log) {
  std::thread([log] {
    while (true) {
      for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        if (std::filesystem::read_symlink(entry, gone) != log) continue;
        ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), std::stoi(entry.path().filename()));
        return;
      }
      system_clock().sleep_for(std::chrono::milliseconds(1));
    }
  }).detach();
}

TEST_F(BenchTest, fails_when_the_store_breaks_while_its_tasks_are_run) {
  options_.waiting = 20'000;
  options_.payload_bytes = 0;
  ASSERT_TRUE(io::run_apart([&]() -> Result<std::vector<double>> {
    const auto filled = fill(options_);
    if (!filled) return std::unexpected(filled.error());
    return std::vector<double>();
  }));
  const auto failed = io::run_apart([&]() -> Result<std::vector<double>> {
    break_log(folder_ / "tasks.db-wal");
    const auto measured = start(options_);
    if (!measured) return std::unexpected(measured.error());
    return std::vector<double>();
  });
  ASSERT_FALSE(failed);
}

}  // namespace
}  // namespace holdfast::node::bench::bench_test
