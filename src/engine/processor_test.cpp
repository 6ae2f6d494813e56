#include "engine/processor.hpp"

#include <gtest/gtest.h>

#include "support/engine_world.hpp"

namespace holdfast::engine::processor_test {
namespace {

using testing::TestHandler;
using testing::World;
using namespace std::chrono_literals;

struct ProcessorWorld : World {
  std::size_t largest_claim = 0;

  ProcessorWorld() {
    lane.takes = 2ms;
    lane.seen = [this](const ports::Request& request) {
      const auto* claim = std::get_if<ports::Asked<ports::Claim>>(&request);
      if (claim) largest_claim = std::max(largest_claim, claim->verb.max);
    };
  }

  // As many as wanted, straight into the store.
  void fill(std::size_t count, const std::string& type = "t") {
    UuidSource ids(random);
    std::vector<ports::NewTask> tasks(count, ports::NewTask{.type = type, .queue = "q"});
    for (ports::NewTask& task : tasks)
      task.id = TaskId(ids.next(clock.wall_now()));
    (void)ports::ask(store, ports::Submit{std::move(tasks)});
    clock.advance(1ms);  // the next source begins anew
  }

  std::shared_ptr<TestHandler> instant(std::size_t backlog) {
    return std::make_shared<TestHandler>(
        [](const std::shared_ptr<ports::Run>& run) {
          if (run->begin()) run->finish(core::Success{});
        },
        backlog);
  }
};

TEST(Processor, claims_more_ahead_the_more_end_while_the_store_is_asked) {
  ProcessorWorld world;
  world.fill(3000);
  world.run(world.instant(1000), {}, 4);
  world.loop.pass(200ms);
  EXPECT_EQ(world.engine->stats().count(core::Event::success), 3000U);
  EXPECT_GT(world.largest_claim, 100U);
  EXPECT_LE(world.largest_claim, 1004U);
}

TEST(Processor, claims_nothing_ahead_for_handlers_that_like_no_backlog) {
  ProcessorWorld world;
  world.fill(300);
  world.run(world.instant(0), {}, 4);
  world.loop.pass(10s);
  EXPECT_EQ(world.engine->stats().count(core::Event::success), 300U);
  EXPECT_LE(world.largest_claim, 4U);
}

TEST(Processor, claims_nothing_ahead_for_slow_handlers) {
  ProcessorWorld world;
  auto handler = std::make_shared<TestHandler>(TestHandler::Work(), 1000);
  world.fill(100);
  world.run(handler, {}, 4);
  world.loop.pass(10ms);
  for (std::size_t i = 0; i < 20; ++i) {
    ASSERT_EQ(handler->runs.size(), 4 + i);
    ASSERT_TRUE(handler->runs[i]->begin());
    world.loop.pass(1s);
    handler->runs[i]->finish(core::Success{});
    world.loop.pass(10ms);
  }
  EXPECT_LE(world.largest_claim, 4U);
}

TEST(Processor, does_not_give_a_handler_more_than_it_likes_though_another_would_take_it) {
  ProcessorWorld world;
  auto slow = std::make_shared<TestHandler>();
  world.engine->handle("slow", {.handler = slow});
  world.fill(500);
  world.fill(100, "slow");
  world.run(world.instant(1000), {}, 4);
  world.loop.pass(200ms);
  EXPECT_LE(slow->runs.size(), 4U);
  while (!slow->runs.empty()) {
    const auto runs = std::exchange(slow->runs, {});
    EXPECT_LE(runs.size(), 4U);
    for (const auto& run : runs) {
      ASSERT_TRUE(run->begin());
      run->finish(core::Success{});
    }
    world.loop.pass(50ms);
  }
  EXPECT_EQ(world.engine->stats().count(core::Event::success), 600U);
}

TEST(Processor, never_holds_more_than_all_queues_together_may) {
  ProcessorWorld world;
  world.options.most_claimed = 10;
  world.renew();
  world.fill(100);
  auto handler = std::make_shared<TestHandler>();
  world.run(handler, {}, 64);
  world.loop.pass(10s);
  EXPECT_EQ(handler->runs.size(), 10U);
}

TEST(Processor, a_task_submitted_while_a_claim_is_under_way_is_found_at_once) {
  ProcessorWorld world;
  auto handler = world.instant(0);
  world.options.sweep_every = 1h;
  world.renew();
  world.run(handler, {}, 1);
  world.loop.pass(1ms);  // the first claim is under way, for all places there are
  world.submit();
  world.loop.pass(20ms);
  EXPECT_EQ(handler->started, 1U);
}

TEST(Processor, a_retry_settled_while_a_claim_is_under_way_is_run_when_it_is_due) {
  ProcessorWorld world;
  world.options.sweep_every = 1h;
  world.renew();
  auto handler = std::make_shared<TestHandler>();
  world.run(handler, {.wait = retry::fixed(100ms)}, 2);
  world.loop.pass(10ms);
  world.submit();
  world.loop.pass(10ms);
  ASSERT_EQ(handler->runs.size(), 1U);
  ASSERT_TRUE(handler->runs[0]->begin());
  world.engine->configure({.queue = "q"}, [](auto) {});  // has it claim
  handler->runs[0]->finish(Failure{.message = "no"});
  world.loop.pass(150ms);
  EXPECT_EQ(handler->started, 2U);
}

TEST(Processor, begins_again_where_it_is_what_fails_and_has_no_wait) {
  ProcessorWorld world;
  std::size_t claims = 0;
  world.lane.seen = [&](const ports::Request& request) {
    claims += std::holds_alternative<ports::Asked<ports::Claim>>(request) ? 1 : 0;
  };
  std::vector<std::size_t> claims_before;  // each attempt
  const auto handler = std::make_shared<TestHandler>([&](const std::shared_ptr<ports::Run>& run) {
    claims_before.push_back(claims);
    if (!run->begin()) return;
    if (run->number() < 3) return run->finish(Failure{.message = "no"});
    run->finish(core::Success{});
  });
  world.run(handler, {.wait = retry::fixed(0s)}, 1);
  world.loop.pass(10ms);
  world.submit();
  world.loop.pass(100ms);
  ASSERT_EQ(claims_before.size(), 3U);
  EXPECT_EQ(claims_before.front(), claims_before.back()) << "the settlement was the claim";
  EXPECT_EQ(world.log.of("task.retry").size(), 2U);
  const auto& task = world.store.tasks().begin()->second.record;
  EXPECT_EQ(task.task.state, core::State::succeeded);
  EXPECT_EQ(task.task.token.value, 3U);
  EXPECT_EQ(task.attempts.size(), 3U);
}

TEST(Processor, lets_others_have_their_turn_when_one_fails_and_fails) {
  ProcessorWorld world;
  std::vector<TaskId> order;
  const auto handler = std::make_shared<TestHandler>([&](const std::shared_ptr<ports::Run>& run) {
    if (!run->begin()) return;
    order.push_back(run->task().id);
    run->finish(Failure{.message = "no"});
  });
  world.fill(2);
  world.run(handler, {.attempts = 6, .wait = retry::fixed(0s)}, 1);
  world.loop.pass(1s);
  ASSERT_EQ(order.size(), 12U);
  EXPECT_EQ(std::ranges::count(order.begin(), order.begin() + 4, order[0]), 4);
  EXPECT_EQ(std::ranges::count(order.begin() + 4, order.begin() + 8, order[0]), 0);
}

TEST(Processor, keeps_the_place_of_what_it_begins_again) {
  ProcessorWorld world;
  const auto handler = std::make_shared<TestHandler>();
  world.fill(10);
  world.run(handler, {.wait = retry::fixed(0s)}, 2);
  world.loop.pass(10ms);
  std::size_t ended = 0;
  while (!handler->runs.empty() && ended < 100) {
    const auto runs = std::exchange(handler->runs, {});
    EXPECT_LE(runs.size(), 2U);
    for (const auto& run : runs) {
      ASSERT_TRUE(run->begin());
      run->finish(Failure{.message = "no"});
      world.loop.pass(1ms);  // the store has not answered yet
      ++ended;
    }
    world.loop.pass(5ms);
    EXPECT_LE(world.engine->stats().claimed, 2U);
  }
  EXPECT_EQ(ended, 40U) << "ten tasks, four attempts each";
}

TEST(Processor, what_could_not_be_claimed_again_is_claimed_when_it_may) {
  ProcessorWorld world;
  world.options.sweep_every = 1h;
  world.renew();
  const auto handler = std::make_shared<TestHandler>();
  world.run(handler, {.wait = retry::fixed(0s)}, 1);
  world.submit();
  world.loop.pass(10ms);
  ASSERT_EQ(handler->runs.size(), 1U);
  ASSERT_TRUE(handler->runs[0]->begin());
  world.engine->configure({.queue = "q", .paused = true}, [](auto) {});
  handler->runs[0]->finish(Failure{.message = "no"});
  world.loop.pass(10ms);
  EXPECT_EQ(handler->started, 1U);
  EXPECT_EQ(world.store.tasks().begin()->second.record.task.state, core::State::retrying);
  world.engine->configure({.queue = "q", .paused = false}, [](auto) {});
  world.loop.pass(10ms);
  EXPECT_EQ(handler->started, 2U);
}

TEST(Processor, begins_nothing_again_when_it_is_shut_down) {  // T3
  ProcessorWorld world;
  const auto handler = std::make_shared<TestHandler>();
  world.run(handler, {.wait = retry::fixed(0s)}, 1);
  world.submit();
  world.loop.pass(10ms);
  ASSERT_EQ(handler->runs.size(), 1U);
  ASSERT_TRUE(handler->runs[0]->begin());
  handler->runs[0]->finish(Failure{.message = "no"});
  world.loop.pass(1ms);  // on its way to the store
  world.engine->shut_down([](auto) {});
  world.loop.pass(10ms);
  EXPECT_EQ(handler->started, 1U);
  const auto& task = world.store.tasks().begin()->second.record;
  EXPECT_EQ(task.task.spent.attempts, 1);
  EXPECT_NE(task.task.state, core::State::running);
}

}  // namespace
}  // namespace holdfast::engine::processor_test
