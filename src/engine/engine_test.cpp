#include "engine/engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/engine_world.hpp"

namespace holdfast::engine::engine_test {
namespace {

using core::Event;
using core::State;
using testing::failing;
using testing::succeeding;
using testing::TestHandler;
using testing::World;
using namespace std::chrono_literals;

TEST(Engine, runs_what_is_submitted_and_keeps_its_result) {
  World world;
  world.run(succeeding());
  const TaskId id = world.submit({.payload = "p"});
  EXPECT_EQ(world.state(id), State::succeeded);
  EXPECT_EQ(world.record(id).result, "done");
  EXPECT_EQ(world.engine->stats().count(Event::success), 1U);
  EXPECT_EQ(world.engine->stats().claimed, 0U);
}

TEST(Engine, makes_ids_and_times_that_are_not_given) {
  World world;
  world.run(std::make_shared<TestHandler>());
  const TaskId id = world.submit();
  EXPECT_EQ(id.uuid().version(), 7);
  EXPECT_EQ(world.record(id).task.created, world.clock.wall_now());
}

TEST(Engine, gives_a_task_without_a_deadline_that_of_its_type) {
  World world;
  world.engine->handle("due", {.handler = std::make_shared<TestHandler>(), .deadline = 1h});
  world.run(std::make_shared<TestHandler>());
  const WallTime now = world.clock.wall_now();
  const auto deadline = [&](ports::NewTask task) {
    return world.record(world.submit(std::move(task))).task.deadline;
  };
  EXPECT_EQ(deadline({.type = "due"}), now + 1h);
  EXPECT_EQ(deadline({.type = "due", .due = now + 2min}), now + 1h);
  EXPECT_EQ(deadline({.type = "due", .deadline = now + 5h}), now + 5h);
  EXPECT_EQ(deadline({.type = "t"}), std::nullopt);
  EXPECT_EQ(deadline({.type = "of nobody"}), std::nullopt);
}

TEST(Engine, knows_the_queue_of_a_type_whose_tasks_name_none) {
  World world;
  world.engine->handle("mail", {.handler = std::make_shared<TestHandler>(), .queue = "mails"});
  world.run(std::make_shared<TestHandler>());
  EXPECT_EQ(world.engine->queue_of("mail"), "mails");
  EXPECT_EQ(world.engine->queue_of("t"), "default");
  EXPECT_EQ(world.engine->queue_of("of nobody"), "default");
}

TEST(Engine, says_to_which_trace_an_attempt_belongs) {
  World world;
  world.run(failing({.message = "no"}), {.attempts = 2, .wait = retry::fixed(1s)});
  world.submit({.trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"});
  world.loop.pass(1s);
  for (const char* event : {"task.retry", "task.dead"}) {
    ASSERT_EQ(world.log.of(event).size(), 1U);
    EXPECT_EQ(world.log.of(event)[0].fields.at("trace"), "4bf92f3577b34da6a3ce929d0e0e4736");
  }
  world.submit({});
  EXPECT_FALSE(world.log.of("task.retry").at(1).fields.contains("trace"));
}

TEST(Engine, tells_the_handler_id_token_and_number_of_the_attempt) {  // T2, N6
  World world;
  auto handler = std::make_shared<TestHandler>();
  world.run(handler, {.wait = retry::fixed(1s)});
  const TaskId id = world.submit({.payload = "p"});
  ASSERT_EQ(handler->runs.size(), 1U);
  EXPECT_EQ(handler->runs[0]->task().id, id);
  EXPECT_EQ(handler->runs[0]->task().payload, "p");
  EXPECT_EQ(handler->runs[0]->task().task.token.value, 1U);
  EXPECT_EQ(handler->runs[0]->number(), 1);
  ASSERT_TRUE(handler->runs[0]->begin());
  handler->runs[0]->finish(Failure{.message = "no"});
  world.loop.pass(1s);
  ASSERT_EQ(handler->runs.size(), 2U);
  EXPECT_EQ(handler->runs[1]->task().task.token.value, 2U);
  EXPECT_EQ(handler->runs[1]->number(), 2);
}

TEST(Engine, retries_three_times_with_growing_waits_and_then_keeps_a_dead_letter) {  // T1, T5, R5
  World world;
  auto handler = failing({.message = "no connection to 10.0.0.1:80"});
  world.run(handler);
  const TaskId id = world.submit({.payload = "precious"});
  EXPECT_EQ(handler->started, 1U);
  for (const auto& [wait, runs] : {std::pair{1s, 2U}, {2s, 3U}, {4s, 4U}}) {
    EXPECT_EQ(world.state(id), State::retrying);
    world.loop.pass(wait - 1ms);
    EXPECT_EQ(handler->started, runs - 1);
    world.loop.pass(1ms);
    EXPECT_EQ(handler->started, runs);
  }
  EXPECT_EQ(world.state(id), State::dead);
  EXPECT_EQ(world.record(id).task.last_failure->message, "no connection to 10.0.0.1:80");
  EXPECT_EQ(world.record(id).fingerprint, fingerprint("no connection to 10.0.0.2:80"));
  world.clock.advance(24h * 365);
  world.loop.settle();
  EXPECT_EQ(world.state(id), State::dead);  // nothing empties it by itself
  EXPECT_EQ(world.record(id).payload, "precious");

  ASSERT_EQ(world.log.of("task.retry").size(), 3U);
  EXPECT_EQ(world.log.of("task.retry")[1].fields.at("wait"), "2");
  EXPECT_EQ(world.log.of("task.retry")[1].fields.at("attempt"), "2");
  EXPECT_EQ(world.log.of("task.retry")[1].fields.at("task"), id.text());
  ASSERT_FALSE(world.log.of("task.retry").empty());
  EXPECT_EQ(world.log.of("task.retry")[0].fields.at("outcome"), "error");
  ASSERT_EQ(world.log.of("task.dead").size(), 1U);
  EXPECT_EQ(world.log.of("task.dead")[0].level, Level::warning);
  EXPECT_EQ(world.log.of("task.dead")[0].fields.at("task"), id.text());
  EXPECT_EQ(world.log.of("task.dead")[0].fields.at("reason"), "out of attempts");
  EXPECT_EQ(world.log.of("task.dead")[0].fields.at("attempts"), "4");
}

TEST(Engine, gives_up_at_once_where_the_classifier_says_so) {  // C1.1
  World world;
  auto classifier = std::make_shared<Classifier>(Classifier::make(presets::ethereum()).value());
  world.engine->handle(
      "t", {.handler = failing({.message = "insufficient funds"}), .classifier = classifier});
  world.engine->serve({.name = "q"});
  world.engine->start();
  const TaskId id = world.submit();
  EXPECT_EQ(world.state(id), State::failed);
  EXPECT_EQ(world.record(id).task.last_failure->message, "[NON_RETRYABLE] insufficient funds");
  EXPECT_EQ(world.log.of("task.failed").size(), 1U);
  ASSERT_EQ(world.log.of("classify").size(), 1U);
  const auto classified = world.log.of("classify")[0];
  EXPECT_EQ(classified.fields.at("task"), id.text());
  EXPECT_EQ(classified.fields.at("rule"), "ethereum.insufficient-funds");
  EXPECT_EQ(classified.level, Level::warning);
}

TEST(Engine, honours_the_limits_of_a_task) {
  World world;
  world.run(failing({.message = "no"}));
  const TaskId id = world.submit({.limits = {.attempts = 1}});
  EXPECT_EQ(world.state(id), State::dead);
}

TEST(Engine, settles_and_claims_in_one_batch) {
  World world;
  auto handler = std::make_shared<TestHandler>();
  world.run(handler, {}, 1);
  for (int i = 0; i < 3; ++i)
    world.submit();
  world.loop.pass(10ms);
  const std::size_t before = world.lane.batches;
  ASSERT_TRUE(handler->runs[0]->begin());
  handler->runs[0]->finish(core::Success{});
  world.loop.settle();
  EXPECT_EQ(handler->runs.size(), 2U);
  EXPECT_EQ(world.lane.batches, before + 1);
}

TEST(Engine, submits_and_claims_in_one_batch) {
  World world;
  auto handler = std::make_shared<TestHandler>();
  world.run(handler);
  world.loop.pass(10ms);
  const std::size_t before = world.lane.batches;
  world.submit();
  EXPECT_EQ(handler->runs.size(), 1U);
  EXPECT_EQ(world.lane.batches, before + 1);
}

TEST(Engine, runs_no_more_at_once_than_the_queue_may) {
  World world;
  auto handler = std::make_shared<TestHandler>();
  world.run(handler, {}, 3);
  for (int i = 0; i < 10; ++i)
    world.submit();
  EXPECT_EQ(handler->runs.size(), 3U);
  world.loop.pass(5s);
  EXPECT_EQ(handler->runs.size(), 3U);
  ASSERT_TRUE(handler->runs[1]->begin());
  handler->runs[1]->finish(core::Success{});
  world.loop.settle();
  EXPECT_EQ(handler->runs.size(), 4U);
}

TEST(Engine, starts_a_delayed_task_when_it_is_due_and_not_before) {
  World world;
  auto handler = succeeding();
  world.run(handler);
  const TaskId id = world.submit({.due = world.clock.wall_now() + 500ms});
  world.loop.pass(499ms);
  EXPECT_EQ(handler->started, 0U);
  world.loop.pass(1ms);
  EXPECT_EQ(world.state(id), State::succeeded);
}

TEST(Engine, finds_what_others_have_submitted_within_a_sweep) {
  World world;
  auto handler = succeeding();
  world.run(handler);
  UuidSource ids(world.random);
  const TaskId id(ids.next(world.clock.wall_now()));
  std::vector<ports::NewTask> tasks(1);
  tasks[0] = {.id = id, .type = "t", .queue = "q", .payload = ""};
  (void)ports::ask(world.store, ports::Submit{tasks});
  world.loop.pass(1s);
  EXPECT_EQ(world.state(id), State::succeeded);
}

TEST(Engine, a_handler_that_drops_an_attempt_has_failed_it) {  // T10
  World world;
  auto handler = std::make_shared<TestHandler>([](const std::shared_ptr<ports::Run>&) {});
  world.run(handler);
  const TaskId id = world.submit();
  EXPECT_EQ(world.state(id), State::retrying);
  EXPECT_EQ(world.record(id).task.last_failure->message, "the handler dropped the attempt");
}

TEST(Engine, only_the_first_outcome_counts) {
  World world;
  auto handler = std::make_shared<TestHandler>();
  world.run(handler);
  const TaskId id = world.submit();
  const auto run = handler->runs[0];
  ASSERT_TRUE(run->begin());
  run->finish(core::Success{"first"});
  run->finish(Failure{.message = "second"});
  world.loop.settle();
  run->finish(Failure{.message = "third"});
  world.loop.settle();
  EXPECT_EQ(world.record(id).result, "first");
  EXPECT_EQ(world.engine->stats().claimed, 0U);
}

TEST(Engine, a_task_without_a_handler_fails_and_says_why_once_a_minute) {
  World world;
  world.run(succeeding());
  const TaskId id = world.submit({.type = "x"});
  EXPECT_EQ(world.state(id), State::retrying);
  EXPECT_EQ(world.record(id).task.last_failure->message, "no handler for tasks of type 'x'");
  world.submit({.type = "x"});
  EXPECT_EQ(world.log.of("task.unknown_type").size(), 1U);
  world.loop.pass(1min);
  world.submit({.type = "x"});
  EXPECT_EQ(world.log.of("task.unknown_type").size(), 2U);
}

TEST(Engine, a_task_whose_deadline_has_passed_is_not_run) {
  World world;
  auto handler = std::make_shared<TestHandler>();
  world.run(handler, {}, 1);
  world.submit();
  const TaskId id = world.submit({.deadline = world.clock.wall_now() + 1s});
  world.loop.pass(2s);
  ASSERT_TRUE(handler->runs[0]->begin());
  handler->runs[0]->finish(core::Success{});
  world.loop.settle();
  EXPECT_EQ(handler->runs.size(), 1U);
  EXPECT_EQ(world.state(id), State::dead);
  EXPECT_EQ(world.record(id).task.dead_reason, core::DeadReason::deadline);
  EXPECT_EQ(world.record(id).fingerprint, fingerprint(core::to_string(core::DeadReason::deadline)));
}

TEST(Engine, a_deadline_that_passes_in_the_backlog_keeps_the_task_from_beginning) {
  World world;
  auto handler = std::make_shared<TestHandler>();
  world.run(handler);
  const TaskId id = world.submit({.deadline = world.clock.wall_now() + 1s});
  world.loop.pass(2s);
  EXPECT_FALSE(handler->runs[0]->begin());
  handler->runs[0]->finish(core::HandedBack{});
  world.loop.settle();
  EXPECT_EQ(world.state(id), State::dead);
  EXPECT_EQ(world.record(id).task.spent.attempts, 0);
}

TEST(Engine, what_is_handed_back_without_having_begun_has_spent_nothing) {
  World world;
  auto handler = std::make_shared<TestHandler>();
  world.run(handler);
  const TaskId id = world.submit();
  handler->runs[0]->finish(core::HandedBack{});
  world.loop.settle();
  ASSERT_EQ(handler->runs.size(), 2U);  // claimed anew
  EXPECT_EQ(world.record(id).task.spent, core::Spent{});
}

TEST(Engine, a_paused_queue_rests_and_goes_on_at_once_when_resumed) {
  World world;
  auto handler = succeeding();
  world.run(handler);
  world.engine->configure({.queue = "q", .paused = true}, [](auto) {});
  world.loop.settle();
  const TaskId id = world.submit();
  world.loop.pass(10s + 300ms);
  EXPECT_EQ(world.state(id), State::pending);
  world.engine->configure({.queue = "q", .paused = false}, [](auto) {});
  world.loop.settle();
  EXPECT_EQ(world.state(id), State::succeeded);
}

TEST(Engine, a_queue_at_its_own_limit_goes_on_as_soon_as_a_task_is_settled) {
  World world;
  auto handler = std::make_shared<TestHandler>();
  world.run(handler);
  world.engine->configure({.queue = "q", .concurrency = 1}, [](auto) {});
  world.loop.settle();
  for (int i = 0; i < 3; ++i)
    world.submit();
  EXPECT_EQ(handler->runs.size(), 1U);
  ASSERT_TRUE(handler->runs[0]->begin());
  handler->runs[0]->finish(core::Success{});
  world.loop.settle();
  EXPECT_EQ(handler->runs.size(), 2U);
}

TEST(Engine, may_be_destroyed_while_handlers_hold_attempts) {
  World world;
  auto handler = std::make_shared<TestHandler>();
  world.run(handler);
  world.submit();
  world.submit();
  const auto runs = handler->runs;
  ASSERT_TRUE(runs[0]->begin());
  world.engine->submit({}, [](auto) { FAIL() << "answered after the end"; });
  world.engine.reset();
  EXPECT_TRUE(runs[0]->stop().stop_requested());
  EXPECT_FALSE(runs[0]->heartbeat());
  EXPECT_FALSE(runs[1]->begin());
  runs[0]->finish(core::Success{});
  world.loop.pass(1min);
  EXPECT_EQ(world.store.tasks().begin()->second.record.task.state, State::running);
}

TEST(Engine, a_type_may_be_handled_otherwise_while_it_runs) {
  World world;
  auto old = std::make_shared<TestHandler>();
  world.run(old);
  const TaskId first = world.submit();
  ASSERT_EQ(old->runs.size(), 1U);
  world.engine->handle("t", {.handler = succeeding()});
  EXPECT_EQ(world.state(world.submit()), State::succeeded);
  EXPECT_EQ(world.state(first), State::running);  // ends as it began
  ASSERT_TRUE(old->runs[0]->begin());
  old->runs[0]->finish(core::Success{"old"});
  world.loop.settle();
  EXPECT_EQ(world.record(first).result, "old");

  world.engine->handle("u", {.handler = succeeding()});
  EXPECT_EQ(world.state(world.submit({.type = "u"})), State::succeeded);
  world.engine->forget("u");
  const TaskId unknown = world.submit({.type = "u"});
  EXPECT_EQ(world.state(unknown), State::retrying);
  EXPECT_THAT(world.record(unknown).task.last_failure->message, ::testing::HasSubstr("no handler"));
}

TEST(Engine, a_queue_may_be_served_wider_left_and_served_again_while_it_runs) {
  World world;
  auto handler = std::make_shared<TestHandler>();
  world.run(handler, {}, 1);
  std::vector<TaskId> tasks;
  for (int i = 0; i < 3; ++i)
    tasks.push_back(world.submit());
  ASSERT_EQ(handler->runs.size(), 1U);
  ASSERT_TRUE(handler->runs[0]->begin());
  world.engine->serve({.name = "q", .concurrency = 2});
  world.loop.settle();
  EXPECT_EQ(handler->runs.size(), 2U);

  world.engine->leave("q");  // the second has not begun
  world.loop.settle();
  EXPECT_EQ(world.state(tasks[0]), State::running);
  EXPECT_EQ(world.state(tasks[1]), State::pending);
  EXPECT_EQ(world.record(tasks[1]).task.spent.attempts, 0);
  handler->runs[0]->finish(core::Success{});
  EXPECT_FALSE(handler->runs[1]->begin());
  handler->runs[1]->finish(core::HandedBack{});
  world.loop.pass(10s);
  EXPECT_EQ(world.state(tasks[0]), State::succeeded);
  EXPECT_EQ(world.state(tasks[1]), State::pending);

  world.engine->handle("t", {.handler = succeeding()});
  world.engine->serve({.name = "q", .concurrency = 1});
  world.engine->serve({.name = "other"});
  const TaskId elsewhere = world.submit({.queue = "other"});
  world.loop.settle();
  EXPECT_EQ(world.state(tasks[1]), State::succeeded);
  EXPECT_EQ(world.state(tasks[2]), State::succeeded);
  EXPECT_EQ(world.state(elsewhere), State::succeeded);
}

}  // namespace
}  // namespace holdfast::engine::engine_test
