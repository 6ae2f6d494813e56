// An engine on a store that others work on, too: it hears of what they do, and asks rarely.
#include "engine/patrol.hpp"

#include <deque>

#include <gtest/gtest.h>

#include "support/engine_world.hpp"

namespace holdfast::engine::patrol_test {
namespace {

using core::State;
using testing::succeeding;
using testing::TestHandler;
using testing::TestLane;
using testing::TestNews;
using testing::World;
using namespace std::chrono_literals;

struct SharedWorld : World {
  int claims = 0;
  std::deque<SteadyTime> asked;  // when, whatever was asked

  SharedWorld() {
    news = std::make_unique<TestNews>();
    options.sole_owner = false;
    options.sweep_every = 2s;
    lane.seen = [this](const ports::Request& request) {
      claims += std::holds_alternative<ports::Asked<ports::Claim>>(request) ? 1 : 0;
      asked.push_back(clock.now());
    };
    renew();
  }
  ~SharedWorld() { engine.reset(); }  // the news outlive it

  // Another process does it.
  TaskId submit_elsewhere(const std::string& queue = "q") {
    UuidSource ids(random);
    ports::NewTask task{.id = TaskId(ids.next(clock.wall_now())), .type = "t", .queue = queue};
    task.created = task.due = clock.wall_now();
    const TaskId id = task.id;
    (void)ports::ask(store, ports::Submit{{std::move(task)}});
    clock.advance(1ms);  // the next source begins anew
    return id;
  }

  void pause_elsewhere(bool paused) {
    (void)ports::ask(store, ports::Configure{.queue = "q", .paused = paused});
  }

  // Most of any ten seconds.
  std::size_t most_in_a_window() {
    std::size_t most = 0;
    for (std::size_t begin = 0, end = 0; end < asked.size(); ++end) {
      while (asked[end] - asked[begin] >= 10s)
        ++begin;
      most = std::max(most, end - begin + 1);
    }
    return most;
  }
};

TEST(News, a_queue_that_was_empty_is_asked_as_soon_as_it_is_told_of) {
  SharedWorld world;
  const auto handler = succeeding();
  world.run(handler);
  world.loop.pass(5s);
  const int before = world.claims;
  const TaskId id = world.submit_elsewhere();
  world.loop.settle();
  EXPECT_EQ(world.state(id), State::pending);
  world.news->tell("another");
  world.loop.settle();
  EXPECT_EQ(world.claims, before);
  world.news->tell("q");
  world.loop.settle();
  EXPECT_EQ(world.state(id), State::succeeded);
}

TEST(News, what_may_have_been_missed_has_every_queue_asked) {
  SharedWorld world;
  world.engine->serve({.name = "other"});
  world.run(succeeding());
  world.loop.pass(5s);
  const TaskId first = world.submit_elsewhere();
  const TaskId second = world.submit_elsewhere("other");
  world.news->tell({.any = true});
  world.loop.settle();
  EXPECT_EQ(world.state(first), State::succeeded);
  EXPECT_EQ(world.state(second), State::succeeded);
}

TEST(News, that_come_while_a_claim_is_under_way_have_it_asked_again) {
  SharedWorld world;
  world.run(succeeding());
  world.lane.takes = 2ms;
  world.news->tell("q");
  world.loop.pass(1ms);
  world.lane.takes = 0ms;
  std::optional<TaskId> id;
  world.lane.seen = [&](const ports::Request& request) {
    // Right behind the claim that does not find it.
    if (id || !std::holds_alternative<ports::Asked<ports::Claim>>(request)) return;
    world.loop.post([&] { id = world.submit_elsewhere(); });
    world.news->tell("q");
  };
  world.loop.pass(5ms);
  ASSERT_TRUE(id);
  EXPECT_EQ(world.state(*id), State::succeeded);
}

TEST(News, that_a_queue_goes_on_has_it_asked) {  // paused elsewhere, and resumed there
  SharedWorld world;
  world.run(succeeding());
  world.pause_elsewhere(true);
  const TaskId id = world.submit_elsewhere();
  world.news->tell("q");
  world.loop.pass(5s);
  EXPECT_EQ(world.state(id), State::pending);
  world.pause_elsewhere(false);
  world.news->tell("q");
  world.loop.settle();
  EXPECT_EQ(world.state(id), State::succeeded);
}

TEST(News, wake_those_who_wait_for_a_loan) {
  SharedWorld world;
  world.engine->start();
  world.loop.settle();
  std::vector<ports::TaskRecord> lent;
  const auto keep = [&](Result<std::vector<ports::TaskRecord>> answer) {
    lent.insert(lent.end(), answer->begin(), answer->end());
  };
  (void)world.engine->lend({.queue = "q", .worker = "w", .wait = 1min}, keep);
  (void)world.engine->lend({.queue = "other", .worker = "w", .wait = 1min}, keep);
  world.loop.pass(5s);
  world.submit_elsewhere();
  world.submit_elsewhere("other");
  world.loop.pass(1s);
  EXPECT_TRUE(lent.empty());
  world.news->tell("q");
  world.loop.settle();
  EXPECT_EQ(lent.size(), 1U);
  world.news->tell({.any = true});
  world.loop.settle();
  EXPECT_EQ(lent.size(), 2U);
}

TEST(News, are_not_heard_by_an_engine_that_stops_or_is_gone) {
  SharedWorld world;
  world.run(succeeding());
  EXPECT_TRUE(world.news->has_listener());
  world.news->tell("q");  // on its way when it stops
  bool stopped = false;
  world.engine->shut_down([&](auto) { stopped = true; });
  EXPECT_FALSE(world.news->has_listener());
  const int before = world.claims;
  world.loop.pass(1s);
  EXPECT_TRUE(stopped);
  EXPECT_EQ(world.claims, before);

  world.renew();
  world.run(succeeding());
  world.news->tell("q");  // on its way when it goes
  world.engine.reset();
  EXPECT_FALSE(world.news->has_listener());
  world.loop.pass(1s);
}

TEST(News, of_an_engine_that_has_not_started_are_not_its_own) {
  SharedWorld world;
  world.run(succeeding());
  Engine client(Parts{.loop = world.loop,
                      .writer = world.lane,
                      .reader = world.lane,
                      .clock = world.clock,
                      .random = world.random,
                      .news = world.news.get()},
                {.owner = "client"});
  EXPECT_TRUE(world.news->has_listener());
}

TEST(Patrol, a_word_that_was_lost_delays_a_task_and_no_more) {
  SharedWorld world;
  world.run(succeeding());
  world.loop.pass(5s);
  const TaskId id = world.submit_elsewhere();
  world.loop.pass(20s);
  EXPECT_EQ(world.state(id), State::pending);
  world.loop.pass(35s);
  EXPECT_EQ(world.state(id), State::succeeded);
}

TEST(Patrol, every_queue_has_its_turn) {
  SharedWorld world;
  for (const char* queue : {"a", "b", "c", "d", "e"})
    world.engine->serve({.name = queue});
  world.run(succeeding());
  std::vector<TaskId> ids;
  for (const char* queue : {"a", "b", "c", "d", "e"})
    ids.push_back(world.submit_elsewhere(queue));
  world.loop.pass(90s);
  for (const TaskId& id : ids)
    EXPECT_EQ(world.state(id), State::succeeded);
}

TEST(Patrol, without_news_every_sweep_looks) {
  SharedWorld world;
  world.engine.reset();
  world.news.reset();
  world.renew();
  world.run(succeeding());
  const TaskId id = world.submit_elsewhere();
  world.loop.pass(3s);
  EXPECT_EQ(world.state(id), State::succeeded);
}

TEST(Patrol, an_idle_worker_asks_the_store_at_most_once_a_second) {
  SharedWorld world;
  world.options.keep.dead = 48h;
  world.renew();
  for (const char* queue : {"a", "b", "c", "d", "e", "f", "g", "h"})
    world.engine->serve({.name = queue});
  world.engine->consume_dead_letters({.queue = "q"});
  world.run(succeeding());
  world.loop.pass(15s);  // what a start costs
  world.asked.clear();
  world.loop.pass(15min);
  EXPECT_LE(world.most_in_a_window(), 10U);
  EXPECT_GT(world.asked.size(), 15U * 30);  // it sweeps all the time
}

TEST(Patrol, a_queue_that_is_blocked_is_not_asked_more_often) {
  SharedWorld world;
  world.pause_elsewhere(true);
  world.submit_elsewhere();
  world.run(succeeding());
  world.loop.pass(15s);
  world.asked.clear();
  world.loop.pass(5min);
  EXPECT_LE(world.most_in_a_window(), 10U);
}

TEST(Patrol, a_task_that_is_due_later_is_claimed_when_it_is_due) {
  SharedWorld world;
  const auto handler = succeeding();
  world.run(handler);
  const TaskId id = world.submit({.due = world.clock.wall_now() + 7s});
  world.loop.pass(6900ms);
  EXPECT_EQ(world.state(id), State::pending);
  world.loop.pass(200ms);
  EXPECT_EQ(world.state(id), State::succeeded);
}

// Two engines on one store: both sweep and tidy up.
struct TwoEngines : SharedWorld {
  TestLane other_lane{loop, store};
  TestNews other_news;
  std::unique_ptr<Engine> other;

  void start_other(std::shared_ptr<ports::Handler> handler) {
    Options theirs = options;
    theirs.owner = "life 2";
    other = std::make_unique<Engine>(Parts{.loop = loop,
                                           .writer = other_lane,
                                           .reader = other_lane,
                                           .clock = clock,
                                           .random = random,
                                           .log = Logger(log, clock, Level::debug),
                                           .news = &other_news},
                                     theirs);
    other->handle("t", {.handler = std::move(handler)});
    other->serve({.name = "q"});
    other->start();
    loop.settle();
  }
};

TEST(Shared, several_janitors_remove_what_is_old_once) {  // T7
  TwoEngines world;
  world.options.sweep_every = 1h;  // so that a day is not long
  world.options.janitor_every = 1h;
  world.options.look_every = 1h;
  world.renew();
  world.run(succeeding());
  world.start_other(succeeding());
  for (int i = 0; i < 30; ++i)
    world.submit();
  world.loop.pass(26h);
  EXPECT_TRUE(world.store.tasks().empty());
  EXPECT_EQ(world.engine->stats().purged + world.other->stats().purged, 30U);
}

TEST(Shared, of_several_rescuers_one_has_each_task) {  // T11
  TwoEngines world;
  world.options.lease = 3s;
  world.renew();
  const auto held = std::make_shared<TestHandler>();
  world.run(held);
  const TaskId id = world.submit();
  ASSERT_TRUE(held->runs.front()->begin());
  world.engine.reset();  // that is a crash

  world.options.owner = "life 3";
  world.renew();
  world.run(succeeding(), {.wait = retry::no_wait()});
  world.start_other(succeeding());
  world.loop.pass(10s);
  EXPECT_EQ(world.state(id), State::succeeded);
  EXPECT_EQ(world.record(id).task.spent.crashes, 1);
  EXPECT_EQ(world.engine->stats().rescued + world.other->stats().rescued, 1U);
}

}  // namespace
}  // namespace holdfast::engine::patrol_test
