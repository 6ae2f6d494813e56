#include "stores/memory/memory_store.hpp"

#include <gtest/gtest.h>

// What every store must do is in tests/conformance; here is what only this one can.
namespace holdfast::stores::memory_store_test {
namespace {

using core::State;
using ports::ask;

constexpr WallTime kNow{std::chrono::hours(24 * 365 * 50)};

TaskId id_of(std::uint8_t number) {
  return TaskId(Uuid({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, number}));
}

ports::Submit submission(std::uint8_t number) {
  ports::NewTask task;
  task.id = id_of(number);
  task.type = "mail";
  task.queue = "post";
  task.created = task.due = kNow;
  task.key = "key " + std::to_string(number);
  return {{task}};
}

ports::Change to_dead(const ports::TaskRecord& running) {
  core::Transition transition = core::cancel(running.task, kNow).value();
  transition.to = State::dead;
  transition.event = core::Event::error;
  transition.dead_reason = core::DeadReason::out_of_attempts;
  return {{{.id = running.id,
            .token = running.task.token,
            .transition = transition,
            .fingerprint = Fingerprint(7)}}};
}

// A dead, a running and a pending task.
MemoryStore furnished() {
  MemoryStore store;
  for (std::uint8_t number = 1; number <= 3; ++number)
    EXPECT_TRUE(ask(store, submission(number)));
  const auto claimed =
      ask(store, ports::Claim{.queue = "post", .max = 2, .owner = "me", .now = kNow});
  EXPECT_EQ(ask(store, to_dead(claimed->tasks.at(0)))->front(), ports::Change::Done::applied);
  return store;
}

TEST(MemoryStore, copies_are_snapshots) {
  MemoryStore store = furnished();
  MemoryStore before = store;
  EXPECT_TRUE(ask(store, submission(9)));
  EXPECT_EQ(store.tasks().size(), 4U);
  EXPECT_EQ(before.tasks().size(), 3U);
  EXPECT_TRUE(ask(before, ports::Audit())->clean());
}

TEST(MemoryStore, says_whether_there_was_a_task_to_damage) {
  MemoryStore store = furnished();
  EXPECT_FALSE(store.damage(id_of(77), [](auto&) {}));
  EXPECT_TRUE(store.damage(id_of(1), [](auto&) {}));
}

// N5: every kind of damage is found, named, and gone after a repair.
TEST(MemoryStore, audits_find_and_repair_what_cannot_be) {
  using Damage = void (*)(ports::TaskRecord&);
  const std::pair<std::uint8_t, Damage> damages[] = {
      // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange): the damage is that.
      {1, [](auto& record) { record.task.state = static_cast<State>(9); }},
      {1, [](auto& record) { record.task.dead_reason.reset(); }},
      {1, [](auto& record) { record.fingerprint = Fingerprint(8); }},
      {1, [](auto& record) { record.task.state = State::failed; }},
      {1, [](auto& record) { record.attempts.resize(50); }},
      {1, [](auto& record) { record.type = "another"; }},
      {1, [](auto& record) { record.queue = "another"; }},
      {2, [](auto& record) { record.task.token = {}; }},
      {2, [](auto& record) { record.task.spent.crashes = -1; }},
      {2, [](auto& record) { record.key = "another"; }},
      {3, [](auto& record) { record.owner = "somebody"; }},
      {3, [](auto& record) { record.lease_end = kNow; }},
      {3, [](auto& record) { record.result = "42"; }},
      {3, [](auto& record) { record.task.state = State::succeeded; }},
      {3, [](auto& record) { record.task.dead_reason = core::DeadReason::crashes; }},
      {3, [](auto& record) { record.fingerprint = Fingerprint(7); }},
      {3, [](auto& record) { record.key.clear(); }},
  };
  for (const auto& [number, damage] : damages) {
    SCOPED_TRACE("damage " + std::to_string(number));
    MemoryStore store = furnished();
    ASSERT_TRUE(store.damage(id_of(number), damage));

    const auto found = ask(store, ports::Audit()).value();
    ASSERT_FALSE(found.clean());
    EXPECT_FALSE(found.findings.front().repaired);
    EXPECT_EQ(ask(store, ports::Audit())->found, found.found) << "looking changes nothing";

    const auto repaired = ask(store, ports::Audit{.repair = true}).value();
    EXPECT_TRUE(repaired.findings.front().repaired);
    const auto after = ask(store, ports::Audit()).value();
    EXPECT_TRUE(after.clean()) << after.findings.front().what;
    EXPECT_EQ(store.tasks().size(), 3U) << "a repair loses no task";
  }
}

}  // namespace
}  // namespace holdfast::stores::memory_store_test
