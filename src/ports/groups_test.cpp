#include "ports/groups.hpp"

#include <gtest/gtest.h>

namespace holdfast::ports::groups_test {
namespace {

using namespace std::chrono_literals;
using core::Event;

core::Transition ended_by(Event event, std::optional<FailureKind> kind) {
  core::Transition transition;
  transition.from = core::State::running;
  transition.to = core::State::dead;
  transition.event = event;
  if (kind) transition.failure.emplace().kind = *kind;
  return transition;
}

TEST(Groups, N1_tell_errors_timeouts_and_crashes_apart) {
  EXPECT_EQ(came_by(ended_by(Event::error, FailureKind::error)), FailureKind::error);
  EXPECT_EQ(came_by(ended_by(Event::error, FailureKind::timeout)), FailureKind::timeout);
  EXPECT_EQ(came_by(ended_by(Event::crash, FailureKind::crash)), FailureKind::crash);
  EXPECT_EQ(came_by(ended_by(Event::crash, {})), FailureKind::crash);
}

TEST(Groups, N1_go_by_the_failure_and_not_by_what_was_decided) {
  for (const Event event : {Event::give_up, Event::ambiguous, Event::close, Event::throttle}) {
    EXPECT_EQ(came_by(ended_by(event, FailureKind::error)), FailureKind::error);
    EXPECT_EQ(came_by(ended_by(event, FailureKind::timeout)), FailureKind::timeout);
    EXPECT_EQ(came_by(ended_by(event, FailureKind::crash)), FailureKind::crash);
  }
}

TEST(Groups, count_a_death_without_a_failure_as_an_error) {
  for (const Event event : {Event::expire, Event::breaker_open})
    EXPECT_EQ(came_by(ended_by(event, {})), FailureKind::error);
}

TEST(Groups, have_slots_of_ten_minutes_on_both_sides_of_1970) {
  EXPECT_EQ(slot_number(WallTime()), 0);
  EXPECT_EQ(slot_number(WallTime(10min - 1ns)), 0);
  EXPECT_EQ(slot_number(WallTime(10min)), 1);
  EXPECT_EQ(slot_number(WallTime(-1ns)), -1);
  EXPECT_EQ(slot_number(WallTime(-10min)), -1);
  EXPECT_EQ(slot_number(WallTime(-10min - 1ns)), -2);
  EXPECT_EQ(slot_begin(7), WallTime(70min));
  EXPECT_EQ(slot_begin(-2), WallTime(-20min));
  EXPECT_EQ(kKeptSlots, 144);
}

TEST(Groups, have_slots_up_to_the_ends_of_time) {
  EXPECT_EQ(slot_begin(slot_number(WallTime::min())), WallTime::min());
  EXPECT_LE(slot_begin(slot_number(WallTime::max())), WallTime::max());
  EXPECT_GT(slot_begin(slot_number(WallTime::max())), WallTime::max() - 10min);
}

TEST(Groups, tell_their_largest_parts_first) {
  std::vector<Group::Part> parts{{"b", "x", 1}, {"a", "y", 1}, {"z", "z", 9}, {"a", "x", 1}};
  sort_parts(parts);
  EXPECT_EQ(parts,
            (std::vector<Group::Part>{{"z", "z", 9}, {"a", "x", 1}, {"a", "y", 1}, {"b", "x", 1}}));
}

}  // namespace
}  // namespace holdfast::ports::groups_test
