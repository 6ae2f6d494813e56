#include "node/bench_course.hpp"

#include <gtest/gtest.h>

#include <holdfast/clock.hpp>

#include "io/forked.hpp"

namespace holdfast::node::store_bench::bench_course_test {
namespace {

constexpr auto kNobodyLooks = [](double) {};

TEST(BenchCourse, counts_what_another_process_does) {
  Course course({.count = 5});
  auto other = io::Forked::start([&](int) {
    course.arrive();
    if (!course.wait_for_begin()) return;
    while (const auto share = course.next(2)) {
      course.answered(share->count);
      for (std::size_t i = 0; i < share->count; ++i)
        course.ended_one();
    }
  });
  ASSERT_TRUE(other) << other.error().text();
  ASSERT_TRUE(course.wait_for(1));
  course.begin();
  EXPECT_TRUE(course.wait_until_ended(kNobodyLooks));
  EXPECT_TRUE(course.wait_until_answered());
  EXPECT_GT(course.ended_per_s(), 0);
  EXPECT_GE(course.answered_per_s(), course.ended_per_s());
}

TEST(BenchCourse, gives_each_task_to_one_of_them) {
  Course course({.count = 5});
  course.begin();
  const auto first = course.next(3);
  const auto second = course.next(3);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->first, 0u);
  EXPECT_EQ(first->count, 3u);
  EXPECT_EQ(second->first, 3u);
  EXPECT_EQ(second->count, 2u);
  EXPECT_FALSE(course.next(3));
}

TEST(BenchCourse, the_first_error_of_any_process_ends_it) {
  Course course({.count = 5});
  auto other = io::Forked::start([&](int) {
    course.give_up({ErrorCode::unavailable, "ask", "the server is away"});
    course.give_up({ErrorCode::unavailable, "ask", "it is still away"});
  });
  ASSERT_TRUE(other) << other.error().text();
  EXPECT_FALSE(course.wait_for(1));
  EXPECT_FALSE(course.wait_for_begin());
  course.begin();
  const auto ended = course.wait_until_ended(kNobodyLooks);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, "the server is away");
}

TEST(BenchCourse, ends_in_time_with_what_was_done_until_then) {
  Course course({.count = 5, .most = std::chrono::milliseconds(1)});
  course.begin();
  course.ended_one();
  EXPECT_TRUE(course.wait_until_ended(kNobodyLooks));
  EXPECT_FALSE(course.next(1));
  EXPECT_GT(course.ended_per_s(), 0);
}

TEST(BenchCourse, nothing_done_in_time_is_an_error) {
  Course course({.count = 5, .most = std::chrono::milliseconds(1)});
  course.begin();
  EXPECT_FALSE(course.wait_until_ended(kNobodyLooks));
  EXPECT_FALSE(course.wait_until_answered());
}

}  // namespace
}  // namespace holdfast::node::store_bench::bench_course_test
