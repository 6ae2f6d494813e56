#include "engine/settler.hpp"

#include <gtest/gtest.h>

#include "support/engine_world.hpp"

namespace holdfast::engine::settler_test {
namespace {

using core::Event;
using core::State;
using testing::succeeding;
using testing::TestHandler;
using testing::World;
using namespace std::chrono_literals;

template <class Verb>
bool asks(const ports::Request& request) {
  return std::holds_alternative<ports::Asked<Verb>>(request);
}

TEST(Settler, believes_a_handler_that_knows_a_failure_to_be_hopeless) {  // R4
  World world;
  auto handler = std::make_shared<TestHandler>();
  world.run(handler);
  const TaskId begun = world.submit();
  const TaskId not_begun = world.submit();
  const TaskId other = world.submit();
  ASSERT_TRUE(handler->runs[0]->begin());
  ASSERT_TRUE(handler->runs[2]->begin());
  handler->runs[0]->give_up({.message = "connection refused"});
  handler->runs[1]->give_up({.message = "connection refused"});
  handler->runs[2]->finish(Failure{.message = "connection refused"});
  world.loop.settle();
  EXPECT_EQ(world.state(begun), State::failed);
  EXPECT_EQ(world.record(begun).task.spent.attempts, 1);
  EXPECT_EQ(world.state(not_begun), State::failed);
  EXPECT_EQ(world.state(other), State::retrying);
}

TEST(Settler, asks_nobody_who_gave_up_after_its_time_was_over) {
  World world;
  auto handler = std::make_shared<TestHandler>();
  world.run(handler, {.timeout = 1s});
  const TaskId id = world.submit();
  ASSERT_TRUE(handler->runs[0]->begin());
  world.loop.pass(2s);
  handler->runs[0]->give_up({.message = "connection refused"});
  world.loop.settle();
  EXPECT_EQ(world.state(id), State::retrying);
  EXPECT_EQ(world.record(id).task.last_failure->kind, FailureKind::timeout);
}

TEST(Settler, keeps_outcomes_while_the_store_is_away_and_tells_them_later) {  // T10
  for (const ErrorCode code : {ErrorCode::unavailable, ErrorCode::exhausted}) {
    World world;
    auto handler = std::make_shared<TestHandler>();
    world.run(handler);
    const TaskId first = world.submit();
    const TaskId second = world.submit();
    for (const auto& run : handler->runs)
      ASSERT_TRUE(run->begin());
    world.lane.away = Error{code, "store", "away"};
    handler->runs[0]->finish(core::Success{"1"});
    world.loop.pass(10s);
    handler->runs[1]->finish(core::Success{"2"});
    world.loop.pass(10s);
    EXPECT_EQ(world.engine->stats().claimed, 2U);
    world.lane.away.reset();
    world.loop.pass(5s);
    EXPECT_EQ(world.record(first).result, "1");
    EXPECT_EQ(world.record(second).result, "2");
    EXPECT_EQ(world.engine->stats().count(Event::success), 2U);
    EXPECT_EQ(world.engine->stats().claimed, 0U);
  }
}

TEST(Settler, leaves_the_store_alone_for_longer_and_longer) {  // T10
  World world;
  auto handler = std::make_shared<TestHandler>();
  world.run(handler);
  world.submit();
  ASSERT_TRUE(handler->runs[0]->begin());
  int changes = 0;
  world.lane.seen = [&](const ports::Request& request) { changes += asks<ports::Change>(request); };
  world.lane.away = Error{ErrorCode::unavailable, "store", "away"};
  handler->runs[0]->finish(core::Success{});
  world.loop.pass(1min);
  EXPECT_GE(changes, 10);
  EXPECT_LE(changes, 30);
}

TEST(Settler, what_the_store_can_never_take_keeps_nothing_else_from_being_settled) {
  World world;
  auto handler = std::make_shared<TestHandler>();
  world.run(handler);
  const TaskId good = world.submit();
  const TaskId bad = world.submit();
  for (const auto& run : handler->runs)
    ASSERT_TRUE(run->begin());
  world.lane.fault = [&](const ports::Request& request) -> std::optional<Error> {
    const auto* change = std::get_if<ports::Asked<ports::Change>>(&request);
    if (!change) return {};
    for (const auto& one : change->verb.changes)
      if (one.result == "too big") return Error{ErrorCode::internal, "store", "too big a blob"};
    return {};
  };
  handler->runs[0]->finish(core::Success{"fine"});
  handler->runs[1]->finish(core::Success{"too big"});
  world.loop.settle();
  EXPECT_EQ(world.record(good).result, "fine");
  EXPECT_EQ(world.state(bad), State::retrying);
  EXPECT_EQ(world.record(bad).task.last_failure->message,
            "how it ended could not be stored: too big a blob");
  EXPECT_EQ(world.log.of("task.not_kept").size(), 1U);
}

TEST(Settler, what_can_never_be_settled_is_left_to_its_lease) {
  World world;
  auto handler = std::make_shared<TestHandler>();
  world.run(handler);
  const TaskId id = world.submit();
  ASSERT_TRUE(handler->runs[0]->begin());
  bool refuses = true;
  world.lane.fault = [&](const ports::Request& request) -> std::optional<Error> {
    if (!refuses || !asks<ports::Change>(request)) return {};
    return Error{ErrorCode::internal, "store", "no"};
  };
  handler->runs[0]->finish(core::Success{});
  world.loop.settle();
  EXPECT_EQ(world.engine->stats().claimed, 0U);
  EXPECT_EQ(world.state(id), State::running);
  refuses = false;
  world.loop.pass(2min);
  EXPECT_EQ(world.log.of("task.not_kept").size(), 2U);
  EXPECT_NE(world.record(id).task.token, handler->runs[0]->task().task.token);
}

TEST(Judge, a_wait_that_throws_is_replaced_by_the_usual_one) {
  World world;
  world.renew();
  const auto throws = retry::custom(
      [](const retry::WaitInput&) -> Duration { throw std::runtime_error("bad idea"); }, "bad");
  world.engine->handle(
      "t", {.handler = testing::failing({.message = "no"}), .policy = {.wait = throws}});
  world.engine->serve({.name = "q"});
  world.engine->start();
  world.loop.settle();
  const TaskId id = world.submit();
  EXPECT_EQ(world.state(id), State::retrying);
  EXPECT_EQ(world.record(id).task.due, world.clock.wall_now() + 1s);
  ASSERT_EQ(world.log.of("task.wait_threw").size(), 1U);
  EXPECT_EQ(world.log.of("task.wait_threw")[0].fields.at("error"), "bad idea");
}

TEST(Settler, a_settlement_that_happened_though_the_store_could_not_say_so_happens_once) {
  World world;
  auto handler = std::make_shared<TestHandler>();
  world.run(handler);
  const TaskId id = world.submit();
  ASSERT_TRUE(handler->runs[0]->begin());
  int faults = 1;
  world.lane.carries_out_faults = true;
  world.lane.fault = [&](const ports::Request& request) -> std::optional<Error> {
    if (!asks<ports::Change>(request) || faults-- <= 0) return {};
    return Error{ErrorCode::unavailable, "store", "the answer got lost"};
  };
  handler->runs[0]->finish(Failure{.message = "no"});
  world.loop.pass(500ms);
  EXPECT_EQ(world.record(id).task.spent.attempts, 1);
  EXPECT_EQ(world.engine->stats().claimed, 0U);
  world.loop.pass(1s);
  EXPECT_EQ(handler->started, 2U);
}

TEST(Settler, claims_again_when_the_store_is_back) {  // T10
  World world;
  auto handler = succeeding();
  world.run(handler);
  world.lane.fault = [](const ports::Request& request) -> std::optional<Error> {
    if (!asks<ports::Claim>(request)) return {};
    return Error{ErrorCode::unavailable, "store", "away"};
  };
  const TaskId id = world.submit();
  world.loop.pass(20s);
  EXPECT_EQ(world.state(id), State::pending);
  world.lane.fault = {};
  world.loop.pass(5s);
  EXPECT_EQ(world.state(id), State::succeeded);
}

TEST(Settler, errors_of_a_submit_come_to_the_caller_at_once) {  // T10
  World world;
  world.run(succeeding());
  world.lane.away = Error{ErrorCode::exhausted, "store", "the disk is full"};
  std::optional<Error> error;
  world.engine->submit({}, [&](auto answer) { error = answer.error(); });
  world.loop.settle();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, ErrorCode::exhausted);
}

TEST(Settler, a_corrupt_store_ends_the_engines_work) {
  World world;
  int told = 0;
  world.options.on_broken = [&](const Error&) { ++told; };
  world.renew();
  auto handler = std::make_shared<TestHandler>();
  world.run(handler);
  const TaskId id = world.submit();
  ASSERT_TRUE(handler->runs[0]->begin());
  world.lane.away = Error{ErrorCode::corrupt, "store", "not what we wrote"};
  handler->runs[0]->finish(core::Success{});
  world.loop.pass(10s);
  ASSERT_TRUE(world.engine->stats().broken);
  EXPECT_EQ(told, 1);
  ASSERT_EQ(world.log.of("store.corrupt").size(), 1U);
  EXPECT_EQ(world.log.of("store.corrupt")[0].level, Level::critical);
  const std::size_t batches = world.lane.batches;
  world.loop.pass(10min);
  EXPECT_EQ(world.lane.batches, batches);

  std::optional<Error> refused;
  world.engine->submit({}, [&](auto answer) { refused = answer.error(); });
  std::optional<ShutdownReport> report;
  world.engine->shut_down([&](auto answer) { report = answer; });
  world.loop.settle();
  EXPECT_EQ(refused->code, ErrorCode::corrupt);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->unsettled, 1U);
  EXPECT_EQ(world.state(id), State::running);
}

}  // namespace
}  // namespace holdfast::engine::settler_test
