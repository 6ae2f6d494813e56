#include "seeing/event_log.hpp"

#include <gtest/gtest.h>

#include "seeing/seeing_testing.hpp"

namespace holdfast::seeing::event_log_test {
namespace {

using core::Event;
using core::State;
using testing::kNow;
using testing::new_task;
using testing::record;
using testing::transition;
using namespace std::chrono_literals;

TEST(EventLog, keeps_the_latest_under_their_numbers) {
  EventLog log(3, "life");
  EXPECT_EQ(log.last(), 0U);
  EXPECT_EQ(log.first(), 1U);
  for (int i = 1; i <= 5; ++i)
    log.submitted(TaskId(), new_task("t" + std::to_string(i)));
  EXPECT_EQ(log.first(), 3U);
  EXPECT_EQ(log.last(), 5U);
  EXPECT_EQ(log.at(3).type, "t3");
  EXPECT_EQ(log.at(5).type, "t5");
}

TEST(EventLog, ids_are_of_one_life) {
  EventLog log(3, "life");
  EXPECT_EQ(log.id_of(42), "life.42");
  EXPECT_EQ(log.number_of("life.42"), 42U);
  for (const char* id : {"", "42", "life", "life.", "life.x", "life.4x", "other.42", "lifee.4"})
    EXPECT_FALSE(log.number_of(id)) << id;
}

TEST(EventLog, notes_how_far_an_operation_is) {
  EventLog log(10, "life");
  int news = 0;
  log.on_news = [&] { ++news; };
  log.operation(R"({"id":"o"})", kNow);
  EXPECT_EQ(news, 1);
  EXPECT_EQ(log.at(1).kind, Happening::Kind::operation);
  EXPECT_EQ(log.at(1).json, R"({"id":"o"})");
  EXPECT_EQ(log.at(1).time, kNow);
}

TEST(EventLog, says_what_became_of_a_task) {
  EventLog log(10, "life");
  ports::TaskRecord task = record();
  task.waited_as = State::retrying;
  task.task.spent = {.attempts = 1, .crashes = 1};
  log.started(task, kNow);
  EXPECT_EQ(log.at(1).from, State::retrying);
  EXPECT_EQ(log.at(1).to, State::running);
  EXPECT_EQ(log.at(1).event, "claim");
  EXPECT_EQ(log.at(1).attempt, 3);

  core::Transition retried =
      transition(State::retrying, Event::error, Failure{.message = std::string(5000, 'x')});
  retried.wait = 5s;
  retried.due = kNow + 5s;
  log.moved({.task = task, .transition = retried});
  EXPECT_EQ(log.at(2).attempt, 3);
  EXPECT_EQ(log.at(2).time, kNow) << "when it happened, not when it is due";
  EXPECT_EQ(log.at(2).error.size(), EventLog::kMostErrorBytes);
  log.moved({.task = task, .transition = transition(State::succeeded, Event::success)});
  EXPECT_EQ(log.at(3).error, "") << "places are used again, what was in them is not";
}

}  // namespace
}  // namespace holdfast::seeing::event_log_test
