#include "engine/rescuer.hpp"

#include <gtest/gtest.h>

#include "support/engine_world.hpp"

namespace holdfast::engine::rescuer_test {
namespace {

using core::State;
using testing::succeeding;
using testing::TestHandler;
using testing::TestWitness;
using testing::World;
using namespace std::chrono_literals;

struct RescuerWorld : World {
  int lives = 1;
  std::vector<std::unique_ptr<TestWitness>> old_witnesses;  // dead handlers still hold runs

  // The process dies and another begins, with a witness that knows what is told here.
  void crash(std::optional<std::vector<ports::Held>> had_begun = {}, bool sole_owner = true) {
    options.owner = "life " + std::to_string(++lives);
    options.sole_owner = sole_owner;
    engine.reset();
    old_witnesses.push_back(std::move(witness));
    witness = std::make_unique<TestWitness>(std::move(had_begun));
    renew();
  }
};

TEST(Rescuer, returns_what_a_dead_process_ran_before_anything_is_claimed) {  // T11, N8
  RescuerWorld world;
  auto lost = std::make_shared<TestHandler>();
  world.run(lost);
  const TaskId id = world.submit();
  ASSERT_TRUE(lost->runs[0]->begin());
  world.crash();
  std::vector<std::size_t> verbs;
  world.lane.seen = [&](const ports::Request& request) { verbs.push_back(request.index()); };
  auto handler = succeeding();
  world.run(handler, {.wait = retry::fixed(100ms)});
  EXPECT_EQ(verbs.front(), ports::Request(ports::Asked<ports::Overdue>{}).index());
  EXPECT_EQ(world.record(id).task.spent.crashes, 1);
  EXPECT_EQ(world.record(id).task.last_failure->kind, FailureKind::crash);
  EXPECT_EQ(world.record(id).task.last_failure->message, "the process that ran it is gone");
  world.loop.pass(100ms);
  EXPECT_EQ(world.state(id), State::succeeded);
  EXPECT_EQ(world.log.of("task.rescued").size(), 1U);
  EXPECT_EQ(world.engine->stats().rescued, 1U);
}

TEST(Rescuer, blames_only_what_had_begun) {  // N7
  RescuerWorld world;
  auto lost = std::make_shared<TestHandler>();
  world.witness = std::make_unique<TestWitness>();
  world.renew();
  world.run(lost);
  const TaskId begun = world.submit();
  const TaskId waiting = world.submit();
  ASSERT_TRUE(lost->runs[0]->begin());
  std::vector<ports::Held> had_begun;
  for (const auto& [place, claim] : world.witness->under_way)
    had_begun.push_back(claim);
  ASSERT_EQ(had_begun.size(), 1U);
  world.crash(had_begun);
  world.run(std::make_shared<TestHandler>());
  EXPECT_EQ(world.record(begun).task.spent.crashes, 1);
  EXPECT_EQ(world.record(waiting).task.spent, core::Spent{});
  EXPECT_EQ(world.state(waiting), State::running);  // claimed again at once
  EXPECT_TRUE(world.witness->forgotten) << "it is settled: the next life need not know";
}

TEST(Rescuer, waits_for_the_lease_where_others_may_be_alive) {  // N8
  RescuerWorld world;
  auto lost = std::make_shared<TestHandler>();
  world.run(lost);
  const TaskId id = world.submit();
  world.crash(std::vector<ports::Held>{}, false);
  world.run(std::make_shared<TestHandler>());
  world.loop.pass(29s);
  EXPECT_EQ(world.record(id).owner, "life 1");
  world.loop.pass(2s);
  // Of another process nobody knows whether it had begun.
  EXPECT_EQ(world.record(id).task.spent.crashes, 1);
}

TEST(Rescuer, a_task_that_takes_its_worker_down_again_and_again_is_quarantined) {  // N7
  RescuerWorld world;
  TaskId id;
  for (int life = 1; life <= 3; ++life) {
    auto handler = std::make_shared<TestHandler>();
    world.run(handler, {.wait = retry::no_wait()});
    if (life == 1) id = world.submit();
    ASSERT_EQ(handler->runs.size(), 1U) << life;
    ASSERT_TRUE(handler->runs[0]->begin());
    world.crash();
  }
  world.run(std::make_shared<TestHandler>());
  EXPECT_EQ(world.state(id), State::dead);
  EXPECT_EQ(world.record(id).task.dead_reason, core::DeadReason::crashes);
  EXPECT_EQ(world.record(id).task.spent.attempts, 0);
}

TEST(Rescuer, hands_back_a_claim_that_the_store_could_not_tell_us_of) {
  RescuerWorld world;
  auto handler = succeeding();
  world.run(handler);
  world.lane.carries_out_faults = true;
  world.lane.fault = [](const ports::Request& request) -> std::optional<Error> {
    if (!std::holds_alternative<ports::Asked<ports::Claim>>(request)) return {};
    return Error{ErrorCode::unavailable, "store", "the answer got lost"};
  };
  const TaskId id = world.submit();
  world.lane.fault = {};
  EXPECT_EQ(world.state(id), State::running);
  world.loop.pass(32s);
  EXPECT_EQ(world.state(id), State::succeeded);
  EXPECT_EQ(world.record(id).task.spent, core::Spent{});
}

TEST(Rescuer, rescues_more_than_a_page) {
  RescuerWorld world;
  world.options.most_claimed = 5000;
  world.renew();
  world.run(std::make_shared<TestHandler>(), {}, 2500);
  std::vector<ports::NewTask> tasks(2500, ports::NewTask{.type = "t", .queue = "q"});
  world.engine->submit(std::move(tasks), [](auto) {});
  world.loop.settle();
  ASSERT_EQ(world.engine->stats().claimed, 2500U);
  world.crash();
  world.engine->start();
  world.loop.settle();
  EXPECT_EQ(world.engine->stats().rescued, 2500U);
}

TEST(Rescuer, claims_nothing_before_the_store_has_answered_the_first_rescue) {  // T10
  RescuerWorld world;
  auto lost = std::make_shared<TestHandler>();
  world.run(lost);
  const TaskId id = world.submit();
  world.crash();
  world.lane.away = Error{ErrorCode::unavailable, "store", "not yet"};
  auto handler = succeeding();
  bool ready = false;
  world.engine->handle("t", {.handler = handler});
  world.engine->serve({.name = "q"});
  world.engine->start([&] { ready = true; });
  world.loop.pass(10s);
  EXPECT_FALSE(ready);
  world.lane.away.reset();
  world.loop.pass(10s);
  EXPECT_TRUE(ready);
  EXPECT_EQ(world.state(id), State::succeeded);
}

// Nobody was there to extend them while the process that holds the store was down.
TEST(Rescuer, leaves_workers_elsewhere_a_lease_after_a_restart) {  // N7, N8
  RescuerWorld world;
  world.run(std::make_shared<TestHandler>());
  const TaskId alive = world.submit({.queue = "away"});
  const TaskId dead = world.submit({.queue = "away"});
  std::vector<ports::TaskRecord> lent;
  static_cast<void>(world.engine->lend({.queue = "away", .max = 2, .worker = "w", .lease = 10s},
                                       [&](auto answer) { lent = answer.value(); }));
  world.loop.settle();
  ASSERT_EQ(lent.size(), 2U);
  world.engine.reset();
  world.loop.pass(35s);
  world.crash();
  world.run(std::make_shared<TestHandler>());
  world.loop.pass(5s);
  EXPECT_EQ(world.state(alive), State::running);
  std::optional<core::State> state;
  world.engine->settle({alive, lent[0].task.token}, core::Success{}, {},
                       [&](const auto& settled) { state = settled.value().to; });
  world.loop.settle();
  EXPECT_EQ(state, State::succeeded);
  EXPECT_EQ(world.state(dead), State::running);
  world.loop.pass(27s);
  EXPECT_EQ(world.record(dead).task.spent.crashes, 1);
}

TEST(Rescuer, its_word_for_a_crash_is_retried_by_all_presets) {
  const Classifier all = Classifier::make(presets::all()).value();
  EXPECT_EQ(all({.message = "the process that ran it is gone", .kind = FailureKind::crash}).kind,
            VerdictKind::retry);
}

}  // namespace
}  // namespace holdfast::engine::rescuer_test
