#include "engine/janitor.hpp"

#include <gtest/gtest.h>

#include "engine/engine_testing.hpp"

namespace holdfast::engine {
namespace {

using core::State;
using testing::failing;
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

TEST(Janitor, leaves_failed_and_dead_tasks_alone) {  // T5, N9
  JanitorWorld world;
  world.run(failing({.message = "no"}), {.attempts = 1});
  const TaskId id = world.submit();
  world.clock.advance(24h * 365);
  world.loop.settle();
  EXPECT_EQ(world.state(id), State::dead);
}

TEST(Janitor, says_how_many_dead_letters_it_is_going_to_remove) {  // N9
  JanitorWorld world;
  world.options.keep.dead = 48h;
  world.renew();
  world.run(failing({.message = "no"}), {.attempts = 1});
  world.submit();
  world.submit();
  world.loop.pass(24h);
  const TaskId later = world.submit();
  std::vector<std::string> order;
  world.lane.seen = [&](const ports::Request& request) {
    const auto* purge = std::get_if<ports::Asked<ports::Purge>>(&request);
    if (!purge || purge->verb.state != State::dead) return;
    order.push_back("purge after " + std::to_string(world.log.of("janitor.expiring").size()));
  };
  world.loop.pass(24h + 31min);
  EXPECT_EQ(order, std::vector<std::string>{"purge after 1"});
  ASSERT_EQ(world.log.of("janitor.expiring").size(), 1U);
  EXPECT_EQ(world.log.of("janitor.expiring")[0].level, Level::warning);
  EXPECT_EQ(world.log.of("janitor.expiring")[0].fields.at("tasks"), "2");
  EXPECT_EQ(world.store.tasks().size(), 1U);
  EXPECT_EQ(world.state(later), State::dead);
  world.loop.pass(24h);
  EXPECT_TRUE(world.store.tasks().empty());
  EXPECT_EQ(world.log.of("janitor.expiring").size(), 2U);
}

TEST(Janitor, looks_through_the_dead_letters_only_when_one_may_be_too_old) {
  JanitorWorld world;
  world.options.keep.dead = 48h;
  world.renew();
  world.run(failing({.message = "no"}), {.attempts = 1});
  world.submit();
  int lists = 0;
  world.lane.seen = [&](const ports::Request& request) {
    lists += std::holds_alternative<ports::Asked<ports::List>>(request) ? 1 : 0;
  };
  world.loop.pass(47h);
  EXPECT_LE(lists, 1);
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
}  // namespace holdfast::engine
