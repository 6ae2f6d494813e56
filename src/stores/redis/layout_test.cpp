#include "stores/redis/layout.hpp"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <holdfast/testing/fake_clock.hpp>

#include "stores/redis/cursor.hpp"
#include "stores/redis/server_clock.hpp"

namespace holdfast::stores::redis::layout_test {
namespace {

using namespace std::chrono_literals;

// As a script completes it.
std::string with_number_and_queue(const ports::NewTask& task) {
  WordList words;
  append_new_record(words, task);
  std::string record(words[0]);
  append_8(record, 17);
  append_4(record, 3);
  record += words[1];
  return record;
}

TEST(RedisLayout, a_new_record_is_read_as_it_was_written) {
  ports::NewTask task;
  task.id = TaskId(Uuid({1, 2, 3}));
  task.type = "mail.send";
  task.payload = std::string("\0payload\xff", 9);
  task.priority = -100;
  task.created = WallTime(1s + 1us);
  task.due = WallTime::max();
  task.deadline = WallTime::min();
  task.key = "key";
  task.limits = {.attempts = -1, .timeout = 5ns};
  task.trace = "00-1-2-01";
  task.attempts = 2;
  task.carried = true;
  task.retry_on_failure = true;
  const auto kept = read_record(task.id, with_number_and_queue(task));
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->number, 17);
  EXPECT_EQ(kept->carried, core::Token{});
  EXPECT_EQ(kept->record.type, task.type);
  EXPECT_EQ(kept->record.payload, task.payload);
  EXPECT_EQ(kept->record.priority, -100);
  EXPECT_EQ(kept->record.task.created, task.created);
  EXPECT_EQ(kept->record.task.due, WallTime::max());
  EXPECT_EQ(kept->record.task.deadline, WallTime::min());
  EXPECT_EQ(kept->record.key, "key");
  EXPECT_EQ(kept->record.limits, task.limits);
  EXPECT_EQ(kept->record.trace, task.trace);
  EXPECT_EQ(kept->record.task.spent.attempts, 2);
  EXPECT_TRUE(kept->record.retry_on_failure);
}

// What is read from a server may be anything.
RC_GTEST_PROP(RedisLayout, bytes_that_are_not_ours_do_no_harm, (const std::string& bytes)) {
  (void)read_record(TaskId(), bytes);
  ports::TaskRecord record;
  (void)read_attempts(bytes, record);
  ports::NewTask task;
  task.payload = bytes;
  const std::string whole = with_number_and_queue(task);
  const auto kept = read_record(TaskId(), whole);
  RC_ASSERT(kept.has_value());
  RC_ASSERT(kept->record.payload == bytes);
  const auto cut = *rc::gen::inRange<std::size_t>(0, whole.size() - bytes.size());
  RC_ASSERT(!read_record(TaskId(), std::string_view(whole).substr(0, cut)));
}

RC_GTEST_PROP(RedisCursor, is_read_as_it_was_written_and_in_no_other_way,
              (std::int64_t priority, double score, std::int64_t number, std::string queue)) {
  const Cursor cursor{'w', priority, score, number, std::move(queue)};
  const std::string text = to_text(cursor);
  RC_ASSERT(parse_cursor(text, 'w') == cursor);
  RC_ASSERT(!parse_cursor(text, 's'));
  RC_ASSERT(!parse_cursor(std::string_view(text).substr(1), 'w'));
}

TEST(RedisServerClock, goes_on_from_what_it_was_told_last) {
  testing::FakeClock machine;
  ServerClock clock(machine);
  EXPECT_EQ(clock.wall_now(), machine.wall_now()) << "until it is told";
  const WallTime there = machine.wall_now() - 3h;
  clock.told(there);
  EXPECT_EQ(clock.wall_now(), there);
  machine.advance(5s);
  EXPECT_EQ(clock.wall_now(), there + 5s);
}

TEST(RedisServerClock, believes_the_answer_that_came_fastest) {
  testing::FakeClock machine;
  ServerClock clock(machine);
  const WallTime there = machine.wall_now();
  clock.told(there);
  machine.advance(1s);
  clock.told(there + 900ms);  // was on its way for longer
  EXPECT_EQ(clock.wall_now(), there + 1s);
}

TEST(RedisServerClock, follows_a_clock_that_was_set_back) {
  testing::FakeClock machine;
  ServerClock clock(machine);
  const WallTime there = machine.wall_now();
  clock.told(there);
  for (int second = 1; second <= 30; ++second) {
    machine.advance(1s);
    clock.told(there - 1h + second * 1s);
  }
  EXPECT_EQ(clock.wall_now(), there - 1h + 30s);
}

}  // namespace
}  // namespace holdfast::stores::redis::layout_test
