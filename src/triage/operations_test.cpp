#include "triage/operations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/engine_world.hpp"

// N2, N3: replays and discards of many, planned, watched, and gone on with after a crash.
namespace holdfast::triage::operations_test {
namespace {

using core::State;
using engine::testing::TestHandler;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using namespace std::chrono_literals;

// An engine with dead letters in it, and triage beside it.
struct TriageWorld : engine::testing::World {
  TriageWorld() {
    handler = std::make_shared<TestHandler>([this](const std::shared_ptr<ports::Run>& run) {
      if (run->begin()) run->finish(outcome());
    });
  }

  void mend() {
    outcome = [] { return core::Success{}; };
  }

  // All of them die at once.
  void die(std::size_t many, core::TaskPolicy policy = {.attempts = 1}) {
    run(handler, policy);
    for (std::size_t i = 0; i < many; ++i)
      ids.push_back(submit());
    loop.pass(1s);
    begin_triage();
  }

  void begin_triage() {
    audit.emplace(lane, lane, clock, random, Logger());
    operations.emplace(parts_of("here"), *audit);
    operations->start();
    loop.settle();
  }

  // One of several servers on this store.
  std::unique_ptr<Operations> another(const std::string& runner) {
    Parts parts = parts_of(runner);
    parts.is_shared = true;
    auto made = std::make_unique<Operations>(std::move(parts), *audit);
    made->start();
    loop.settle();
    return made;
  }

  Parts parts_of(const std::string& runner) {
    return {.loop = loop,
            .writer = lane,
            .reader = lane,
            .clock = clock,
            .random = random,
            .runner = runner,
            .decide =
                [this](const std::vector<TaskId>& all, const Parts::Decision& decision,
                       std::move_only_function<void(Parts::Decisions)> then) {
                  decide(all, decision, std::move(then));
                },
            .would_replay =
                [this](const ports::TaskRecord& record, const core::ReplayOptions& options) {
                  return engine->would_replay(record, options);
                }};
  }

  void decide(const std::vector<TaskId>& all, const Parts::Decision& decision,
              std::move_only_function<void(Parts::Decisions)> then) {
    if (holds_decisions) {
      held.push_back([this, all, decision, then = std::move(then)]() mutable {
        decide(all, decision, std::move(then));
      });
      return;
    }
    struct Gathering {
      Parts::Decisions decisions;
      std::size_t left;
      std::move_only_function<void(Parts::Decisions)> tell;
    };
    auto gathering = std::make_shared<Gathering>(
        Gathering{Parts::Decisions(all.size()), all.size(), std::move(then)});
    for (std::size_t at = 0; at < all.size(); ++at) {
      auto one = [gathering, at](Result<core::Transition> decided) {
        gathering->decisions[at] = std::move(decided);
        if (--gathering->left == 0) gathering->tell(std::move(gathering->decisions));
      };
      if (decision.action == OperationAction::discard) {
        engine->discard(all[at], one, decision.by);
      } else {
        engine->replay(all[at], decision.options, one, decision.by);
      }
    }
    decided += all.size();
  }

  Operation begin(OperationRequest request, Duration passes = 0s) {
    std::optional<Result<Operation>> answer;
    operations->begin(std::move(request), "alice", [&](auto told) { answer = std::move(told); });
    loop.pass(passes);
    EXPECT_TRUE(answer && *answer);
    return find((*answer)->id);
  }

  Operation find(const std::string& id) {
    std::optional<Result<Operation>> answer;
    operations->find(id, [&](auto told) { answer = std::move(told); });
    loop.settle();
    return answer->value();
  }

  Result<Operation> step(const std::string& id, OperationStep step, std::string start = {}) {
    std::optional<Result<Operation>> answer;
    operations->step(id, step, std::move(start), "bob", [&](auto told) { answer = told; });
    loop.settle();
    return *answer;
  }

  std::vector<std::string> audited() {
    std::vector<std::string> lines;
    audit->page(100, "", [&](const Result<AuditPage>& page) {
      for (const AuditEntry& entry : page->entries)
        lines.insert(lines.begin(),
                     entry.who + " " + entry.action + " " + std::to_string(entry.count));
    });
    loop.settle();
    return lines;
  }

  // Nothing was brought back twice, and nothing left out.
  void expect_each_once() {
    for (const TaskId& id : ids)
      EXPECT_EQ(record(id).task.spent.replays, 1) << id.text();
  }

  std::size_t count(State wanted) {
    return static_cast<std::size_t>(
        std::ranges::count_if(ids, [&](const TaskId& id) { return state(id) == wanted; }));
  }

  std::function<core::Outcome()> outcome = [] { return Failure{.message = "connection refused"}; };
  std::shared_ptr<TestHandler> handler;
  std::vector<TaskId> ids;
  std::size_t decided = 0;
  bool holds_decisions = false;
  std::vector<std::move_only_function<void()>> held;
  std::optional<AuditLog> audit;
  std::optional<Operations> operations;
};

TEST(Operations, N2_a_plan_tells_what_would_be_done_and_changes_nothing) {
  TriageWorld world;
  world.die(7);
  const Operation planned = world.begin({.query = "state:dead error:refused"});
  EXPECT_EQ(planned.state, OperationState::planned);
  EXPECT_TRUE(planned.plan.complete);
  EXPECT_EQ(planned.plan.matching, 7U);
  EXPECT_EQ(planned.plan.possible, 7U);
  ASSERT_THAT(planned.plan.queues, SizeIs(1));
  EXPECT_EQ(planned.plan.queues[0].count, 7U);
  EXPECT_EQ(world.count(State::dead), 7U);
  EXPECT_EQ(world.decided, 0U);
}

TEST(Operations, N3_what_is_quarantined_is_refused_and_the_plan_says_why) {
  TriageWorld world;
  world.die(2, {.attempts = 1, .replays = 0});
  const Operation planned = world.begin({.query = "state:dead"});
  EXPECT_EQ(planned.plan.possible, 0U);
  ASSERT_THAT(planned.plan.refused, SizeIs(1));
  EXPECT_EQ(planned.plan.refused[0].count, 2U);
  EXPECT_THAT(planned.plan.refused[0].why, HasSubstr("its policy allows 0"));
}

TEST(Operations, N2_a_replay_brings_back_all_that_was_planned_and_each_says_by_whom) {
  TriageWorld world;
  world.die(503);
  world.mend();
  const Operation done = world.begin({.query = "state:dead", .start = true}, 5s);
  EXPECT_EQ(done.state, OperationState::done);
  EXPECT_EQ(done.progress.done, 503U);
  EXPECT_EQ(done.progress.total, 503U);
  EXPECT_EQ(world.count(State::succeeded), 503U);
  const auto history = world.record(world.ids[0]).attempts;
  EXPECT_EQ(history[1].event, core::Event::replay);
  EXPECT_EQ(history[1].owner, "alice, operation " + done.id);
  EXPECT_THAT(world.audited(),
              ::testing::ElementsAre("alice operation.start 0", "alice replay 503"));
}

TEST(Operations, N2_what_dies_again_is_not_brought_back_a_second_time) {
  TriageWorld world;
  world.die(20);
  const Operation done = world.begin({.query = "state:dead", .start = true}, 10s);
  EXPECT_EQ(done.state, OperationState::done);
  EXPECT_EQ(done.progress.done, 20U);
  EXPECT_EQ(world.decided, 20U);
}

TEST(Operations, N2_a_canary_stops_after_one_that_fails_again) {
  TriageWorld world;
  world.die(50);
  const Operation stopped =
      world.begin({.query = "state:dead", .options = {.canary = true}, .start = true}, 2s);
  EXPECT_EQ(stopped.state, OperationState::stopped);
  EXPECT_EQ(stopped.progress.done, 1U);
  EXPECT_EQ(stopped.progress.failed, 1U);
  EXPECT_EQ(stopped.stage->number, 1);
  EXPECT_THAT(stopped.why, HasSubstr("1 of 1 that were brought back failed again"));
  EXPECT_EQ(world.decided, 1U);
}

TEST(Operations, N2_a_canary_that_stopped_begins_anew_once_the_cause_is_mended) {
  TriageWorld world;
  world.die(50);
  const std::string id =
      world.begin({.query = "state:dead", .options = {.canary = true}, .start = true}, 2s).id;
  world.mend();
  ASSERT_TRUE(world.step(id, OperationStep::resume));
  world.loop.pass(10s);
  const Operation done = world.find(id);
  EXPECT_EQ(done.state, OperationState::done);
  EXPECT_EQ(done.progress.done, 51U);  // the first one twice
  EXPECT_EQ(done.progress.total, 51U);
  EXPECT_EQ(done.stage->number, 3);
  EXPECT_EQ(world.count(State::succeeded), 50U);
  EXPECT_THAT(world.audited(),
              ::testing::ElementsAre("alice operation.start 0", "alice operation.stopped 1",
                                     "bob operation.resume 1", "alice replay 51"));
}

TEST(Operations, N2_a_canary_waits_for_what_nobody_runs) {
  TriageWorld world;
  world.die(50);
  world.engine->configure({.queue = "q", .paused = true}, [](auto) {});
  world.loop.settle();
  const Operation waiting =
      world.begin({.query = "state:dead", .options = {.canary = true}, .start = true}, 1min);
  EXPECT_EQ(waiting.state, OperationState::waiting);
  EXPECT_EQ(waiting.progress.done, 1U);
  EXPECT_EQ(waiting.stage->waiting, 1U);
}

TEST(Operations, N2_the_rest_stops_when_too_many_fail_again) {
  TriageWorld world;
  world.die(1500);
  std::size_t runs = 0;
  world.outcome = [&]() -> core::Outcome {
    if (++runs > 40) return Failure{.message = "connection refused"};
    return core::Success{};
  };
  const Operation stopped =
      world.begin({.query = "state:dead", .options = {.canary = true}, .start = true}, 1min);
  EXPECT_EQ(stopped.state, OperationState::stopped);
  EXPECT_EQ(stopped.stage->number, 3);
  EXPECT_LE(stopped.progress.done, 1011U);  // no more are out than are watched
}

TEST(Operations, N2_a_rate_and_a_cap_are_kept) {
  TriageWorld world;
  world.die(100);
  world.mend();
  const std::string id =
      world.begin({.query = "state:dead", .options = {.rate = 10, .cap = 40}, .start = true}).id;
  world.loop.pass(1s);
  EXPECT_NEAR(static_cast<double>(world.find(id).progress.done), 10, 4);
  world.loop.pass(10s);
  EXPECT_EQ(world.find(id).state, OperationState::done);
  EXPECT_EQ(world.find(id).progress.done, 40U);
  EXPECT_EQ(world.count(State::dead), 60U);
}

TEST(Operations, N2_one_that_is_paused_stands_still_until_it_is_resumed_and_can_be_canceled) {
  TriageWorld world;
  world.die(100);
  world.mend();
  const std::string id =
      world.begin({.query = "state:dead", .options = {.rate = 10}, .start = true}, 1s).id;
  ASSERT_TRUE(world.step(id, OperationStep::pause));
  const auto done = world.find(id).progress.done;
  world.loop.pass(1min);
  EXPECT_EQ(world.find(id).progress.done, done);
  EXPECT_EQ(world.step(id, OperationStep::pause).error().code, ErrorCode::conflict);
  ASSERT_TRUE(world.step(id, OperationStep::resume));
  world.loop.pass(1s);
  EXPECT_GT(world.find(id).progress.done, done);
  ASSERT_TRUE(world.step(id, OperationStep::cancel));
  world.loop.pass(1min);
  EXPECT_EQ(world.find(id).state, OperationState::canceled);
  EXPECT_LT(world.find(id).progress.done, 100U);
  EXPECT_EQ(world.step(id, OperationStep::resume).error().code, ErrorCode::conflict);
}

TEST(Operations, N2_options_may_be_said_anew_when_it_is_started) {
  TriageWorld world;
  world.die(10);
  world.mend();
  const std::string id = world.begin({.query = "state:dead"}).id;
  EXPECT_EQ(world.step(id, OperationStep::start, R"({"cap":0})").error().code,
            ErrorCode::invalid_argument);
  ASSERT_TRUE(world.step(id, OperationStep::start, R"({"cap":3,"reason":"mended"})"));
  world.loop.pass(2s);
  EXPECT_EQ(world.find(id).progress.done, 3U);
  EXPECT_EQ(world.find(id).reason, "mended");
}

// At each step of its way the process dies, and another life goes on: nothing is decided twice,
// nothing is left out, and the count is right.
TEST(Operations, N2_a_crash_at_any_step_loses_nothing_and_does_nothing_twice) {
  for (const int crash_after : {1, 2, 3, 4, 5, 6, 7, 9, 11, 14}) {
    TriageWorld world;
    world.die(510);
    world.mend();
    std::optional<std::string> id;
    world.operations->begin({.query = "state:dead", .start = true}, "alice",
                            [&](auto told) { id = told->id; });
    for (int turn = 0; turn < crash_after * 3 && world.loop.one_turn(); ++turn) {
    }
    world.operations.reset();
    world.loop.pass(1s);
    if (!id) continue;
    world.begin_triage();
    world.loop.pass(10s);
    const Operation done = world.find(*id);
    ASSERT_EQ(done.state, OperationState::done) << crash_after;
    EXPECT_EQ(done.progress.done, 510U) << crash_after;
    EXPECT_EQ(world.count(State::succeeded), 510U) << crash_after;
    world.expect_each_once();
  }
}

// Two servers share a store. The one that has begun a replay dies; the other takes it once nobody
// has touched it for long, and not before.
TEST(Operations, N2_another_server_goes_on_with_what_one_has_left) {
  TriageWorld world;
  world.die(100);
  world.mend();
  auto first = world.another("first");
  const auto second = world.another("second");
  std::string id;
  first->begin({.query = "state:dead", .options = {.rate = 10}, .start = true}, "alice",
               [&](auto told) { id = told->id; });
  world.loop.pass(3s);
  const auto done_before = world.find(id).progress.done;
  EXPECT_NEAR(static_cast<double>(done_before), 30, 6);
  first.reset();
  world.loop.pass(20s);
  EXPECT_EQ(world.find(id).progress.done, done_before);
  world.loop.pass(40s);
  const Operation done = world.find(id);
  EXPECT_EQ(done.state, OperationState::done);
  EXPECT_EQ(done.progress.done, 100U);
  world.expect_each_once();
}

TEST(Operations, N2_one_that_goes_on_is_left_to_its_server) {
  TriageWorld world;
  world.die(100);
  world.mend();
  const auto first = world.another("first");
  const auto second = world.another("second");
  std::string id;
  int told_by_second = 0;
  second->on_change([&](const Operation&) { ++told_by_second; });
  first->begin({.query = "state:dead", .options = {.rate = 1}, .start = true}, "alice",
               [&](auto told) { id = told->id; });
  world.loop.pass(2min);
  EXPECT_EQ(world.find(id).state, OperationState::done);
  EXPECT_EQ(world.find(id).progress.done, 100U);
  EXPECT_EQ(world.decided, 100U);
  EXPECT_EQ(told_by_second, 0);
}

// Whoever steers it has it from then on; the other notices before it does anything more.
TEST(Operations, N2_any_server_can_pause_what_another_runs) {
  TriageWorld world;
  world.die(100);
  world.mend();
  const auto first = world.another("first");
  const auto second = world.another("second");
  std::string id;
  first->begin({.query = "state:dead", .options = {.rate = 10}, .start = true}, "alice",
               [&](auto told) { id = told->id; });
  world.loop.pass(3s);
  std::optional<Result<Operation>> answer;
  second->step(id, OperationStep::pause, "", "bob", [&](auto told) { answer = std::move(told); });
  world.loop.pass(1s);
  ASSERT_TRUE(answer && *answer) << (*answer).error().text();
  EXPECT_EQ((*answer)->state, OperationState::paused);
  const auto decided = world.decided;
  world.loop.pass(2min);
  EXPECT_EQ(world.decided, decided);
  EXPECT_EQ(world.find(id).state, OperationState::paused);
  second->step(id, OperationStep::resume, "", "bob", [&](auto told) { answer = std::move(told); });
  world.loop.pass(1min);
  const Operation done = world.find(id);
  EXPECT_EQ(done.state, OperationState::done);
  EXPECT_EQ(done.progress.done, 100U);
  world.expect_each_once();
}

// The other takes it over while the first is about to decide: both decide, and it is counted once.
TEST(Operations, N2_what_two_servers_do_at_once_is_done_once_and_counted_once) {
  TriageWorld world;
  world.die(40);
  world.mend();
  const auto first = world.another("first");
  const auto second = world.another("second");
  world.holds_decisions = true;
  std::string id;
  first->begin({.query = "state:dead", .start = true}, "alice", [&](auto told) { id = told->id; });
  world.loop.pass(1s);
  ASSERT_THAT(world.held, SizeIs(1));
  for (const auto step : {OperationStep::pause, OperationStep::resume}) {
    second->step(id, step, "", "bob", [](const auto& told) { EXPECT_TRUE(told); });
    world.loop.pass(1s);
  }
  ASSERT_THAT(world.held, SizeIs(2));
  world.holds_decisions = false;
  for (auto& decide : world.held)
    decide();
  world.loop.pass(1min);
  const Operation done = world.find(id);
  EXPECT_EQ(done.state, OperationState::done);
  EXPECT_EQ(done.progress.done, 40U);
  EXPECT_EQ(done.progress.refused, 0U);
  world.expect_each_once();
}

TEST(Operations, N2_what_a_whole_replay_comes_to_is_not_counted) {
  TriageWorld world;
  world.die(20);
  const Operation done = world.begin({.query = "state:dead", .start = true}, 10s);
  EXPECT_EQ(done.progress.succeeded, 0U);
  EXPECT_EQ(done.progress.failed, 0U);
}

TEST(Operations, N2_a_store_that_is_away_for_a_while_is_waited_for) {
  TriageWorld world;
  world.die(600);
  world.mend();
  int calls = 0;
  world.lane.fault = [&](const ports::Request& request) -> std::optional<Error> {
    if (!std::holds_alternative<ports::Asked<ports::Jot>>(request)) return std::nullopt;
    if (++calls % 3 != 0) return std::nullopt;
    return Error{ErrorCode::unavailable, "jot", "away"};
  };
  world.lane.carries_out_faults = true;
  const Operation done = world.begin({.query = "state:dead", .start = true}, 1min);
  EXPECT_EQ(done.state, OperationState::done);
  EXPECT_EQ(done.progress.done, 600U);
  EXPECT_EQ(world.count(State::succeeded), 600U);
}

TEST(Operations, a_discard_of_many_has_its_reason_in_every_history) {
  TriageWorld world;
  world.die(3);
  const Operation done = world.begin(
      {.action = OperationAction::discard, .query = "state:dead", .reason = "spam", .start = true},
      1s);
  EXPECT_EQ(done.state, OperationState::done);
  EXPECT_EQ(world.count(State::canceled), 3U);
  EXPECT_THAT(world.record(world.ids[0]).attempts.back().owner, HasSubstr(": spam"));
}

TEST(Operations, N2_ids_may_insist_on_what_needs_a_person) {
  TriageWorld world;
  world.die(2, {.attempts = 1, .replays = 0});
  world.mend();
  const Operation done =
      world.begin({.ids = {world.ids[0]}, .options = {.insist = true}, .start = true}, 2s);
  EXPECT_EQ(done.progress.done, 1U);
  EXPECT_EQ(world.state(world.ids[0]), State::succeeded);
  EXPECT_EQ(world.state(world.ids[1]), State::dead);
}

TEST(Operations, a_query_that_cannot_be_read_begins_nothing) {
  TriageWorld world;
  world.die(1);
  std::optional<Result<Operation>> answer;
  world.operations->begin({.query = "stat:dead"}, "alice", [&](auto told) { answer = told; });
  EXPECT_EQ(answer->error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace holdfast::triage::operations_test
