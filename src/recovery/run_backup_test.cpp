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

using enum RestoredEntries::Copy;

// A file, by the letters of its messages ("-": a line that is damaged), after a line of the run.
std::vector<Identity> sums_of(std::string_view letters, std::string_view run = "r1") {
  std::vector<Identity> sums;
  const auto add = [&](const std::string& text) {
    const auto line = parse_backup_line(std::string_view(text).substr(0, text.size() - 1));
    sums.push_back(line ? line->sum : Identity());
  };
  std::string begin;
  append_backup_begin(begin, WallTime(), run, "amqp://x/q");
  add(begin);
  for (const char letter : letters) {
    std::string text = "-";
    if (letter != '-') {
      text.clear();
      append_backup_message(text, {.tag = {}, .message = dead({letter}), .from = {}}, "q", run);
    }
    add(text);
  }
  return sums;
}

// The journal of restores at one broker.
struct Restores {
  std::string text;

  RestoredEntries entries(const std::vector<Identity>& sums,
                          const std::string& place = "backup to x") const {
    RestoredEntries read(place, sums);
    for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
      end = text.find('\n', at);
      read.read(std::string_view(text).substr(at, end - at));
    }
    return read;
  }
  void begin(const std::string& place = "backup to x") {
    append_begin(text, WallTime(), "restore " + place, place, 10);
  }
  void add(std::string_view event, const RestoredEntries& entries, std::uint64_t line,
           const std::string& place = "backup to x") {
    append_note(text, WallTime(), "restore " + place,
                {.event = event, .entry = entries.name_of(line)});
  }
  // All that was not before; how many that were.
  std::size_t restore(const std::vector<Identity>& sums) {
    begin();
    const RestoredEntries before = entries(sums);
    std::size_t restored = 0;
    for (std::uint64_t line = 2; line <= sums.size(); ++line) {
      if (sums[line - 1] == Identity() || before.find(line) == confirmed) continue;
      add("recovered", before, line);
      ++restored;
    }
    return restored;
  }
};

TEST(Restore, takes_up_where_the_journal_ends) {
  const auto sums = sums_of("abcd");
  Restores restores;
  restores.begin();
  const RestoredEntries none_yet = restores.entries(sums);
  for (const std::uint64_t line : {2, 3, 4, 99})
    restores.add("sending", none_yet, line);
  restores.add("recovered", none_yet, 2);
  restores.add("kept", none_yet, 4);
  restores.begin("backup to y");
  restores.add("recovered", none_yet, 5, "backup to y");
  const RestoredEntries entries = restores.entries(sums);
  EXPECT_EQ(entries.find(1), none);
  EXPECT_EQ(entries.find(2), confirmed);
  EXPECT_EQ(entries.find(3), unknown);
  EXPECT_EQ(entries.find(4), none);
  EXPECT_EQ(entries.find(5), none);
  EXPECT_EQ(entries.find(99), none);
}

// V2
TEST(Restore, V2_a_line_is_known_wherever_it_stands) {
  Restores restores;
  EXPECT_EQ(restores.restore(sums_of("a-defgh")), 6U);  // b and c became one line
  EXPECT_EQ(restores.restore(sums_of("abcdefgh")), 2U);
  EXPECT_EQ(restores.restore(sums_of("abcdefgh")), 0U);
}

// V2
TEST(Restore, V2_two_backups_that_begin_alike_are_two) {
  const auto with = [](const std::string& begin, std::string_view more, std::string_view run) {
    auto sums = sums_of(begin);
    const auto others = sums_of(more, run);
    sums.insert(sums.end(), others.begin() + 1, others.end());
    return sums;
  };
  Restores restores;
  EXPECT_EQ(restores.restore(with("ab", "xyz", "r2")), 5U);
  EXPECT_EQ(restores.restore(with("ab", "xzv", "r3")),
            3U);  // other messages, though they look alike
}

// V2
TEST(Restore, V2_two_lines_of_the_same_are_two_messages) {
  Restores restores;
  EXPECT_EQ(restores.restore(sums_of("aba-a")), 4U);
  EXPECT_EQ(restores.restore(sums_of("abaaa")), 1U);
  EXPECT_EQ(restores.restore(sums_of("abaaa")), 0U);
}

}  // namespace
}  // namespace holdfast::recovery::run_backup_test
