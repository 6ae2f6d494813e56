#include "engine/breakers.hpp"

#include <set>

#include <gtest/gtest.h>

#include "support/engine_world.hpp"

namespace holdfast::engine::breakers_test {
namespace {

using core::State;
using testing::TestHandler;
using testing::World;
using namespace std::chrono_literals;

struct BreakersWorld : World {
  using World::World;

  bool dependency_works = false;
  Failure failure = {.message = "connection refused"};
  std::shared_ptr<TestHandler> handler =
      std::make_shared<TestHandler>([this](const std::shared_ptr<ports::Run>& run) {
        if (!run->begin()) return;
        if (dependency_works) return run->finish(core::Success{});
        run->finish(failure);
      });

  void begin(std::shared_ptr<const Classifier> classifier = {}) {
    options.breaker = {.consecutive_failures = 3, .open_for = retry::fixed(30s)};
    renew();
    engine->handle("t", {.handler = handler,
                         .policy = {.attempts = 100, .deferrals = 3, .wait = retry::fixed(1s)},
                         .classifier = std::move(classifier),
                         .dependency = "api"});
    engine->serve({.name = "q"});
    engine->start();
    loop.settle();
  }
};

TEST(Breakers, while_open_tasks_wait_without_spending_attempts) {  // N4
  BreakersWorld world;
  world.begin();
  for (int i = 0; i < 3; ++i)
    world.submit();
  ASSERT_EQ(world.engine->breaker("api")->state(), Breaker::State::open);
  const std::size_t started = world.handler->started;
  const TaskId id = world.submit();
  EXPECT_EQ(world.handler->started, started);
  EXPECT_EQ(world.state(id), State::retrying);
  EXPECT_EQ(world.record(id).task.spent.attempts, 0);
  EXPECT_EQ(world.record(id).task.spent.deferrals, 0);
  EXPECT_GE(world.record(id).task.due, world.clock.wall_now() + 30s);
  ASSERT_EQ(world.log.of("breaker.changed").size(), 1U);
  EXPECT_EQ(world.log.of("breaker.changed")[0].fields.at("dependency"), "api");
  EXPECT_EQ(world.log.of("breaker.changed")[0].fields.at("to"), "open");

  world.dependency_works = true;
  world.loop.pass(2min);
  EXPECT_EQ(world.engine->breaker("api")->state(), Breaker::State::closed);
  EXPECT_EQ(world.state(id), State::succeeded);
}

TEST(Breakers, what_was_claimed_before_it_opened_does_not_begin) {  // N4
  BreakersWorld world;
  world.handler = std::make_shared<TestHandler>(TestHandler::Work(), 100);  // keeps its runs
  world.begin();
  std::vector<TaskId> ids;
  for (int i = 0; i < 10; ++i)
    ids.push_back(world.submit());
  ASSERT_EQ(world.handler->runs.size(), 10U);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(world.handler->runs[i]->begin());
    world.handler->runs[i]->finish(world.failure);
  }
  world.loop.settle();
  ASSERT_EQ(world.engine->breaker("api")->state(), Breaker::State::open);
  for (int i = 3; i < 10; ++i) {
    EXPECT_FALSE(world.handler->runs[i]->begin());
    EXPECT_TRUE(world.handler->runs[i]->stop().stop_requested());
    world.handler->runs[i]->finish(core::HandedBack{});
    EXPECT_EQ(world.state(ids[i]), State::retrying);
    EXPECT_EQ(world.record(ids[i]).task.spent, core::Spent());
    EXPECT_GE(world.record(ids[i]).task.due, world.clock.wall_now() + 30s);
  }
  world.loop.settle();
  EXPECT_EQ(world.engine->stats().claimed, 0U);
}

TEST(Breakers, however_often_it_is_put_off_a_task_does_not_die_of_it) {  // N4
  BreakersWorld world;
  world.begin();
  for (int i = 0; i < 20; ++i) {
    world.engine->breaker("api")->force_open();
    world.submit();
  }
  world.loop.pass(30min);
  for (const auto& [id, kept] : world.store.tasks())
    EXPECT_EQ(kept.record.task.state, State::retrying);
}

TEST(Breakers, the_waits_of_what_is_put_off_differ) {
  BreakersWorld world({0.1, 0.7, 0.3, 0.9, 0.2, 0.6, 0.4});
  world.begin();
  world.engine->breaker("api")->force_open();
  std::set<WallTime> due;
  for (int i = 0; i < 3; ++i)
    due.insert(world.record(world.submit()).task.due);
  EXPECT_EQ(due.size(), 3U);
}

TEST(Breakers, failures_that_are_the_tasks_own_fault_do_not_open_it) {  // N4
  BreakersWorld world;
  world.failure = {.message = "insufficient funds"};
  world.begin(std::make_shared<Classifier>(Classifier::make(presets::ethereum()).value()));
  for (int i = 0; i < 10; ++i)
    world.submit();
  EXPECT_EQ(world.engine->breaker("api")->state(), Breaker::State::closed);
  EXPECT_EQ(world.handler->started, 10U);
}

TEST(Breakers, a_timeout_counts_as_a_failure_of_the_dependency) {
  BreakersWorld world;
  world.handler = std::make_shared<TestHandler>();
  world.begin();
  for (int i = 0; i < 3; ++i)
    world.submit();
  for (const auto& run : world.handler->runs)
    ASSERT_TRUE(run->begin());
  world.loop.pass(36s);
  EXPECT_EQ(world.engine->breaker("api")->state(), Breaker::State::open);
}

TEST(Breakers, types_that_name_the_same_dependency_share_one) {
  BreakersWorld world;
  world.engine->handle("a", {.dependency = "api"});
  world.engine->handle("b", {.dependency = "api"});
  world.engine->handle("c", {.dependency = "other"});
  EXPECT_NE(world.engine->breaker("api"), nullptr);
  EXPECT_NE(world.engine->breaker("api"), world.engine->breaker("other"));
  EXPECT_EQ(world.engine->breaker("none"), nullptr);
}

TEST(Breakers, an_engine_may_go_while_a_probe_is_under_way) {
  BreakersWorld world;
  world.handler = std::make_shared<TestHandler>();
  world.begin();
  world.submit();
  const auto run = world.handler->runs[0];
  ASSERT_TRUE(run->begin());
  world.engine.reset();
  run->finish(Failure{.message = "too late"});
  world.loop.settle();
}

}  // namespace
}  // namespace holdfast::engine::breakers_test
