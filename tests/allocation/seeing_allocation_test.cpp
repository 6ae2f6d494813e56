// What the engine tells of each task is counted and noted without an allocation.
#include <gtest/gtest.h>

#include <holdfast/testing/fake_clock.hpp>

#include "allocation/counting_new.hpp"
#include "seeing/seeing_testing.hpp"
#include "seeing/watch.hpp"

namespace holdfast::seeing::seeing_allocation_test {
namespace {

using namespace std::chrono_literals;

TEST(SeeingAllocation, a_task_from_its_submission_to_its_end_makes_none) {
  holdfast::testing::FakeClock clock;
  Watch watch(clock, {.keep_events = 8});
  const ports::NewTask task =
      testing::new_task("a.type.with.a.long.name", "a queue with a long name");
  const ports::TaskRecord record = testing::record(task.type, task.queue);
  const core::Transition retried = testing::transition(
      core::State::retrying, core::Event::error,
      Failure{.message = "an error that is longer than what fits into a string"});
  const core::Transition done = testing::transition(core::State::succeeded, core::Event::success);
  const auto all_of_it = [&] {
    watch.submitted(TaskId(), task);
    watch.started(record, testing::kNow);
    watch.moved({.task = record, .transition = retried, .ran = 1s});
    watch.moved({.task = record, .transition = done, .ran = 1s});
    watch.stored(7);
    watch.answered("POST", "/v1/tasks", 201);
  };
  // The ring must have gone round, and each of its places have held the longest text.
  for (int i = 0; i < 100; ++i) {
    all_of_it();
    watch.submitted(TaskId(), task);
  }
  EXPECT_EQ(allocations_of(all_of_it), 0);
}

TEST(SeeingAllocation, a_sample_of_the_chronicle_makes_none) {
  Chronicle chronicle(SteadyTime(), testing::kNow);
  const auto an_hour = [&] {
    for (Duration after = 10s; after <= 1h; after += 10s)
      chronicle.add({.now = SteadyTime() + after, .wall_now = testing::kNow + after}, Depths());
  };
  EXPECT_EQ(allocations_of(an_hour), 0);
}

}  // namespace
}  // namespace holdfast::seeing::seeing_allocation_test
