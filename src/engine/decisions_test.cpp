#include "engine/decisions.hpp"

#include <gtest/gtest.h>

#include "support/engine_world.hpp"

namespace holdfast::engine::decisions_test {
namespace {

using core::State;
using testing::failing;
using testing::TestHandler;
using testing::World;
using namespace std::chrono_literals;

struct DecisionsWorld : World {
  std::optional<Result<core::Transition>> answer;

  Engine::Decided keep() {
    return [this](Result<core::Transition> told) { answer = std::move(told); };
  }
};

TEST(Decisions, a_pending_task_is_canceled_and_never_runs) {
  DecisionsWorld world;
  auto handler = std::make_shared<TestHandler>();
  world.run(handler);
  const TaskId id = world.submit({.due = world.clock.wall_now() + 1s});
  world.engine->cancel(id, world.keep());
  EXPECT_FALSE(world.answer);  // never from within the call
  world.loop.pass(2s);
  ASSERT_TRUE(world.answer);
  EXPECT_EQ(world.answer->value().to, State::canceled);
  EXPECT_EQ(handler->started, 0U);
}

TEST(Decisions, a_running_task_that_is_canceled_is_asked_to_stop_and_counts_no_more) {
  DecisionsWorld world;
  auto handler = std::make_shared<TestHandler>();
  world.run(handler);
  const TaskId id = world.submit();
  const auto run = handler->runs[0];
  ASSERT_TRUE(run->begin());
  world.engine->cancel(id, world.keep());
  world.loop.settle();
  EXPECT_TRUE(run->stop().stop_requested());
  run->finish(core::Success{"too late"});
  world.loop.settle();
  EXPECT_EQ(world.state(id), State::canceled);
  EXPECT_EQ(world.engine->stats().claimed, 0U);
  EXPECT_TRUE(world.log.of("task.settle_refused").empty());
}

TEST(Decisions, what_waits_in_a_backlog_when_it_is_canceled_does_not_begin) {
  DecisionsWorld world;
  auto handler = std::make_shared<TestHandler>();
  world.run(handler);
  const TaskId id = world.submit();
  world.engine->cancel(id, world.keep());
  world.loop.pass(1min);
  EXPECT_FALSE(handler->runs[0]->begin());
  EXPECT_TRUE(world.log.of("task.stuck").empty());
  handler->runs.clear();
  world.loop.settle();
  EXPECT_EQ(world.engine->stats().claimed, 0U);
  EXPECT_EQ(world.state(id), State::canceled);
}

TEST(Decisions, a_dead_letter_that_is_replayed_runs_again_at_once) {  // T5
  DecisionsWorld world;
  auto handler = failing({.message = "no"});
  world.run(handler, {.attempts = 1});
  const TaskId id = world.submit();
  ASSERT_EQ(world.state(id), State::dead);
  world.engine->replay(id, {}, world.keep());
  world.loop.settle();
  EXPECT_TRUE(world.answer->has_value());
  EXPECT_EQ(handler->started, 2U);
  EXPECT_EQ(world.record(id).task.spent.replays, 1);
}

TEST(Decisions, a_replay_without_reset_goes_by_the_own_limit_of_a_task) {
  DecisionsWorld world;
  world.run(failing({.message = "no"}), {.attempts = 4});
  const TaskId id = world.submit({.limits = {.attempts = 1}});
  ASSERT_EQ(world.state(id), State::dead);
  world.engine->replay(id, {.reset = false}, world.keep());
  world.loop.settle();
  ASSERT_TRUE(world.answer->has_value());
  EXPECT_EQ((*world.answer)->spent.attempts, 0) << "one attempt is left of its one";
}

TEST(Decisions, a_dead_letter_that_is_discarded_is_canceled) {
  DecisionsWorld world;
  world.run(failing({.message = "no"}), {.attempts = 1});
  const TaskId id = world.submit();
  world.engine->discard(id, world.keep());
  world.loop.settle();
  EXPECT_EQ(world.state(id), State::canceled);
}

TEST(Decisions, what_the_rules_refuse_is_told) {
  DecisionsWorld world;
  world.run(testing::succeeding());
  const TaskId id = world.submit();
  world.engine->cancel(id, world.keep());
  world.loop.settle();
  EXPECT_EQ(world.answer->error().code, ErrorCode::conflict);
}

TEST(Decisions, a_task_that_does_not_exist_is_not_found) {
  DecisionsWorld world;
  world.run(testing::succeeding());
  world.engine->replay(TaskId(), {}, world.keep());
  world.loop.settle();
  EXPECT_EQ(world.answer->error().code, ErrorCode::not_found);
}

TEST(Decisions, a_task_that_moves_on_meanwhile_is_looked_at_again) {
  DecisionsWorld world;
  auto handler = std::make_shared<TestHandler>();
  world.run(handler, {.wait = retry::fixed(1h)});
  const TaskId id = world.submit();
  ASSERT_TRUE(handler->runs[0]->begin());
  world.engine->cancel(id, world.keep());
  // Comes between reading the task and canceling it.
  handler->runs[0]->finish(Failure{.message = "no"});
  world.loop.settle();
  EXPECT_TRUE(world.answer->has_value());
  EXPECT_EQ(world.state(id), State::canceled);
}

TEST(Decisions, an_error_of_the_store_is_told_at_once) {  // T10
  DecisionsWorld world;
  world.run(testing::succeeding());
  world.lane.away = Error{ErrorCode::unavailable, "store", "away"};
  world.engine->cancel(TaskId(), world.keep());
  world.loop.settle();
  EXPECT_EQ(world.answer->error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace holdfast::engine::decisions_test
