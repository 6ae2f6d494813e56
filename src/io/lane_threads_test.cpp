#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/testing.hpp>

#include "io/lane.hpp"
#include "io/loop.hpp"

namespace holdfast::io::lane_threads_test {
namespace {

struct Job {
  int number = 0;
  bool carried_out = false;
  std::size_t batch = 0;  // the size of the batch that it was in
};

void carry_out(std::span<Job> batch) {
  for (Job& job : batch) {
    job.carried_out = true;
    job.batch = batch.size();
  }
}

TEST(Lane, carries_out_on_a_thread_of_its_own_and_answers_on_the_loop) {
  Loop loop;
  std::thread::id carried_on;
  Lane<Job> lane(loop, "lane", [&](std::span<Job> batch) {
    carried_on = std::this_thread::get_id();
    carry_out(batch);
  });
  std::thread::id answered_on;
  loop.post([&] {
    lane.post({.number = 7}, [&](Job job) {
      EXPECT_EQ(job.number, 7);
      EXPECT_TRUE(job.carried_out);
      answered_on = std::this_thread::get_id();
      loop.stop();
    });
  });
  loop.run();
  EXPECT_EQ(answered_on, std::this_thread::get_id());
  EXPECT_NE(carried_on, std::this_thread::get_id());
}

TEST(Lane, carries_out_as_one_batch_what_has_gathered_meanwhile) {
  Loop loop;
  std::latch first_begun(1);
  std::latch others_posted(1);
  std::vector<std::size_t> sizes;
  Lane<Job> lane(loop, "lane", [&](std::span<Job> batch) {
    sizes.push_back(batch.size());
    if (sizes.size() == 1) {
      first_begun.count_down();
      others_posted.wait();
    }
    carry_out(batch);
  });
  std::vector<int> answered;
  const auto done = [&](Job job) {
    answered.push_back(job.number);
    if (job.number == 100) loop.stop();
  };
  lane.post({.number = 0}, done);
  first_begun.wait();
  for (int n = 1; n <= 100; ++n)
    lane.post({.number = n}, done);
  others_posted.count_down();
  loop.run();
  EXPECT_EQ(sizes, (std::vector<std::size_t>{1, 100}));
  ASSERT_EQ(answered.size(), 101U);
  for (int n = 0; n <= 100; ++n)
    EXPECT_EQ(answered[static_cast<std::size_t>(n)], n);
}

TEST(Lane, tells_its_watcher_how_large_batches_were) {
  Loop loop;
  Lane<Job> lane(loop, "lane", carry_out);
  std::size_t told = 0;
  lane.watch([&](std::size_t size) { told += size; });
  int answered = 0;
  const auto done = [&](Job) {
    if (++answered == 10) loop.stop();
  };
  for (int n = 0; n < 10; ++n)
    lane.post({.number = n}, done);
  loop.run();
  EXPECT_EQ(told, 10U);
}

TEST(Lane, a_batch_that_throws_comes_back_not_carried_out_and_is_logged) {
  testing::LogCapture log;
  Loop loop;
  bool broken = true;
  Lane<Job> lane(
      loop, "writer",
      [&](std::span<Job> batch) {
        if (std::exchange(broken, false)) throw std::runtime_error("no room");
        carry_out(batch);
      },
      Logger(log));
  std::vector<bool> carried_out;
  lane.post({.number = 1}, [&](Job first) {
    carried_out.push_back(first.carried_out);
    lane.post({.number = 2}, [&](Job second) {
      carried_out.push_back(second.carried_out);
      loop.stop();
    });
  });
  loop.run();
  EXPECT_EQ(carried_out, (std::vector{false, true}));
  const auto lines = log.of("lane.threw");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].level, Level::error);
  EXPECT_EQ(lines[0].fields.at("lane"), "writer");
  EXPECT_EQ(lines[0].fields.at("jobs"), "1");
  EXPECT_EQ(lines[0].fields.at("error"), "no room");
}

TEST(Lane, survives_a_throw_of_any_type) {
  testing::LogCapture log;
  Loop loop;
  Lane<Job> lane(loop, "lane", [](std::span<Job>) { throw 1; }, Logger(log));
  lane.post({}, [&](Job job) {
    EXPECT_FALSE(job.carried_out);
    loop.stop();
  });
  loop.run();
  EXPECT_EQ(log.of("lane.threw").at(0).fields.at("error"), "not a std::exception");
}

TEST(Lane, finishes_what_was_posted_before_it_ends) {
  constexpr int kJobs = 1000;
  Loop loop;
  int carried = 0;
  int answered = 0;
  {
    Lane<Job> lane(loop, "lane", [&](std::span<Job> batch) {
      carried += static_cast<int>(batch.size());
      carry_out(batch);
    });
    for (int n = 0; n < kJobs; ++n)
      lane.post({.number = n}, [&](Job job) { answered += job.carried_out ? 1 : 0; });
  }
  EXPECT_EQ(carried, kJobs);
  loop.post([&] { loop.stop(); });
  loop.run();
  EXPECT_EQ(answered, kJobs);
}

TEST(Lane, destroys_answers_that_find_the_loop_over) {
  Loop loop;
  loop.stop();
  loop.run();
  const auto kept = std::make_shared<int>();
  {
    Lane<Job> lane(loop, "lane", carry_out);
    lane.post({}, [kept](Job) { FAIL(); });
  }
  EXPECT_EQ(kept.use_count(), 1);
}

TEST(Lane, takes_jobs_from_many_threads) {
  constexpr int kThreads = 4;
  constexpr int kJobs = 2000;
  Loop loop;
  Lane<Job> lane(loop, "lane", carry_out);
  int left = kThreads * kJobs;
  std::vector<int> next(kThreads);
  std::vector<std::jthread> posters;
  for (std::size_t thread = 0; thread < kThreads; ++thread) {
    posters.emplace_back([&, thread] {
      for (int n = 0; n < kJobs; ++n) {
        lane.post({.number = n}, [&, thread](Job job) {
          EXPECT_TRUE(job.carried_out);
          EXPECT_EQ(job.number, next[thread]++);
          if (--left == 0) loop.stop();
        });
      }
    });
  }
  loop.run();
  EXPECT_EQ(left, 0);
}

}  // namespace
}  // namespace holdfast::io::lane_threads_test
