// What leaves the queue is in the backup first.
#include <algorithm>

#include <gtest/gtest.h>

#include "support/recovery_world.hpp"

namespace holdfast::recovery::run_backup_test {
namespace {

using namespace std::chrono_literals;
using testing::counts;
using testing::dead;
using testing::World;

std::ptrdiff_t place_of(const World& world, const std::string& line) {
  return std::ranges::find(world.broker.log, line) - world.broker.log.begin();
}

TEST(RunBackup, a_message_is_on_the_disk_before_its_copy_is_sent) {
  World world;
  world.backs_up = true;
  world.options.window = 1;
  world.put(3);
  EXPECT_TRUE(world.run().all_done());
  EXPECT_EQ(world.backup.ids(), (std::vector<std::string>{"m1", "m2", "m3"}));
  EXPECT_LT(place_of(world, "stored"), place_of(world, "publish m1"));
  EXPECT_EQ(std::ranges::count(world.broker.log, "stored"), 3);
  EXPECT_LT(place_of(world, "confirm m1"), place_of(world, "ack m1"));
}

TEST(RunBackup, what_comes_together_is_stored_together) {
  World world;
  world.backs_up = true;
  world.options.window = 50;
  world.put(50);
  world.run();
  EXPECT_EQ(world.backup.ids().size(), 50U);
  EXPECT_LT(std::ranges::count(world.broker.log, "stored"), 10);
}

TEST(RunBackup, if_it_cannot_be_written_nothing_leaves_the_queue) {
  World world;
  world.backs_up = world.backup.broken = true;
  world.put(9);
  const Summary& summary = world.run();
  EXPECT_EQ(summary.ended, Ended::failed);
  EXPECT_EQ(summary.error->message, "b.jsonl: No space left on device");
  EXPECT_EQ(world.broker.ids("dlq").size(), 9U);
  EXPECT_TRUE(world.broker.published.empty());
}

TEST(RunBackup, a_full_disk_ends_a_run_with_what_is_stored_recovered) {
  World world;
  world.backs_up = true;
  world.options.window = 1;
  world.broker.fault = [&](const ports::Outgoing&) -> std::optional<ports::Sent> {
    world.backup.broken = world.broker.published.size() >= 4;
    return std::nullopt;
  };
  world.put(9);
  const Summary& summary = world.run();
  EXPECT_EQ(summary.recovered.total(), 4U);
  EXPECT_EQ(world.broker.ids("target"), world.backup.ids());
  EXPECT_EQ(world.broker.ids("dlq").size(), 5U);
}

TEST(RunBackup, what_is_parked_is_in_it_and_what_stays_is_not) {
  World world;
  world.backs_up = true;
  world.broker.queues["review"];
  world.options.rules.routes = {.map = {{"scan", {.routing_key = "target"}}}};
  world.put(1);
  world.broker.put("dlq", dead("odd", "unheard"));
  world.run();
  EXPECT_EQ(world.backup.ids(), std::vector<std::string>{"m1"});
  world.options.park = "review";
  world.run();
  EXPECT_EQ(world.backup.ids(), (std::vector<std::string>{"m1", "odd"}));
}

TEST(RunBackup, a_message_at_its_limit_stays_as_a_new_one_if_it_cannot_be_stored) {
  World world;
  world.backs_up = true;
  world.broker.counts_returns = true;
  world.broker.facts = counts(2);
  world.put(1);
  world.broker.queues["dlq"].front().handed_back = 2;
  world.backup.broken = true;
  EXPECT_EQ(world.run().ended, Ended::failed);
  EXPECT_TRUE(world.broker.destroyed.empty());
  EXPECT_EQ(world.broker.ids("dlq"), std::vector<std::string>{"m1"});
  EXPECT_TRUE(world.broker.ids("target").empty());
}

TEST(RunBackup, has_a_message_once_if_its_copy_is_sent_again) {
  World world;
  world.backs_up = true;
  world.options.window = 10;
  world.put(5);
  world.broker.answers = false;
  world.start();
  for (int i = 0; i < 20; ++i)
    world.loop.pass(100ms);
  world.broker.cut();
  world.broker.answer();
  world.finish();
  EXPECT_EQ(world.broker.ids("dlq").size(), 0U);
  EXPECT_EQ(world.backup.ids().size(), 5U);
}

TEST(Restore, takes_up_where_the_journal_ends) {
  const auto line = [](std::uint64_t entry, std::string_view event) {
    std::string text;
    append_note(text, WallTime(), "r1", {.event = event, .entry = entry});
    return text;
  };
  RestoredEntries entries("backup b to x", 5);
  std::string begin;
  append_begin(begin, WallTime(), "r1", "backup b to x", 10);
  entries.read(begin);
  for (const std::uint64_t entry : {2, 3, 4, 99})
    entries.read(line(entry, "sending"));
  entries.read(line(2, "recovered"));
  entries.read(line(4, "kept"));
  std::string elsewhere;
  append_begin(elsewhere, WallTime(), "r2", "backup b to y", 10);
  entries.read(elsewhere);
  std::string other;
  append_note(other, WallTime(), "r2", {.event = "recovered", .entry = 5});
  entries.read(other);
  using enum RestoredEntries::Copy;
  EXPECT_EQ(entries.find(1), none);
  EXPECT_EQ(entries.find(2), confirmed);
  EXPECT_EQ(entries.find(3), unknown);
  EXPECT_EQ(entries.find(4), none);
  EXPECT_EQ(entries.find(5), none);
  EXPECT_EQ(entries.find(99), none);
}

}  // namespace
}  // namespace holdfast::recovery::run_backup_test
