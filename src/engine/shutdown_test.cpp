#include "engine/shutdown.hpp"

#include <gtest/gtest.h>

#include "support/engine_world.hpp"

namespace holdfast::engine::shutdown_test {
namespace {

using core::State;
using testing::TestHandler;
using testing::World;
using namespace std::chrono_literals;

struct ShutdownWorld : World {
  std::shared_ptr<TestHandler> handler = std::make_shared<TestHandler>();
  std::optional<ShutdownReport> report;

  void shut_down() {
    engine->shut_down([this](ShutdownReport told) { report = told; });
    loop.settle();
  }
};

TEST(Shutdown, of_an_idle_engine_is_done_at_once) {
  ShutdownWorld world;
  world.run(world.handler);
  world.shut_down();
  ASSERT_TRUE(world.report);
  EXPECT_EQ(world.report->finished + world.report->handed_back + world.report->abandoned, 0U);
}

TEST(Shutdown, hands_back_at_once_what_has_not_begun_and_lets_the_rest_finish) {  // T3
  ShutdownWorld world;
  world.run(world.handler);
  const TaskId running = world.submit();
  const TaskId waiting = world.submit();
  ASSERT_TRUE(world.handler->runs[0]->begin());
  world.shut_down();
  EXPECT_EQ(world.state(waiting), State::pending);
  EXPECT_EQ(world.record(waiting).task.spent, core::Spent{});
  EXPECT_FALSE(world.handler->runs[1]->begin());
  EXPECT_FALSE(world.report);

  world.loop.pass(20s);
  EXPECT_FALSE(world.handler->runs[0]->stop().stop_requested());
  world.handler->runs[0]->finish(core::Success{"in time"});
  world.loop.settle();
  ASSERT_TRUE(world.report);
  EXPECT_EQ(world.report->finished, 1U);
  EXPECT_EQ(world.report->handed_back, 1U);
  EXPECT_EQ(world.report->abandoned, 0U);
  EXPECT_EQ(world.report->unsettled, 0U);
  EXPECT_EQ(world.state(running), State::succeeded);
}

TEST(Shutdown, accepts_and_claims_nothing_more) {  // T3
  ShutdownWorld world;
  world.run(world.handler, {}, 1);
  world.submit();
  const TaskId waiting = world.submit();
  ASSERT_TRUE(world.handler->runs[0]->begin());
  world.shut_down();
  std::optional<Error> refused;
  world.engine->submit({}, [&](auto answer) { refused = answer.error(); });
  EXPECT_FALSE(refused);  // never from within the call
  world.loop.settle();
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, ErrorCode::unavailable);
  EXPECT_EQ(refused->message, "shutting down");
  world.handler->runs[0]->finish(core::Success{});
  world.loop.pass(5s);
  EXPECT_EQ(world.state(waiting), State::pending);
}

TEST(Shutdown, asks_to_stop_and_hands_back_what_is_left_after_the_grace) {  // T3
  ShutdownWorld world;
  world.run(world.handler, {.timeout = 1h});
  const TaskId id = world.submit();
  const auto run = world.handler->runs[0];
  ASSERT_TRUE(run->begin());
  world.shut_down();
  world.loop.pass(30s - 1ms);
  EXPECT_FALSE(run->stop().stop_requested());
  world.loop.pass(1ms);
  EXPECT_TRUE(run->stop().stop_requested());
  run->finish(Failure{.message = "interrupted"});
  world.loop.settle();
  ASSERT_TRUE(world.report);
  EXPECT_EQ(world.report->handed_back, 1U);
  EXPECT_EQ(world.report->abandoned, 0U);
  EXPECT_EQ(world.state(id), State::pending);
  EXPECT_EQ(world.record(id).task.spent, core::Spent{});
}

TEST(Shutdown, abandons_handlers_that_do_not_stop_but_not_their_tasks) {  // T3
  ShutdownWorld world;
  world.run(world.handler, {.timeout = 1h});
  const TaskId id = world.submit();
  ASSERT_TRUE(world.handler->runs[0]->begin());
  world.shut_down();
  world.loop.pass(35s);
  ASSERT_TRUE(world.report);
  EXPECT_EQ(world.report->handed_back, 1U);
  EXPECT_EQ(world.report->abandoned, 1U);
  EXPECT_EQ(world.state(id), State::pending);
  EXPECT_EQ(world.record(id).task.spent, core::Spent{});
}

TEST(Shutdown, a_second_signal_ends_the_grace) {
  ShutdownWorld world;
  world.run(world.handler, {.timeout = 1h});
  world.submit();
  ASSERT_TRUE(world.handler->runs[0]->begin());
  world.shut_down();
  world.loop.pass(1s);
  world.engine->hurry();
  EXPECT_TRUE(world.handler->runs[0]->stop().stop_requested());
  world.loop.pass(5s);
  ASSERT_TRUE(world.report);
  EXPECT_EQ(world.report->abandoned, 1U);
}

TEST(Shutdown, hands_back_what_a_claim_under_way_brings) {
  ShutdownWorld world;
  world.run(world.handler);
  world.lane.takes = 10ms;
  const TaskId id = world.submit();
  world.shut_down();
  EXPECT_FALSE(world.report);
  world.loop.pass(1s);
  ASSERT_TRUE(world.report);
  EXPECT_EQ(world.handler->started, 0U);
  EXPECT_EQ(world.state(id == TaskId() ? world.store.tasks().begin()->first : id), State::pending);
}

TEST(Shutdown, waits_for_a_store_that_is_away_for_a_while) {  // T3, T10
  ShutdownWorld world;
  world.run(world.handler);
  const TaskId id = world.submit();
  world.lane.away = Error{ErrorCode::unavailable, "store", "away"};
  world.shut_down();
  world.loop.pass(20s);
  EXPECT_FALSE(world.report);
  world.lane.away.reset();
  world.loop.pass(5s);
  ASSERT_TRUE(world.report);
  EXPECT_EQ(world.report->handed_back, 1U);
  EXPECT_EQ(world.state(id), State::pending);
}

TEST(Shutdown, gives_up_on_a_store_that_stays_away_and_says_what_it_was_not_told) {
  ShutdownWorld world;
  world.run(world.handler);
  world.submit();
  world.lane.away = Error{ErrorCode::unavailable, "store", "away"};
  world.shut_down();
  world.loop.pass(34s);
  EXPECT_FALSE(world.report);
  world.loop.pass(10s);
  ASSERT_TRUE(world.report);
  EXPECT_EQ(world.report->unsettled, 1U);
}

TEST(Shutdown, may_be_asked_for_twice_and_before_the_start) {
  ShutdownWorld world;
  int told = 0;
  world.engine->shut_down([&](auto) { ++told; });
  world.engine->shut_down([&](auto) { ++told; });
  world.loop.settle();
  EXPECT_EQ(told, 2);
  world.engine->shut_down([&](auto) { ++told; });
  world.loop.settle();
  EXPECT_EQ(told, 3);
}

TEST(Shutdown, the_engine_may_be_destroyed_by_who_is_told) {
  ShutdownWorld world;
  world.run(world.handler);
  world.engine->shut_down([&](auto) { world.engine.reset(); });
  world.loop.pass(1min);
  EXPECT_FALSE(world.engine);
}

}  // namespace
}  // namespace holdfast::engine::shutdown_test
