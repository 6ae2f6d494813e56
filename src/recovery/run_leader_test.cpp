// Runs on quorum queues whose leader is lost: the broker says then that they are empty, and may
// refuse what is published to them.
#include <functional>
#include <optional>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recovery/run.hpp"
#include "support/recovery_world.hpp"

namespace holdfast::recovery::run_leader_test {
namespace {

using namespace std::chrono_literals;
using ports::Fate;
using testing::counts;
using ::testing::ElementsAre;
using testing::World;

struct QuorumWorld : World {
  QuorumWorld() {
    broker.counts_returns = true;
    broker.facts = counts(std::nullopt);
  }
};

// P6
TEST(RunLeader, a_queue_without_a_leader_is_not_empty) {
  QuorumWorld world;
  world.put(3);
  world.broker.has_leader = false;
  world.start();
  EXPECT_FALSE(world.seen.at_start);
  world.broker.has_leader = true;
  const Summary& summary = world.finish();
  EXPECT_EQ(world.seen.at_start, 3U);
  EXPECT_EQ(summary.found, 3U);
  EXPECT_EQ(summary.recovered.total(), 3U);
  EXPECT_EQ(summary.arrived, 0U);
  EXPECT_TRUE(summary.all_done());
}

TEST(RunLeader, a_queue_that_is_empty_is_reported_as_soon_as_it_has_said_so_to_its_consumer) {
  for (const bool dry : {false, true}) {
    QuorumWorld world;
    world.options.dry = dry;
    const Summary& summary = world.run();
    EXPECT_EQ(summary.ended, Ended::empty);
    EXPECT_EQ(world.seen.at_start, 0U);
    EXPECT_EQ(summary.left, 0U);
    EXPECT_LT(summary.took, 1s);
    EXPECT_TRUE(summary.all_done());
  }
}

TEST(RunLeader, a_leader_that_is_lost_does_not_end_the_run) {
  QuorumWorld world;
  world.options.limits.empty = 2s;
  world.put(1);
  world.start();
  world.loop.pass(1s);
  world.broker.has_leader = false;
  world.loop.pass(5s);
  EXPECT_FALSE(world.outcome);
  world.broker.has_leader = true;
  world.put(1, "n");
  EXPECT_EQ(world.finish().recovered.total(), 2U);
}

// P6
TEST(RunLeader, what_is_left_is_unknown_if_the_queue_cannot_be_reached_at_the_end) {
  QuorumWorld world;
  world.options.rate = 1;
  world.put(10);
  world.start();
  world.loop.pass(2s);
  world.broker.has_leader = false;
  world.current->stop();
  const Summary& summary = world.finish();
  EXPECT_EQ(summary.found, 10U);
  EXPECT_FALSE(summary.left);
  EXPECT_EQ(summary.vanished, 0U);
  EXPECT_FALSE(summary.all_done());
}

TEST(RunLeader, what_is_left_is_counted_if_the_queue_has_a_leader_again_in_time) {
  QuorumWorld world;
  world.options.rate = 1;
  world.put(10);
  world.start();
  world.loop.pass(2s);
  world.broker.has_leader = false;
  world.current->stop();
  world.loop.pass(2s);
  world.broker.has_leader = true;
  const Summary& summary = world.finish();
  ASSERT_TRUE(summary.left);
  EXPECT_EQ(*summary.left + summary.recovered.total(), 10U);
}

// As of a new connection, while the leader of the target is being elected.
std::function<std::optional<ports::Sent>(const ports::Outgoing&)> refuses(const bool& does) {
  return [&does](const ports::Outgoing& outgoing) -> std::optional<ports::Sent> {
    if (!does || outgoing.to.routing_key != "target") return std::nullopt;
    return ports::Sent{Fate::refused, {ErrorCode::exhausted, "publish", "not taken"}};
  };
}

// V2, V11
TEST(RunLeader, what_a_target_refuses_for_a_moment_is_sent_again_in_its_order) {
  World world;
  bool refusing = true;
  world.broker.fault = refuses(refusing);
  world.put(10);
  world.start();
  world.loop.pass(2s);
  refusing = false;
  const Summary& summary = world.finish();
  EXPECT_THAT(world.broker.ids("target"),
              ElementsAre("m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10"));
  EXPECT_EQ(summary.duplicates, 0U);
  EXPECT_TRUE(summary.all_done());
  EXPECT_EQ(world.seen.count(Warning::Kind::failed), 0U);
}

TEST(RunLeader, what_a_target_goes_on_to_refuse_is_kept) {
  World world;
  const bool refusing = true;
  world.broker.fault = refuses(refusing);
  world.put(100);
  const Summary& summary = world.run();
  EXPECT_EQ(summary.failed.total(), 100U);
  EXPECT_EQ(summary.left, 100U);
  EXPECT_LT(summary.took, 20s);
}

TEST(RunLeader, a_lost_connection_is_a_reason_to_wait_once_more) {
  World world;
  bool refusing = true;
  world.broker.fault = refuses(refusing);
  world.put(2);
  world.start();
  for (int step = 0; step < 40 && world.seen.count(Warning::Kind::failed) < 2; ++step)
    world.loop.pass(500ms);
  EXPECT_EQ(world.seen.count(Warning::Kind::failed), 2U);
  world.broker.cut();
  world.loop.pass(2s);
  refusing = false;
  EXPECT_EQ(world.finish().recovered.total(), 2U);
}

TEST(RunLeader, what_an_exchange_has_refused_may_be_there_twice) {
  World world;
  world.options.rules.routes = {.to = Routes::To::origin_exchange};
  world.broker.exchanges["jobs"].emplace("scan", "target");
  bool refusing = true;
  world.broker.fault = [&](const ports::Outgoing&) -> std::optional<ports::Sent> {
    if (!std::exchange(refusing, false)) return std::nullopt;
    return ports::Sent{Fate::refused, {ErrorCode::exhausted, "publish", "not taken"}};
  };
  world.put(1);
  const Summary& summary = world.run();
  EXPECT_EQ(summary.recovered.total(), 1U);
  EXPECT_EQ(summary.duplicates, 1U);
}

}  // namespace
}  // namespace holdfast::recovery::run_leader_test
