#include "engine/timeouts.hpp"

#include <gtest/gtest.h>

#include "support/engine_world.hpp"

namespace holdfast::engine::timeouts_test {
namespace {

using core::State;
using testing::TestHandler;
using testing::World;
using namespace std::chrono_literals;

struct TimeoutsWorld : World {
  std::shared_ptr<TestHandler> handler = std::make_shared<TestHandler>();
};

TEST(Timeouts, an_attempt_that_lasts_too_long_is_stopped_and_has_failed) {  // T4
  TimeoutsWorld world;
  world.run(world.handler);
  const TaskId id = world.submit();
  const auto run = world.handler->runs[0];
  ASSERT_TRUE(run->begin());
  EXPECT_EQ(run->end(), world.clock.wall_now() + 30s);
  world.loop.pass(30s - 1ms);
  EXPECT_FALSE(run->stop().stop_requested());
  world.loop.pass(1ms);
  EXPECT_TRUE(run->stop().stop_requested());
  EXPECT_FALSE(run->heartbeat());
  EXPECT_EQ(world.state(id), State::running);  // until its handler has ended

  run->finish(core::Success{"too late"});
  world.loop.settle();
  EXPECT_EQ(world.state(id), State::retrying);
  EXPECT_EQ(world.record(id).task.last_failure->kind, FailureKind::timeout);
  EXPECT_EQ(world.record(id).task.last_failure->message, "timed out after 30s");
  EXPECT_EQ(world.record(id).task.spent.attempts, 1);
}

TEST(Timeouts, a_handler_that_does_not_stop_keeps_its_place_but_not_its_task) {  // T4
  TimeoutsWorld world;
  world.run(world.handler, {.attempts = 1}, 1);
  const TaskId id = world.submit();
  const TaskId next = world.submit();
  const auto run = world.handler->runs[0];
  ASSERT_TRUE(run->begin());
  world.loop.pass(35s);
  EXPECT_EQ(world.state(id), State::dead);
  ASSERT_EQ(world.log.of("task.stuck").size(), 1U);
  EXPECT_EQ(world.log.of("task.stuck")[0].fields.at("task"), id.text());
  world.loop.pass(10min);
  EXPECT_EQ(world.state(next), State::pending);
  EXPECT_EQ(world.log.of("task.stuck").size(), 1U);

  run->finish(core::Success{});
  world.loop.settle();
  EXPECT_EQ(world.handler->runs.size(), 2U);
  EXPECT_EQ(world.state(id), State::dead);
}

TEST(Timeouts, waiting_in_the_backlog_does_not_count) {
  TimeoutsWorld world;
  world.run(world.handler);
  world.submit();
  world.loop.pass(10min);
  EXPECT_TRUE(world.handler->runs[0]->begin());
  world.loop.pass(29s);
  EXPECT_FALSE(world.handler->runs[0]->stop().stop_requested());
  world.loop.pass(1s);
  EXPECT_TRUE(world.handler->runs[0]->stop().stop_requested());
}

TEST(Timeouts, a_heartbeat_gives_the_whole_timeout_again) {
  TimeoutsWorld world;
  world.run(world.handler);
  world.submit();
  const auto run = world.handler->runs[0];
  ASSERT_TRUE(run->begin());
  for (int i = 0; i < 5; ++i) {
    world.loop.pass(29s);
    ASSERT_TRUE(run->heartbeat());
    EXPECT_EQ(run->end(), world.clock.wall_now() + 30s);
  }
  world.loop.pass(30s);
  EXPECT_TRUE(run->stop().stop_requested());
}

TEST(Timeouts, no_heartbeat_leads_past_the_deadline) {
  TimeoutsWorld world;
  world.run(world.handler);
  const WallTime deadline = world.clock.wall_now() + 40s;
  const TaskId id = world.submit({.deadline = deadline});
  const auto run = world.handler->runs[0];
  ASSERT_TRUE(run->begin());
  world.loop.pass(20s);
  ASSERT_TRUE(run->heartbeat());
  EXPECT_EQ(run->end(), deadline);
  world.loop.pass(20s);
  EXPECT_TRUE(run->stop().stop_requested());
  run->finish(core::HandedBack{});
  world.loop.settle();
  EXPECT_EQ(world.state(id), State::dead);
  EXPECT_EQ(world.record(id).task.dead_reason, core::DeadReason::deadline);
  EXPECT_EQ(world.record(id).task.last_failure->message, "timed out at the task's deadline");
}

TEST(Timeouts, a_task_may_have_its_own) {
  TimeoutsWorld world;
  world.run(world.handler);
  world.submit();
  world.submit({.limits = {.timeout = 100ms}});
  for (const auto& run : world.handler->runs)
    ASSERT_TRUE(run->begin());
  world.loop.pass(100ms);
  EXPECT_FALSE(world.handler->runs[0]->stop().stop_requested());
  EXPECT_TRUE(world.handler->runs[1]->stop().stop_requested());
}

TEST(Timeouts, a_type_without_a_timeout_runs_as_long_as_it_likes) {
  TimeoutsWorld world;
  world.run(world.handler, {.timeout = 0s});
  world.submit();
  const auto run = world.handler->runs[0];
  ASSERT_TRUE(run->begin());
  EXPECT_EQ(run->end(), WallTime::max());
  world.loop.pass(10min);
  EXPECT_FALSE(run->stop().stop_requested());
}

TEST(Timeouts, a_wall_clock_that_is_set_times_nothing_out) {
  TimeoutsWorld world;
  world.run(world.handler);
  world.submit();
  const auto run = world.handler->runs[0];
  ASSERT_TRUE(run->begin());
  world.clock.jump_wall(24h);
  world.loop.pass(29s);
  EXPECT_FALSE(run->stop().stop_requested());
}

TEST(Timeouts, what_has_finished_in_time_counts_though_the_loop_sees_it_late) {
  TimeoutsWorld world;
  world.run(world.handler);
  const TaskId id = world.submit();
  const auto run = world.handler->runs[0];
  ASSERT_TRUE(run->begin());
  run->finish(core::Success{"in time"});
  world.clock.advance(31s);
  world.loop.settle();
  EXPECT_EQ(world.record(id).result, "in time");
}

}  // namespace
}  // namespace holdfast::engine::timeouts_test
