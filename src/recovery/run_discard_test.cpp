// Messages that are removed, and sent nowhere.
#include <algorithm>

#include <gtest/gtest.h>

#include "support/recovery_world.hpp"

namespace holdfast::recovery::run_discard_test {
namespace {

using namespace std::chrono_literals;
using testing::dead;
using testing::World;

struct DiscardWorld : World {
  DiscardWorld() { options.rules.routes = {.to = Routes::To::nowhere}; }

  void choose(const std::string& filter) {
    options.rules.filter = Filter::parse(std::vector{filter}).value();
  }
};

TEST(RunDiscard, removes_what_is_chosen_and_leaves_the_rest) {
  DiscardWorld world;
  world.put(5);
  world.choose("id=m2 or id=m4");
  const Summary& summary = world.run();
  EXPECT_EQ(summary.discarded, 2U);
  EXPECT_EQ(summary.passed, 3U);
  EXPECT_EQ(summary.vanished, 0U);
  EXPECT_TRUE(summary.all_done());
  EXPECT_TRUE(world.broker.published.empty());
  EXPECT_EQ(world.broker.ids("dlq"), (std::vector<std::string>{"m1", "m3", "m5"}));
}

TEST(RunDiscard, a_message_is_in_the_backup_before_it_is_removed) {
  DiscardWorld world;
  world.backs_up = world.journals = true;
  world.options.window = 1;
  world.put(3);
  EXPECT_TRUE(world.run().all_done());
  EXPECT_EQ(world.backup.ids(), (std::vector<std::string>{"m1", "m2", "m3"}));
  const auto& log = world.broker.log;
  EXPECT_LT(std::ranges::find(log, "stored"), std::ranges::find(log, "ack m1"));
  EXPECT_TRUE(world.journal.text.contains(R"("event":"discarded")"));
}

TEST(RunDiscard, without_its_backup_removes_nothing) {
  DiscardWorld world;
  world.backs_up = world.backup.broken = true;
  world.put(3);
  const Summary& summary = world.run();
  EXPECT_EQ(summary.ended, Ended::failed);
  EXPECT_EQ(summary.discarded, 0U);
  EXPECT_EQ(world.broker.ids("dlq").size(), 3U);
}

TEST(RunDiscard, a_dry_run_shows_what_would_go) {
  DiscardWorld world;
  world.options.dry = true;
  world.put(4);
  world.choose("id!=m1");
  const Summary& summary = world.run();
  EXPECT_EQ(summary.planned, 3U);
  EXPECT_EQ(summary.discarded, 0U);
  EXPECT_EQ(world.outcome->plan.rows().front().what, Decision::What::discard);
  EXPECT_EQ(world.broker.ids("dlq").size(), 4U);
}

TEST(RunDiscard, N3_also_what_came_back_too_often) {
  DiscardWorld world;
  ports::Message message = dead("m1");
  ports::set_field(message.headers, kRecovered, ports::Field("9, run 0"));
  world.broker.put("dlq", message);
  EXPECT_EQ(world.run().discarded, 1U);
}

TEST(RunDiscard, counts_a_message_once_if_its_acknowledgement_is_lost) {
  DiscardWorld world;
  world.options.window = 3;
  world.put(3);
  world.broker.acknowledges = false;
  world.start();
  world.loop.pass(200ms);
  world.broker.acknowledges = true;
  world.broker.cut();
  const Summary& summary = world.finish();
  EXPECT_EQ(summary.discarded, 3U);
  EXPECT_EQ(summary.recognised, 0U);
  EXPECT_EQ(summary.vanished, 0U);
  EXPECT_EQ(summary.arrived, 0U);
  EXPECT_EQ(summary.duplicates, 0U);
  EXPECT_TRUE(world.broker.ids("dlq").empty());
}

TEST(RunDiscard, ends_at_its_limit) {
  DiscardWorld world;
  world.options.limit = 2;
  world.put(5);
  const Summary& summary = world.run();
  EXPECT_EQ(summary.discarded, 2U);
  EXPECT_TRUE(summary.all_done());
  EXPECT_EQ(world.broker.ids("dlq").size(), 3U);
}

}  // namespace
}  // namespace holdfast::recovery::run_discard_test
