#include "node/task_words.hpp"

#include <gtest/gtest.h>

namespace holdfast::node::task_words_test {
namespace {

using namespace std::chrono_literals;

const WallTime kNow{1000h};

TEST(TaskWords, a_submission_is_due_at_once_after_a_delay_or_at_a_time) {
  EXPECT_EQ(to_new_task({.type = "t"}, kNow)->due, kNow);
  EXPECT_EQ(to_new_task({.type = "t", .delay = 5s}, kNow)->due, kNow + 5s);
  EXPECT_EQ(to_new_task({.type = "t", .due = kNow + 7s}, kNow)->due, kNow + 7s);
}

TEST(TaskWords, what_cannot_be_is_refused_by_the_name_of_its_field) {
  const auto message = [](Submission submission) {
    const auto task = to_new_task(std::move(submission), kNow);
    if (task) return std::string("accepted");
    EXPECT_EQ(task.error().code, ErrorCode::invalid_argument);
    return task.error().message;
  };
  EXPECT_EQ(message({}), "type is empty: it says which handler runs the task");
  EXPECT_EQ(message({.type = "t", .queue = ""}), "queue is empty: leave it out for \"default\"");
  EXPECT_EQ(message({.type = "t", .priority = 101}), "priority is 101: it goes from -100 to 100");
  EXPECT_EQ(message({.type = "t", .delay = -1s}), "delay is negative");
  EXPECT_EQ(message({.type = "t", .delay = 1s, .due = kNow}),
            "delay and due are both given: one of them says when");
  EXPECT_EQ(message({.type = "t", .attempts = 0}), "attempts is 0: at least 1 is made");
  EXPECT_EQ(message({.type = "t", .timeout = -1s}), "timeout is negative: zero is none at all");
  EXPECT_EQ(message({.type = "t", .trace = "00-12"}),
            "trace is \"00-12\": it is no W3C traceparent");
}

TEST(TaskWords, a_group_is_found_by_the_text_it_is_shown_with) {
  ports::TaskRecord record;
  record.task.state = TaskState::dead;
  record.fingerprint = fingerprint("connection refused");
  const auto list = to_list({.group = to_info(record).group});
  ASSERT_TRUE(list);
  EXPECT_EQ(list->filter.group, record.fingerprint);

  for (const char* bad : {"x", "12345678901234567", "123456789012345g"}) {
    ASSERT_FALSE(to_list({.group = bad}));
    EXPECT_EQ(to_list({.group = bad}).error().code, ErrorCode::invalid_argument);
  }
}

TEST(TaskWords, only_what_has_failed_belongs_to_a_group) {
  ports::TaskRecord record;
  record.task.state = TaskState::succeeded;
  EXPECT_EQ(to_info(record).group, "");
}

}  // namespace
}  // namespace holdfast::node::task_words_test
