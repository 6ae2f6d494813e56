#include "io/loop.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

namespace holdfast::io::loop_test {
namespace {

using namespace std::chrono_literals;

TEST(Loop, runs_what_is_posted_in_order) {
  Loop loop;
  std::vector<int> ran;
  for (int n = 0; n < 100; ++n)
    loop.post([&, n] { ran.push_back(n); });
  loop.post([&] { loop.stop(); });
  loop.run();
  ASSERT_EQ(ran.size(), 100U);
  for (int n = 0; n < 100; ++n)
    EXPECT_EQ(ran[static_cast<std::size_t>(n)], n);
}

TEST(Loop, never_runs_work_from_within_post) {
  Loop loop;
  std::vector<std::string> seen;
  loop.post([&] {
    loop.post([&] {
      seen.emplace_back("inner");
      loop.stop();
    });
    seen.emplace_back("outer");
  });
  loop.run();
  EXPECT_EQ(seen, (std::vector<std::string>{"outer", "inner"}));
}

TEST(Loop, lets_others_run_between_work_that_posts_itself_again) {
  Loop loop;
  std::move_only_function<void()> again = [&] { loop.post([&] { again(); }); };
  again();
  const auto timer = loop.after(0s, [&] { loop.stop(); });
  loop.run();
}

TEST(Loop, begins_nothing_after_stop_and_destroys_what_is_left) {
  Loop loop;
  const auto left = std::make_shared<int>();
  bool ran = false;
  loop.post([&] { loop.stop(); });
  loop.post([&, left] { ran = true; });
  loop.run();
  EXPECT_FALSE(ran);
  EXPECT_EQ(left.use_count(), 1);
  loop.post([&, left] { ran = true; });
  EXPECT_EQ(left.use_count(), 1);
}

TEST(Loop, destroys_work_that_it_never_came_to_run) {
  const auto left = std::make_shared<int>();
  {
    Loop loop;
    loop.post([left] {});
    const auto timer = loop.after(1h, [left] {});
  }
  EXPECT_EQ(left.use_count(), 1);
}

TEST(Loop, destroyed_work_may_post) {
  Loop loop;
  struct Last {
    Loop& loop;
    ~Last() {
      loop.post([] { FAIL(); });
    }
  };
  loop.post([&] { loop.stop(); });
  loop.post([last = std::make_shared<Last>(loop)] {});
  loop.run();
}

TEST(Loop, stopped_before_it_runs_returns_at_once) {
  Loop loop;
  loop.post([] { FAIL(); });
  loop.stop();
  loop.run();
}

TEST(Loop, what_work_throws_leaves_run) {
  Loop loop;
  loop.post([] { throw std::runtime_error("a bug"); });
  loop.post([] { FAIL(); });
  EXPECT_THROW(loop.run(), std::runtime_error);
}

// Both are long due, and far apart: however long the second line takes, its timer comes first.
TEST(Loop, timers_run_in_the_order_of_their_time) {
  Loop loop;
  std::vector<int> ran;
  const auto second = loop.after(-1h, [&] {
    ran.push_back(2);
    loop.stop();
  });
  const auto first = loop.after(-2h, [&] { ran.push_back(1); });
  loop.run();
  EXPECT_EQ(ran, (std::vector{1, 2}));
}

TEST(Loop, a_timer_that_is_destroyed_does_not_run) {
  Loop loop;
  auto canceled = loop.after(0s, [] { FAIL(); });
  canceled.reset();
  const auto last = loop.after(1ms, [&] { loop.stop(); });
  loop.run();
}

// Both are due at once: Asio has queued the second when the first destroys it.
TEST(Loop, a_timer_that_is_destroyed_when_already_due_does_not_run) {
  Loop loop;
  std::unique_ptr<ports::Loop::Timer> second;
  const auto first = loop.after(-1s, [&] { second.reset(); });
  second = loop.after(0s, [] { FAIL(); });
  const auto last = loop.after(1ms, [&] { loop.stop(); });
  loop.run();
}

TEST(Loop, a_timer_may_be_destroyed_by_its_own_work) {
  Loop loop;
  std::unique_ptr<ports::Loop::Timer> timer;
  const auto kept = std::make_shared<int>(1);
  timer = loop.after(0s, [&, kept] {
    timer.reset();
    EXPECT_EQ(*kept, 1);
    loop.stop();
  });
  loop.run();
  EXPECT_EQ(kept.use_count(), 1);
}

TEST(Loop, a_wait_without_end_does_not_wrap_around) {
  Loop loop;
  const auto never = loop.after(Duration::max(), [] { FAIL(); });
  const auto soon = loop.after(1ms, [&] { loop.stop(); });
  loop.run();
}

TEST(Loop, shares_its_thread_with_what_speaks_asio) {
  Loop loop;
  boost::asio::post(loop.context(), [&] { loop.post([&] { loop.stop(); }); });
  loop.run();
}

}  // namespace
}  // namespace holdfast::io::loop_test
