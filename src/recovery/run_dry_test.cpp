// Dry runs: what they tell, and what they leave as it was.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recovery/run.hpp"
#include "support/recovery_world.hpp"

namespace holdfast::recovery::run_dry_test {
namespace {

using namespace std::chrono_literals;
using testing::dead;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::World;

TEST(Run, a_dry_run_leaves_the_queue_as_it_was) {
  World world;
  world.options.dry = true;
  world.options.rules.routes = {
      .map = {{"scan", {.routing_key = "target"}}, {"gone", {.routing_key = "nowhere"}}}};
  world.put(3);
  world.broker.put("dlq", dead("g1", "gone", "expired"));
  world.broker.put("dlq", dead("x1", "nobody"));
  const Summary& summary = world.run();
  EXPECT_THAT(world.broker.published, IsEmpty());
  EXPECT_THAT(world.broker.ids("dlq"), ElementsAre("m1", "m2", "m3", "g1", "x1"));
  EXPECT_FALSE(summary.all_done());
  EXPECT_EQ(summary.planned, 3U);
  EXPECT_EQ(summary.would_fail, 1U);  // there is no queue "nowhere"
  const auto rows = world.outcome->plan.rows();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].type, "scan");
  EXPECT_EQ(rows[0].count, 3U);
  EXPECT_EQ(rows[0].example, "m1");
  EXPECT_EQ(rows[0].target, Plan::Row::Found::there);
  const auto gone = std::ranges::find(rows, "gone", &Plan::Row::type);
  EXPECT_EQ(gone->target, Plan::Row::Found::missing);
  EXPECT_EQ(gone->reason, "expired");
  const auto kept = std::ranges::find(rows, "nobody", &Plan::Row::type);
  EXPECT_EQ(kept->what, Decision::What::skip);
}

TEST(Run, a_dry_run_tells_exchanges_from_queues_of_the_same_name) {
  World world;
  world.options.dry = true;
  world.options.rules.routes = {.map = {{"there", {.exchange = "same", .routing_key = "k"}},
                                        {"gone", {.routing_key = "same"}}}};
  world.broker.exchanges["same"];
  world.broker.put("dlq", dead("t1", "there"));
  for (const char* id : {"g1", "g2"})
    world.broker.put("dlq", dead(id, "gone"));
  EXPECT_EQ(world.run().planned, 1U);
  EXPECT_EQ(world.outcome->summary.would_fail, 2U);
}

TEST(Run, a_dry_run_begins_anew_after_a_lost_connection) {
  World world;
  world.options.dry = true;
  world.put(3);
  world.start();
  world.loop.pass(1s);
  world.broker.cut();
  EXPECT_EQ(world.finish().planned, 3U);
  EXPECT_EQ(world.outcome->plan.rows().at(0).count, 3U);
}

TEST(Run, a_limit_of_a_dry_run_counts_what_that_of_a_run_counts) {
  const auto world = [](bool dry) {
    auto one = std::make_unique<World>();
    one->options.dry = dry;
    one->options.limit = 5;
    one->options.rules.filter = *Filter::parse(std::vector<std::string>{"type=chosen"});
    for (int i = 0; i < 20; ++i)
      one->broker.put("dlq", dead("m" + std::to_string(i), i < 10 ? "other" : "chosen"));
    return one;
  };
  const auto real = world(false);
  EXPECT_EQ(real->run().recovered.total(), 5U);
  const auto dry = world(true);
  const Summary& summary = dry->run();
  EXPECT_EQ(summary.planned, 5U);
  EXPECT_EQ(summary.passed, 10U);
  EXPECT_EQ(summary.seen(), 15U);
  EXPECT_EQ(summary.counted(), real->outcome->summary.counted());
  EXPECT_TRUE(summary.all_done());
  EXPECT_TRUE(summary.is_part());
  EXPECT_EQ(dry->broker.ids("dlq").size(), 20U);
}

TEST(Run, a_dry_run_that_has_not_seen_or_cannot_read_all_is_not_done) {
  Summary summary{.dry = true, .ended = Ended::empty, .found = 2};
  summary.planned = 1;
  EXPECT_FALSE(summary.all_done());
  summary.passed = 1;
  EXPECT_TRUE(summary.all_done());
  summary.skipped.add("it cannot be copied: line 2");
  summary.unreadable.add("line 2");
  EXPECT_FALSE(summary.all_done());
}

TEST(Run, trap_2_a_dry_run_wears_no_message_out) {
  World world;
  world.broker.counts_returns = true;
  world.broker.facts = testing::counts(20);
  world.options.renew_at = 2;
  world.options.dry = true;
  world.put(6);
  for (int i = 0; i < 7; ++i) {
    world.options.rules.run = "run " + std::to_string(i);
    const Summary& summary = world.run();
    EXPECT_EQ(summary.ended, Ended::empty);
    EXPECT_EQ(summary.planned, 6U);
    EXPECT_EQ(summary.renewed, i % 2 == 0 && i > 0 ? 6U : 0U);
    for (const auto& stored : world.broker.queues["dlq"])
      EXPECT_LE(stored.handed_back, 2);
  }
  EXPECT_EQ(world.everywhere().size(), 6U);
  EXPECT_THAT(world.broker.ids("target"), IsEmpty());
}

}  // namespace
}  // namespace holdfast::recovery::run_dry_test
