#include "engine/lease_keeper.hpp"

#include <gtest/gtest.h>

#include "support/engine_world.hpp"

namespace holdfast::engine::lease_keeper_test {
namespace {

using core::State;
using testing::TestHandler;
using testing::World;
using namespace std::chrono_literals;

struct KeeperWorld : World {
  std::shared_ptr<TestHandler> handler = std::make_shared<TestHandler>();

  TaskId claimed(core::TaskPolicy policy = {.timeout = 0s}) {
    run(handler, std::move(policy));
    return submit();
  }

  // Somebody else brings the task back and claims it, as if our lease had ended.
  void steal(const TaskId& id) {
    const ports::TaskRecord& ours = record(id);
    ports::Change change;
    change.changes.push_back(
        {.id = id,
         .token = ours.task.token,
         .transition = core::decide(ours.task, core::HandedBack{}, {}, {}, clock.wall_now(), random)
                           .value()});
    ASSERT_TRUE(ports::ask(store, change).has_value());
    ASSERT_EQ(
        ports::ask(
            store,
            ports::Claim{.queue = "q", .owner = "a thief", .lease = 1h, .now = clock.wall_now()})
            ->tasks.size(),
        1U);
  }
};

TEST(LeaseKeeper, renews_what_is_claimed_three_times_in_each_lease) {
  KeeperWorld world;
  const TaskId id = world.claimed();
  for (int i = 0; i < 12; ++i) {
    world.loop.pass(10s);
    EXPECT_EQ(world.record(id).lease_end, world.clock.wall_now() + 30s);
  }
  EXPECT_EQ(world.record(id).owner, "life 1");
  EXPECT_EQ(world.engine->stats().rescued, 0U);
}

TEST(LeaseKeeper, asks_nothing_when_nothing_is_claimed) {
  KeeperWorld world;
  world.run(world.handler);
  world.lane.seen = [](const ports::Request& request) {
    EXPECT_FALSE(std::holds_alternative<ports::Asked<ports::Renew>>(request));
  };
  world.loop.pass(1min);
}

TEST(LeaseKeeper, a_lost_claim_is_stopped_and_its_outcome_dropped) {  // N6
  KeeperWorld world;
  const TaskId id = world.claimed();
  const auto run = world.handler->runs[0];
  ASSERT_TRUE(run->begin());
  world.steal(id);
  world.loop.pass(10s);
  EXPECT_TRUE(run->stop().stop_requested());
  EXPECT_EQ(world.log.of("task.claim_lost").size(), 1U);
  run->finish(core::Success{"of a lost claim"});
  world.loop.settle();
  EXPECT_EQ(world.state(id), State::running);
  EXPECT_EQ(world.record(id).owner, "a thief");
  EXPECT_EQ(world.engine->stats().claimed, 0U);
}

TEST(LeaseKeeper, a_settlement_by_a_lost_claim_is_refused_and_logged) {  // N6
  KeeperWorld world;
  const TaskId id = world.claimed();
  const auto run = world.handler->runs[0];
  ASSERT_TRUE(run->begin());
  world.steal(id);
  run->finish(core::Success{"of a lost claim"});
  world.loop.settle();
  EXPECT_EQ(world.record(id).owner, "a thief");
  EXPECT_EQ(world.log.of("task.settle_refused").size(), 1U);
  EXPECT_EQ(world.engine->stats().refused, 1U);
  EXPECT_EQ(world.engine->stats().claimed, 0U);
}

TEST(LeaseKeeper, goes_on_when_the_store_was_away_for_longer_than_a_lease) {  // T10
  KeeperWorld world;
  const TaskId id = world.claimed();
  const auto run = world.handler->runs[0];
  ASSERT_TRUE(run->begin());
  world.lane.away = Error{ErrorCode::unavailable, "store", "gone fishing"};
  world.loop.pass(2min);
  EXPECT_FALSE(run->stop().stop_requested());
  world.lane.away.reset();
  world.loop.pass(10s);
  EXPECT_GT(world.record(id).lease_end, world.clock.wall_now());
  run->finish(core::Success{});
  world.loop.settle();
  EXPECT_EQ(world.state(id), State::succeeded);
}

TEST(LeaseKeeper, a_wall_clock_set_forward_does_not_cost_us_our_own_runs) {
  KeeperWorld world;
  const TaskId id = world.claimed();
  const auto run = world.handler->runs[0];
  ASSERT_TRUE(run->begin());
  world.clock.jump_wall(1h);
  world.loop.pass(5s);
  EXPECT_FALSE(run->stop().stop_requested());
  EXPECT_GT(world.record(id).lease_end, world.clock.wall_now());
  EXPECT_EQ(world.engine->stats().rescued, 0U);
  run->finish(core::Success{});
  world.loop.settle();
  EXPECT_EQ(world.state(id), State::succeeded);
}

}  // namespace
}  // namespace holdfast::engine::lease_keeper_test
