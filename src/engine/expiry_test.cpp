#include "engine/expiry.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "support/engine_world.hpp"

namespace holdfast::engine::expiry_test {
namespace {

using core::State;
using testing::failing;
using testing::World;
using namespace std::chrono_literals;

// What was kept, by heap; and a wish to fail.
struct Spilled {
  std::vector<std::vector<ports::TaskRecord>> heaps;
  std::optional<Error> fails_to_add;
  std::optional<Error> fails_to_keep;
  std::size_t drops = 0;
  std::size_t most_at_once = 0;

  [[nodiscard]] std::multiset<TaskId> ids() const {
    std::multiset<TaskId> ids;
    for (const auto& heap : heaps)
      for (const ports::TaskRecord& task : heap)
        ids.insert(task.id);
    return ids;
  }
};

class TestSpill final : public ports::Spill {
 public:
  TestSpill(ports::Loop& loop, Spilled& spilled) : loop_(loop), spilled_(spilled) {}

  void add(State /*state*/, std::vector<ports::TaskRecord> tasks, Added done) override {
    spilled_.most_at_once = std::max(spilled_.most_at_once, tasks.size());
    std::ranges::move(tasks, std::back_inserter(heap_));
    Result<void> answer;
    if (spilled_.fails_to_add) answer = std::unexpected(*spilled_.fails_to_add);
    loop_.post([done = std::move(done), answer]() mutable { done(answer); });
  }
  void keep(Kept done) override {
    Result<std::string> answer = "heap " + std::to_string(spilled_.heaps.size() + 1);
    if (spilled_.fails_to_keep) answer = std::unexpected(*spilled_.fails_to_keep);
    if (answer) spilled_.heaps.push_back(std::exchange(heap_, {}));
    loop_.post([done = std::move(done), answer]() mutable { done(answer); });
  }
  void drop() override {
    ++spilled_.drops;
    heap_.clear();
  }

 private:
  ports::Loop& loop_;
  Spilled& spilled_;
  std::vector<ports::TaskRecord> heap_;
};

// What one life has written, the next one reads.
class TestMemo final : public ports::Memo {
 public:
  explicit TestMemo(std::string& text) : text_(text), last_life_(text) {}
  [[nodiscard]] std::string_view last_life() const noexcept override { return last_life_; }
  void write(std::string text) override { text_ = std::move(text); }

 private:
  std::string& text_;
  const std::string last_life_;
};

class Told final : public Observer {
 public:
  void expiring(const Expiring& expiring) noexcept override { latest[expiring.state] = expiring; }
  void expired(const Expired& expired) noexcept override {
    removed += expired.removed;
    spilled += expired.spilled;
  }
  void not_spilled(State /*state*/) noexcept override { ++failures; }

  std::map<State, Expiring> latest;
  std::size_t removed = 0;
  std::size_t spilled = 0;
  std::size_t failures = 0;
};

// Dead letters are kept for 48 hours, and announced 4 hours before.
struct ExpiryWorld : World {
  Told told;
  Spilled spilled;
  std::string remembered;
  bool remembers = false;
  bool spills = false;

  ExpiryWorld() {
    options.sweep_every = 1h;
    options.janitor_every = 30min;
    options.lease = 1000h;
    options.keep.dead = 48h;
    options.keep.warning = 4h;
    options.observer = &told;
  }

  void live() {
    if (spills) spill = std::make_unique<TestSpill>(loop, spilled);
    if (remembers) memo = std::make_unique<TestMemo>(remembered);
    renew();
    told.latest.clear();
    run(failing({.message = "no"}), {.attempts = 1});
  }
  void be_off(Duration span) {
    engine.reset();
    loop.pass(span);
  }
  [[nodiscard]] bool has(const TaskId& id) const { return store.tasks().contains(id); }
  [[nodiscard]] std::size_t expiring(State state = State::dead) const {
    const auto found = told.latest.find(state);
    return found == told.latest.end() ? 0 : found->second.count;
  }
};

TEST(Expiry, leaves_failed_and_dead_tasks_alone) {  // T5, N9
  ExpiryWorld world;
  world.options.keep = {};
  world.live();
  const TaskId id = world.submit();
  world.clock.advance(24h * 365);
  world.loop.settle();
  EXPECT_EQ(world.state(id), State::dead);
  EXPECT_EQ(world.expiring(), 0U);
}

TEST(Expiry, announces_dead_letters_before_it_removes_them) {  // T5, N9
  ExpiryWorld world;
  world.live();
  const WallTime ended = world.clock.wall_now();
  const TaskId id = world.submit();
  world.submit();
  world.loop.pass(43h);
  EXPECT_EQ(world.expiring(), 0U);
  EXPECT_TRUE(world.log.of("janitor.expiring").empty());
  world.loop.pass(1h + 31min);
  EXPECT_EQ(world.expiring(), 2U);
  const WallTime from = world.told.latest[State::dead].from;
  EXPECT_GE(from, ended + 48h);
  EXPECT_LE(from, ended + 48h + 31min);
  ASSERT_GE(world.log.of("janitor.expiring").size(), 1U);
  EXPECT_EQ(world.log.of("janitor.expiring")[0].level, Level::warning);
  EXPECT_EQ(world.log.of("janitor.expiring")[0].fields.at("tasks"), "2");
  EXPECT_EQ(world.log.of("janitor.expiring")[0].fields.at("state"), "dead");
  world.loop.pass(3h + 28min);  // 47:59
  EXPECT_TRUE(world.has(id));
  world.loop.pass(from - world.clock.wall_now() + 31min);
  EXPECT_FALSE(world.has(id));
  EXPECT_EQ(world.expiring(), 0U);
  EXPECT_EQ(world.told.removed, 2U);
  EXPECT_EQ(world.engine->stats().purged, 2U);
  EXPECT_EQ(world.log.of("janitor.removed").size(), 1U);
}

TEST(Expiry, does_not_say_it_for_each_of_them) {  // N9
  ExpiryWorld world;
  world.live();
  for (int i = 0; i < 50; ++i)
    world.submit();
  world.loop.pass(47h);
  EXPECT_LE(world.log.of("janitor.expiring").size(), 4U);
}

TEST(Expiry, leaves_what_is_brought_back_meanwhile_alone) {  // N9
  ExpiryWorld world;
  world.live();
  const TaskId id = world.submit();
  world.loop.pass(45h);
  EXPECT_EQ(world.expiring(), 1U);
  world.engine->replay(id, {}, [](auto) {});
  world.loop.pass(4h);
  EXPECT_TRUE(world.has(id)) << "it died again since";
  EXPECT_EQ(world.expiring(), 0U);
}

TEST(Expiry, removes_those_that_go_on_coming_one_after_the_other) {  // N9
  ExpiryWorld world;
  world.live();
  std::vector<std::pair<TaskId, WallTime>> all;
  for (int hour = 0; hour < 100; ++hour) {
    all.emplace_back(world.submit(), world.clock.wall_now());
    world.loop.pass(1h);
    for (const auto& [id, ended] : all) {
      const Duration age = world.clock.wall_now() - ended;
      if (age < 48h) EXPECT_TRUE(world.has(id)) << age.count();
      if (age > 49h + 31min) EXPECT_FALSE(world.has(id)) << age.count();
    }
  }
  EXPECT_GE(world.expiring(), 3U);
}

TEST(Expiry, keeps_what_is_kept_for_less_than_its_warning_for_that_long) {  // N9
  ExpiryWorld world;
  world.options.keep.dead = 1min;
  world.live();
  const TaskId id = world.submit();
  world.loop.pass(3h + 59min);
  EXPECT_TRUE(world.has(id));
  EXPECT_EQ(world.expiring(), 1U);
  world.loop.pass(2h);
  EXPECT_FALSE(world.has(id));
}

TEST(Expiry, warns_by_a_tenth_of_the_time_unless_told_otherwise) {  // N9
  EXPECT_EQ(usual_warning(30s), 1h);
  EXPECT_EQ(usual_warning(24h), 2h + 24min);
  EXPECT_EQ(usual_warning(24h * 90), 12h);
}

TEST(Expiry, treats_failed_tasks_likewise) {  // N9
  ExpiryWorld world;
  world.spills = true;
  world.options.keep = {.failed = 100h};
  world.live();
  world.engine->consume_dead_letters({.queue = "q", .rule = DeadLetters::Rule::fail});
  const TaskId id = world.submit();
  world.loop.pass(91h);
  EXPECT_EQ(world.state(id), State::failed);
  EXPECT_EQ(world.expiring(State::failed), 1U);
  EXPECT_EQ(world.expiring(State::dead), 0U);
  world.loop.pass(10h);
  EXPECT_FALSE(world.has(id));
  EXPECT_EQ(world.spilled.ids(), std::multiset<TaskId>{id});
}

TEST(Expiry, announces_anew_after_a_restart_where_nothing_is_remembered) {  // N9
  ExpiryWorld world;
  world.live();
  const TaskId id = world.submit();
  world.loop.pass(47h);
  EXPECT_EQ(world.expiring(), 1U);
  world.be_off(2h);
  world.live();
  EXPECT_EQ(world.expiring(), 1U);
  world.loop.pass(3h + 59min);
  EXPECT_TRUE(world.has(id));
  world.loop.pass(2h);
  EXPECT_FALSE(world.has(id));
}

TEST(Expiry, comes_to_remove_them_however_often_it_is_restarted) {  // N9
  ExpiryWorld world;
  world.remembers = true;
  world.options.keep.warning = 20h;
  world.live();
  const TaskId id = world.submit();
  for (int hours = 0; hours < 48; hours += 2) {
    EXPECT_TRUE(world.has(id)) << hours;
    world.loop.pass(2h - 1min);
    world.be_off(1min);
    world.live();
  }
  world.loop.pass(2h);
  EXPECT_FALSE(world.has(id));
}

TEST(Expiry, announces_first_what_a_shorter_time_to_keep_would_remove_at_once) {  // N9
  ExpiryWorld world;
  world.remembers = true;
  world.options.keep.dead = 24h * 365;
  world.live();
  const TaskId id = world.submit();
  world.loop.pass(24h * 30);
  world.be_off(1min);
  world.options.keep.dead = 48h;
  world.live();
  EXPECT_EQ(world.expiring(), 1U);
  EXPECT_EQ(world.told.latest[State::dead].from, world.clock.wall_now() + 4h);
  world.loop.pass(3h + 59min);
  EXPECT_TRUE(world.has(id));
  world.loop.pass(1h);
  EXPECT_FALSE(world.has(id));
}

TEST(Expiry, announces_first_what_has_grown_too_old_while_nothing_ran) {  // N9
  ExpiryWorld world;
  world.remembers = true;
  world.live();
  const TaskId early = world.submit();
  world.loop.pass(20h);
  const TaskId late = world.submit();
  world.loop.pass(26h);  // the first is announced by now
  EXPECT_EQ(world.expiring(), 1U);
  world.be_off(24h * 10);
  world.live();
  EXPECT_FALSE(world.has(early));
  EXPECT_TRUE(world.has(late));
  EXPECT_EQ(world.expiring(), 1U);
  world.loop.pass(3h + 59min);
  EXPECT_TRUE(world.has(late));
  world.loop.pass(1h);
  EXPECT_FALSE(world.has(late));
}

TEST(Expiry, announces_first_what_a_leap_of_the_clock_would_remove_at_once) {  // N9
  ExpiryWorld world;
  world.live();
  const TaskId id = world.submit();
  world.loop.pass(1h);
  world.clock.advance(24h * 365);
  world.loop.settle();
  EXPECT_TRUE(world.has(id));
  EXPECT_EQ(world.expiring(), 1U);
}

TEST(Expiry, looks_through_the_dead_letters_rarely) {
  ExpiryWorld world;
  world.live();
  world.submit();
  int lists = 0;
  world.lane.seen = [&](const ports::Request& request) {
    lists += std::holds_alternative<ports::Asked<ports::List>>(request) ? 1 : 0;
  };
  world.loop.pass(43h);
  EXPECT_LE(lists, 1);
}

TEST(Expiry, goes_on_the_next_time_when_the_store_was_away) {  // T10
  ExpiryWorld world;
  world.live();
  const TaskId id = world.submit();
  world.loop.pass(45h);
  world.lane.away = Error{ErrorCode::unavailable, "store", "away"};
  world.loop.pass(4h);
  world.lane.away.reset();
  EXPECT_TRUE(world.has(id));
  world.loop.pass(31min);
  EXPECT_FALSE(world.has(id));
}

TEST(Expiry, spills_whole_tasks_before_it_removes_them) {  // N9
  ExpiryWorld world;
  world.spills = true;
  world.live();
  const TaskId id = world.submit({.payload = "the payload", .key = "k", .trace = "t"});
  std::multiset<TaskId> all{id};
  for (int i = 0; i < 30; ++i)
    all.insert(world.submit());
  world.loop.pass(20h);
  const TaskId later = world.submit();
  bool purged_unspilled = false;
  world.lane.seen = [&](const ports::Request& request) {
    const auto* purge = std::get_if<ports::Asked<ports::Purge>>(&request);
    if (!purge || purge->verb.state != State::dead || purge->verb.ended_before == WallTime())
      return;
    purged_unspilled = purged_unspilled || world.spilled.ids() != all;
  };
  world.loop.pass(30h);
  EXPECT_FALSE(purged_unspilled);
  EXPECT_EQ(world.spilled.ids(), all);
  ASSERT_EQ(world.spilled.heaps.size(), 1U);
  EXPECT_LE(world.spilled.most_at_once, 8U) << "payloads may be large";
  EXPECT_EQ(world.store.tasks().size(), 1U);
  EXPECT_TRUE(world.has(later));
  const auto& heap = world.spilled.heaps[0];
  const auto whole = std::ranges::find(heap, id, &ports::TaskRecord::id);
  ASSERT_NE(whole, heap.end());
  EXPECT_EQ(whole->payload, "the payload");
  EXPECT_EQ(whole->attempts.size(), 1U);
  EXPECT_EQ(whole->attempts[0].failure->message, "no");
  EXPECT_EQ(world.log.of("janitor.removed")[0].fields.at("file"), "heap 1");
  EXPECT_EQ(world.told.spilled, 31U);
}

TEST(Expiry, removes_nothing_that_cannot_be_spilled) {  // N9, T5
  for (const bool while_adding : {true, false}) {
    ExpiryWorld world;
    world.spills = true;
    (while_adding ? world.spilled.fails_to_add : world.spilled.fails_to_keep) =
        Error{ErrorCode::exhausted, "write", "disk full"};
    world.live();
    for (int i = 0; i < 20; ++i)
      world.submit();
    world.loop.pass(50h);
    EXPECT_EQ(world.store.tasks().size(), 20U);
    EXPECT_GE(world.told.failures, 1U);
    EXPECT_LE(world.told.failures, 10U) << "not all the time";
    EXPECT_EQ(world.spilled.drops, world.told.failures);
    EXPECT_EQ(world.expiring(), 20U);
    ASSERT_GE(world.log.of("janitor.not_spilled").size(), 1U);
    EXPECT_EQ(world.log.of("janitor.not_spilled")[0].level, Level::error);
    EXPECT_EQ(world.log.of("janitor.not_spilled")[0].fields.at("error"), "write: disk full");
    world.spilled.fails_to_add.reset();
    world.spilled.fails_to_keep.reset();
    world.loop.pass(1h);
    EXPECT_TRUE(world.store.tasks().empty());
    EXPECT_EQ(world.spilled.ids().size(), 20U);
  }
}

TEST(Expiry, spills_again_what_a_crash_kept_from_being_removed) {  // N9
  ExpiryWorld world;
  world.spills = true;
  world.remembers = true;
  world.live();
  const TaskId id = world.submit();
  world.lane.fault = [&](const ports::Request& request) -> std::optional<Error> {
    const auto* purge = std::get_if<ports::Asked<ports::Purge>>(&request);
    if (!purge || purge->verb.state != State::dead || world.spilled.heaps.empty()) return {};
    return Error{ErrorCode::unavailable, "store", "killed"};
  };
  world.loop.pass(48h + 31min);
  EXPECT_EQ(world.spilled.heaps.size(), 1U);
  EXPECT_TRUE(world.has(id));
  world.be_off(1min);
  world.lane.fault = {};
  world.live();
  EXPECT_FALSE(world.has(id));
  EXPECT_EQ(world.spilled.ids(), (std::multiset<TaskId>{id, id})) << "twice, and never not at all";
}

TEST(Expiry, does_not_spill_what_was_looked_after_meanwhile) {  // N9
  ExpiryWorld world;
  world.spills = true;
  world.live();
  const TaskId id = world.submit();
  const TaskId other = world.submit();
  bool discarded = false;
  world.lane.seen = [&](const ports::Request& request) {
    if (!std::holds_alternative<ports::Asked<ports::Find>>(request) || discarded) return;
    discarded = true;
    const ports::TaskRecord& record = world.record(id);
    core::Transition transition = core::discard(record.task, world.clock.wall_now()).value();
    ports::Request change = ports::Asked<ports::Change>{
        {.changes = {{.id = id, .token = record.task.token, .transition = transition}}}};
    world.store.carry_out({&change, 1});
  };
  world.loop.pass(49h);
  EXPECT_TRUE(discarded);
  EXPECT_EQ(world.spilled.ids(), std::multiset<TaskId>{other});
  EXPECT_EQ(world.state(id), State::canceled);
  EXPECT_FALSE(world.has(other));
}

// A full disk refuses what became of tasks and lets the janitor read. What it takes at last may be
// older than all that was looked at.
TEST(Expiry, removes_nothing_while_the_store_does_not_know_all) {  // N9
  ExpiryWorld world;
  world.spills = true;
  world.options.keep.dead = 4h;
  world.live();
  const TaskId first = world.submit();
  bool full = true;
  world.lane.fault = [&](const ports::Request& request) -> std::optional<Error> {
    if (!full || !std::holds_alternative<ports::Asked<ports::Change>>(request)) return {};
    return Error{ErrorCode::exhausted, "store", "disk full"};
  };
  const TaskId second = world.submit();
  world.loop.pass(8h);
  EXPECT_EQ(world.state(second), State::running);
  EXPECT_TRUE(world.has(first));
  full = false;
  world.loop.pass(12h);
  EXPECT_FALSE(world.has(first));
  EXPECT_FALSE(world.has(second));
  EXPECT_EQ(world.spilled.ids(), (std::multiset<TaskId>{first, second}));
}

}  // namespace
}  // namespace holdfast::engine::expiry_test
