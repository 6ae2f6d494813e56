#include "engine/lending.hpp"

#include <gtest/gtest.h>

#include "engine/settler.hpp"
#include "support/engine_world.hpp"

namespace holdfast::engine::lending_test {
namespace {

using core::State;
using testing::World;
using namespace std::chrono_literals;

struct LendingWorld : World {
  // What one claimer was answered; `answers` counts how often.
  struct Claimer {
    int answers = 0;
    std::vector<ports::TaskRecord> tasks = {};
    std::optional<Error> error = {};
    Engine::Ticket ticket = 0;
  };

  LendingWorld() { begin(); }

  void begin(core::TaskPolicy policy = {.wait = retry::fixed(10s)}) {
    engine->handle("t", {.policy = std::move(policy)});
    engine->start();
    loop.settle();
  }

  // A new life on the same store.
  void restart() {
    options.owner += "'";
    renew();
    begin();
  }

  std::shared_ptr<Claimer> claim(Engine::Loan loan = {}) {
    loan.queue = "q";
    if (loan.worker.empty()) loan.worker = "w";
    auto claimer = std::make_shared<Claimer>();
    claimer->ticket = engine->lend(std::move(loan), [claimer](auto answer) {
      ++claimer->answers;
      if (!answer) claimer->error = answer.error();
      if (answer) claimer->tasks = std::move(*answer);
    });
    loop.settle();
    return claimer;
  }

  Result<core::Transition> settle(const ports::TaskRecord& task, core::Outcome outcome,
                                  std::optional<Engine::Ruled> ruled = {}) {
    std::optional<Result<core::Transition>> answer;
    engine->settle({task.id, task.task.token}, std::move(outcome), ruled,
                   [&](auto told) { answer = std::move(told); });
    loop.settle();
    return answer.value();
  }

  Result<WallTime> extend(const ports::TaskRecord& task, Duration lease) {
    std::optional<Result<WallTime>> answer;
    engine->extend({task.id, task.task.token}, lease, [&](auto told) { answer = told; });
    loop.settle();
    return answer.value();
  }
};

TEST(Lending, gives_what_is_due_at_once) {  // N11
  LendingWorld world;
  const TaskId first = world.submit({.payload = "1"});
  const TaskId second = world.submit({.payload = "2"});
  world.submit({.payload = "3"});
  const auto claimer = world.claim({.max = 2, .worker = "snake", .lease = 7s});
  ASSERT_EQ(claimer->tasks.size(), 2U);
  EXPECT_EQ(claimer->tasks[0].id, first);
  EXPECT_EQ(claimer->tasks[0].payload, "1");
  EXPECT_EQ(claimer->tasks[1].id, second);
  EXPECT_EQ(world.record(first).owner, "away:snake");
  EXPECT_EQ(world.record(first).lease_end, world.clock.wall_now() + 7s);
}

TEST(Lending, says_at_once_that_there_is_nothing_to_one_that_does_not_wait) {
  LendingWorld world;
  const auto claimer = world.claim();
  EXPECT_EQ(claimer->answers, 1);
  EXPECT_TRUE(claimer->tasks.empty());
}

TEST(Lending, wakes_one_that_waits_when_a_task_comes) {
  LendingWorld world;
  const auto claimer = world.claim({.wait = 20s});
  const auto other = world.claim({.wait = 20s});
  world.loop.pass(5s);
  EXPECT_EQ(claimer->answers, 0);
  const TaskId id = world.submit();
  ASSERT_EQ(claimer->tasks.size(), 1U);
  EXPECT_EQ(claimer->tasks[0].id, id);
  EXPECT_EQ(other->answers, 0);
  world.submit();
  EXPECT_EQ(other->tasks.size(), 1U);
}

TEST(Lending, wakes_one_that_waits_when_a_task_is_due) {
  LendingWorld world;
  world.submit({.due = world.clock.wall_now() + 3s});
  const auto claimer = world.claim({.wait = 20s});
  const auto later = world.claim({.wait = 20s});
  world.submit({.due = world.clock.wall_now() + 5s});
  world.loop.pass(2900ms);
  EXPECT_EQ(claimer->answers, 0);
  world.loop.pass(100ms);
  EXPECT_EQ(claimer->tasks.size(), 1U);
  world.loop.pass(2s);
  EXPECT_EQ(later->tasks.size(), 1U);
}

TEST(Lending, waits_no_longer_than_asked) {
  LendingWorld world;
  const auto claimer = world.claim({.wait = 20s});
  world.loop.pass(19999ms);
  EXPECT_EQ(claimer->answers, 0);
  world.loop.pass(1ms);
  EXPECT_EQ(claimer->answers, 1);
  EXPECT_TRUE(claimer->tasks.empty());
  const TaskId id = world.submit();
  EXPECT_EQ(world.state(id), State::pending);  // not claimed for one that has gone
}

TEST(Lending, one_that_is_gone_before_its_answer_costs_the_task_nothing) {
  LendingWorld world;
  const auto claimer = world.claim({.wait = 20s});
  const TaskId id = world.submit();  // claims, in the same batch
  ASSERT_EQ(claimer->answers, 1);
  const auto gone = world.claim({.wait = 20s});
  std::vector<ports::NewTask> tasks{{.type = "t", .queue = "q"}};
  TaskId second;
  world.engine->submit(std::move(tasks), [&](auto told) { second = told->front()->id; });
  world.engine->withdraw(gone->ticket);  // after the claim was asked for, before the answer
  world.loop.settle();
  EXPECT_EQ(gone->error->code, ErrorCode::canceled);
  EXPECT_EQ(world.state(second), State::pending);
  EXPECT_EQ(world.record(second).task.spent, core::Spent());
  EXPECT_EQ(world.state(id), State::running);
}

TEST(Lending, settles_by_the_rules_of_the_type) {
  LendingWorld world;
  const TaskId good = world.submit();
  const TaskId bad = world.submit();
  const auto claimer = world.claim({.max = 2});
  EXPECT_EQ(world.settle(claimer->tasks[0], core::Success{"42"})->to, State::succeeded);
  EXPECT_EQ(world.settle(claimer->tasks[1], Failure{.message = "no"})->to, State::retrying);
  EXPECT_EQ(world.record(good).result, "42");
  EXPECT_EQ(world.record(bad).task.spent.attempts, 1);
  EXPECT_EQ(world.record(bad).task.due, world.clock.wall_now() + 10s);
  const auto again = world.claim({.wait = 20s});
  world.loop.pass(10s);
  ASSERT_EQ(again->tasks.size(), 1U);
  EXPECT_GT(again->tasks[0].task.token, claimer->tasks[1].task.token);
}

TEST(Lending, refuses_what_an_old_claim_says) {  // N6
  LendingWorld world;
  const TaskId id = world.submit();
  const auto claimer = world.claim({.lease = 5s});
  world.loop.pass(20s);  // its lease is over, and it was rescued
  EXPECT_EQ(world.record(id).task.spent.crashes, 1);
  const auto next = world.claim();
  ASSERT_EQ(next->tasks.size(), 1U);
  EXPECT_EQ(world.settle(claimer->tasks[0], core::Success{}).error().code, ErrorCode::conflict);
  EXPECT_EQ(world.extend(claimer->tasks[0], 5s).error().code, ErrorCode::conflict);
  EXPECT_EQ(world.settle(next->tasks[0], core::Success{})->to, State::succeeded);
  // A success that is told twice, since the first answer was lost, is no conflict.
  EXPECT_EQ(world.settle(next->tasks[0], core::Success{})->to, State::succeeded);
  EXPECT_FALSE(world.settle(next->tasks[0], Failure{.message = "no"}));
  ports::TaskRecord unknown = next->tasks[0];
  unknown.id = TaskId::parse("00000000-0000-7000-8000-000000000001").value();
  EXPECT_EQ(world.settle(unknown, core::Success{}).error().code, ErrorCode::not_found);
}

TEST(Lending, what_is_told_again_is_no_conflict) {
  LendingWorld world;
  for (const core::Outcome& outcome :
       {core::Outcome(Failure{.message = "no"}), core::Outcome(core::HandedBack{}),
        core::Outcome(core::BreakerOpen{5s})}) {
    const TaskId id = world.submit();
    const auto claimer = world.claim();
    const auto first = world.settle(claimer->tasks[0], outcome);
    ASSERT_TRUE(first);
    EXPECT_EQ(world.settle(claimer->tasks[0], outcome)->to, first->to);
    EXPECT_FALSE(world.settle(claimer->tasks[0], Failure{.message = "other"}));
    world.engine->cancel(id, [](const auto&) {});
    world.loop.settle();
  }
}

TEST(Lending, rules_of_the_worker_hold_for_types_that_are_not_known_here) {
  LendingWorld world;
  const TaskId own = world.submit({.type = "of the worker"});
  const TaskId known = world.submit();
  const auto claimer = world.claim({.max = 2});
  const Engine::Ruled ruled{.verdict = {.kind = VerdictKind::retry}, .wait = 77s, .attempts = 2};
  EXPECT_EQ(world.settle(claimer->tasks[0], Failure{.message = "no"}, ruled)->wait, 77s);
  EXPECT_EQ(world.settle(claimer->tasks[1], Failure{.message = "no"}, ruled)->wait, 10s);
  world.loop.pass(77s);
  const auto again = world.claim({.max = 2});
  ASSERT_EQ(again->tasks.size(), 2U);
  for (const ports::TaskRecord& task : again->tasks) {
    static_cast<void>(world.settle(task, Failure{.message = "no"}, ruled));
  }
  EXPECT_EQ(world.state(own), State::dead);  // two attempts
  EXPECT_EQ(world.state(known), State::retrying);

  const TaskId hopeless = world.submit({.type = "of the worker"});
  const auto last = world.claim();
  ASSERT_EQ(last->tasks.at(0).id, hopeless);
  const Engine::Ruled give_up{.verdict = {.kind = VerdictKind::give_up}};
  EXPECT_EQ(world.settle(last->tasks[0], Failure{.message = "no"}, give_up)->to, State::failed);
}

TEST(Lending, a_worker_that_withdraws_is_answered_at_once_and_others_are_not) {
  LendingWorld world;
  const auto first = world.claim({.worker = "w1", .wait = 20s});
  const auto second = world.claim({.worker = "w1", .wait = 20s});
  const auto other = world.claim({.worker = "w2", .wait = 20s});
  EXPECT_EQ(world.engine->withdraw("w1"), 2U);
  EXPECT_EQ(first->answers, 1);
  EXPECT_FALSE(first->error);
  EXPECT_EQ(second->answers, 1);
  EXPECT_EQ(other->answers, 0);
  EXPECT_EQ(world.engine->withdraw("w1"), 0U);
}

TEST(Lending, a_claim_that_is_extended_lasts) {
  LendingWorld world;
  const TaskId id = world.submit();
  const auto claimer = world.claim({.lease = 5s});
  for (int i = 0; i < 5; ++i) {
    world.loop.pass(4s);
    EXPECT_EQ(world.extend(claimer->tasks[0], 5s).value(), world.clock.wall_now() + 5s);
  }
  EXPECT_EQ(world.state(id), State::running);
  EXPECT_EQ(world.settle(claimer->tasks[0], core::Success{})->to, State::succeeded);
}

TEST(Lending, a_restart_of_the_server_takes_nothing_from_workers_elsewhere) {  // N7, N8
  LendingWorld world;
  const TaskId id = world.submit();
  const auto claimer = world.claim({.lease = 60s});
  world.restart();
  world.loop.pass(5s);
  EXPECT_EQ(world.state(id), State::running);
  EXPECT_EQ(world.settle(claimer->tasks[0], core::Success{"late"})->to, State::succeeded);
}

TEST(Lending, what_is_past_its_deadline_is_not_lent) {
  LendingWorld world;
  const TaskId late = world.submit({.deadline = world.clock.wall_now() + 1s});
  const TaskId good = world.submit();
  world.loop.pass(2s);
  const auto claimer = world.claim();
  ASSERT_EQ(claimer->tasks.size(), 1U);
  EXPECT_EQ(claimer->tasks[0].id, good);
  EXPECT_EQ(world.record(late).task.dead_reason, core::DeadReason::deadline);
}

TEST(Lending, a_shutdown_answers_those_who_wait_and_leaves_loans_alone) {
  LendingWorld world;
  const TaskId id = world.submit();
  const auto claimer = world.claim();
  const auto waiting = world.claim({.wait = 1h});
  bool down = false;
  world.engine->shut_down([&](const ShutdownReport&) { down = true; });
  world.loop.settle();
  EXPECT_TRUE(down);
  EXPECT_EQ(waiting->answers, 1);
  EXPECT_EQ(world.state(id), State::running);
  EXPECT_EQ(world.claim()->error->code, ErrorCode::unavailable);
  EXPECT_EQ(world.settle(claimer->tasks[0], core::Success{})->to, State::succeeded);
}

TEST(Lending, a_store_that_is_away_is_told_to_the_claimer) {
  LendingWorld world;
  world.lane.away = Error{ErrorCode::unavailable, "store", "away"};
  const auto claimer = world.claim({.wait = 5s});
  EXPECT_EQ(claimer->error->code, ErrorCode::unavailable);
}

TEST(Lending, a_shutdown_hands_back_what_claims_under_way_bring) {  // T3
  LendingWorld world;
  const TaskId id = world.submit();
  world.lane.takes = 10ms;
  const auto claimer = world.claim({.wait = 20s});
  const auto never_answered = world.claim();
  // As soon as it is told so, as a server does.
  world.engine->shut_down([&](const ShutdownReport&) { world.engine.reset(); });
  world.loop.pass(1s);
  EXPECT_FALSE(world.engine);
  EXPECT_TRUE(claimer->tasks.empty());
  EXPECT_TRUE(never_answered->tasks.empty());
  EXPECT_EQ(world.state(id), State::pending);
  EXPECT_EQ(world.record(id).task.spent, core::Spent());
}

TEST(Lending, later_tasks_do_not_put_off_the_look_for_earlier_ones) {
  LendingWorld world;
  world.submit({.due = world.clock.wall_now() + 600ms});
  const auto claimer = world.claim({.wait = 20s});
  for (int i = 0; i < 10; ++i) {
    world.loop.pass(100ms);
    world.submit({.due = world.clock.wall_now() + 1h});
  }
  EXPECT_EQ(claimer->tasks.size(), 1U);
}

TEST(Lending, a_burst_finds_all_who_wait_however_many) {
  LendingWorld world;
  std::vector<std::shared_ptr<LendingWorld::Claimer>> claimers;
  for (int i = 0; i < 200; ++i)
    claimers.push_back(world.claim({.wait = 20s}));
  world.loop.pass(5s);
  std::vector<ports::NewTask> burst(200, ports::NewTask{.type = "t", .queue = "q"});
  world.engine->submit(std::move(burst), [](const auto&) {});
  world.loop.settle();
  const auto found =
      std::ranges::count_if(claimers, [](const auto& one) { return one->tasks.size() == 1; });
  EXPECT_EQ(found, 200);
}

TEST(Lending, who_is_not_asked_for_is_not_forgotten_when_the_store_was_away) {
  LendingWorld world;
  std::vector<std::shared_ptr<LendingWorld::Claimer>> claimers;
  for (int i = 0; i < 65; ++i)
    claimers.push_back(world.claim({.wait = 20s}));
  world.lane.away = Error{ErrorCode::unavailable, "store", "away"};
  world.engine->submit({{.type = "t", .queue = "q"}}, [](const auto&) {});
  world.loop.settle();
  world.lane.away.reset();
  const auto tasks = [&] {
    return std::ranges::count_if(claimers, [](const auto& one) { return !one->tasks.empty(); });
  };
  static_cast<void>(ports::ask(
      world.store,
      ports::Submit{{{.id = TaskId::parse("00000000-0000-7000-8000-000000000001").value(),
                      .type = "t",
                      .queue = "q"}}}));  // by another process
  world.loop.pass(2s);
  EXPECT_EQ(tasks(), 1);
}

TEST(Lending, who_waits_at_a_queue_that_gives_none_is_answered_in_time_whatever_is_added) {
  LendingWorld world;
  world.engine->configure({.queue = "q", .paused = true}, [](const auto&) {});
  world.loop.settle();
  world.lane.takes = 10ms;
  const auto claimer = world.claim({.wait = 100ms});
  std::size_t claims = 0;
  world.lane.seen = [&](const ports::Request& request) {
    if (std::holds_alternative<ports::Asked<ports::Claim>>(request)) ++claims;
  };
  for (int i = 0; i < 100; ++i) {
    world.engine->submit({{.type = "t", .queue = "q"}}, [](const auto&) {});
    world.loop.pass(5ms);
  }
  EXPECT_EQ(claimer->answers, 1);
  EXPECT_LE(claims, 25U) << "each of those submitted may be one, until it is answered";
}

// Callers name queues as they like.
TEST(Lending, nothing_is_kept_of_a_queue_that_nobody_waits_at) {
  World world;
  Floor floor({.loop = world.loop,
               .writer = world.lane,
               .reader = world.lane,
               .clock = world.clock,
               .random = world.random,
               .log = {}},
              {});
  Settler settler(floor);
  Lending lending(floor, settler.judge(), [](const auto&, const auto&) {});
  Engine::Ticket last = 0;
  for (int i = 0; i < 5; ++i) {
    const std::string queue = "free text " + std::to_string(i);
    for (const Duration wait : {Duration(0s), Duration(2s), Duration(1h)}) {
      last = lending.lend({.queue = queue, .worker = "w", .wait = wait}, [](const auto&) {});
    }
    world.loop.pass(3s);
    EXPECT_EQ(lending.queue_count(), 1U);
    lending.withdraw(last);
    EXPECT_EQ(lending.queue_count(), 0U);
  }
  static_cast<void>(lending.lend({.queue = "q", .worker = "w", .wait = 1s}, [](const auto&) {}));
  lending.withdraw("w");
  world.lane.away = Error{ErrorCode::unavailable, "store", "away"};
  static_cast<void>(lending.lend({.queue = "p", .worker = "w", .wait = 1s}, [](const auto&) {}));
  world.loop.settle();
  EXPECT_EQ(lending.queue_count(), 0U);
}

TEST(Lending, a_worker_that_caps_its_waits_is_not_kept_waiting_longer) {  // T1
  LendingWorld world;
  world.submit({.type = "of the worker"});
  const auto claimer = world.claim();
  const Engine::Ruled ruled{.verdict = {.kind = VerdictKind::retry}, .wait = 30s};
  const Failure failure{.message = "not now", .retry_after = 1h};
  EXPECT_EQ(world.settle(claimer->tasks.at(0), failure, ruled)->wait, 30s);
}

TEST(Lending, what_is_told_twice_at_once_is_no_conflict) {  // N6
  LendingWorld world;
  for (const core::Outcome& outcome :
       {core::Outcome(core::Success{"42"}), core::Outcome(Failure{.message = "no"})}) {
    world.submit();
    const auto claimer = world.claim();
    const ports::Held claim{claimer->tasks.at(0).id, claimer->tasks[0].task.token};
    std::vector<Result<core::Transition>> told;
    const auto keep = [&](auto answer) { told.push_back(std::move(answer)); };
    world.engine->settle(claim, outcome, {}, keep);
    world.engine->settle(claim, outcome, {}, keep);
    world.engine->settle(claim, core::HandedBack{}, {}, keep);
    world.loop.settle();
    ASSERT_EQ(told.size(), 3U);
    ASSERT_TRUE(told[0]);
    ASSERT_TRUE(told[1]) << told[1].error().text();
    EXPECT_EQ(told[0]->to, told[1]->to);
    EXPECT_EQ(told[2].error().code, ErrorCode::conflict);
  }
}

TEST(Lending, a_failure_that_was_a_success_may_be_told_again) {
  LendingWorld world;
  auto classifier = std::make_shared<const Classifier>(
      Classifier::make({{.name = "done", .http_status = {409}, .verdict = VerdictKind::success}})
          .value());
  world.engine->handle("once", {.classifier = classifier});
  world.submit({.type = "once"});
  const auto claimer = world.claim();
  const Failure exists{.message = "it exists", .http_status = 409};
  EXPECT_EQ(world.settle(claimer->tasks.at(0), exists)->to, State::succeeded);
  const auto again = world.settle(claimer->tasks[0], exists);
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->to, State::succeeded);
}

TEST(Lending, one_answer_brings_no_more_than_fits_into_memory) {
  LendingWorld world;
  std::vector<TaskId> ids;
  for (int i = 0; i < 3; ++i)
    ids.push_back(world.submit({.payload = std::string(std::size_t{5} << 20U, 'x')}));
  const auto claimer = world.claim({.max = 1000});
  EXPECT_EQ(claimer->tasks.size(), 1U) << "one of them, however large it is";
  EXPECT_EQ(world.state(ids[1]), State::pending);
  EXPECT_EQ(world.record(ids[1]).task.spent, core::Spent());
  const auto others = world.claim({.max = 1000});
  ASSERT_EQ(others->tasks.size(), 1U);
  EXPECT_EQ(others->tasks[0].id, ids[1]);
  world.submit();
  EXPECT_EQ(world.claim({.max = 1000})->tasks.size(), 2U);
}

}  // namespace
}  // namespace holdfast::engine::lending_test
