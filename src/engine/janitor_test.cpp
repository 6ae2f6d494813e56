#include "engine/janitor.hpp"

#include <gtest/gtest.h>

#include "support/engine_world.hpp"

namespace holdfast::engine::janitor_test {
namespace {

using core::State;
using testing::succeeding;
using testing::World;
using namespace std::chrono_literals;

struct JanitorWorld : World {
  // Long enough that a test need not count sweeps.
  JanitorWorld() {
    options.sweep_every = 1h;
    options.janitor_every = 30min;
    options.lease = 100h;
    renew();
  }
};

TEST(Janitor, keeps_results_for_a_day_and_then_removes_them) {  // T7
  JanitorWorld world;
  world.run(succeeding());
  const TaskId id = world.submit();
  world.loop.pass(24h - 1s);
  EXPECT_EQ(world.state(id), State::succeeded);
  world.loop.pass(31min);
  EXPECT_FALSE(world.store.tasks().contains(id));
  EXPECT_EQ(world.engine->stats().purged, 1U);
}

TEST(Janitor, removes_in_slices_until_nothing_is_left) {
  JanitorWorld world;
  world.run(succeeding());
  std::vector<ports::NewTask> tasks(1200, ports::NewTask{.type = "t", .queue = "q"});
  world.engine->submit(std::move(tasks), [](auto) {});
  world.loop.pass(1min);
  std::vector<std::size_t> slices;
  world.lane.seen = [&](const ports::Request& request) {
    if (const auto* purge = std::get_if<ports::Asked<ports::Purge>>(&request)) {
      if (purge->verb.state == State::succeeded) slices.push_back(purge->verb.max);
    }
  };
  world.clock.advance(25h);
  world.loop.settle();
  EXPECT_TRUE(world.store.tasks().empty());
  EXPECT_EQ(slices, (std::vector<std::size_t>{500, 500, 500}));
}

TEST(Janitor, goes_on_the_next_time_when_the_store_was_away) {  // T10
  JanitorWorld world;
  world.run(succeeding());
  const TaskId id = world.submit();
  world.loop.pass(23h);
  world.lane.away = Error{ErrorCode::unavailable, "store", "away"};
  world.loop.pass(2h);
  world.lane.away.reset();
  world.loop.pass(31min);
  EXPECT_FALSE(world.store.tasks().contains(id));
}

}  // namespace
}  // namespace holdfast::engine::janitor_test
