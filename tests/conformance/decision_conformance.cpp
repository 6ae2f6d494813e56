// Who decided what (N3): changes of tasks that do not run, noted in their history.
#include <gmock/gmock.h>

#include "conformance/record_text.hpp"
#include "conformance/store_conformance.hpp"

namespace holdfast::conformance {
namespace {

using ports::PastAttempt;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ports::Change::One decided(const TaskRecord& record, const core::Move& move, WallTime now,
                           std::string by) {
  return {.id = record.id,
          .token = record.task.token,
          .transition = transition_of(move, record.task, now),
          .by = std::move(by)};
}

TEST_P(StoreConformance, N3_who_decided_a_change_is_in_the_history_of_its_task) {
  constexpr core::Move kDecisions[] = {
      {State::dead, Event::replay, State::pending, core::Spends::replay},
      {State::failed, Event::replay, State::pending, core::Spends::replay},
      {State::dead, Event::discard, State::canceled},
      {State::failed, Event::discard, State::canceled},
      {State::pending, Event::cancel, State::canceled},
      {State::retrying, Event::cancel, State::canceled},
  };
  for (const core::Move& move : kDecisions) {
    SCOPED_TRACE(std::string(to_string(move.from)) + " " + std::string(to_string(move.event)));
    const TaskRecord before = find(task_in(move.from, Fingerprint(3)).id);
    now_ += 1h;
    ASSERT_EQ(change(decided(before, move, now_, "alice, operation 17")), Done::applied);
    reopen();
    const TaskRecord after = find(before.id);
    ASSERT_EQ(after.attempts.size(), before.attempts.size() + 1);
    EXPECT_EQ(text_of(after.attempts.back()),
              text_of(PastAttempt{.token = {before.task.token.value + 1},
                                  .event = move.event,
                                  .started = now_,
                                  .ended = now_,
                                  .owner = "alice, operation 17"}));
    EXPECT_EQ(after.task.last_failure, before.task.last_failure) << "what it died of stays known";
  }
}

TEST_P(StoreConformance, N3_a_change_that_nobody_signed_is_not_noted) {
  const TaskRecord dead = find(task_in(State::dead, Fingerprint(3)).id);
  ASSERT_EQ(change(decided(dead, {State::dead, Event::discard, State::canceled}, now_, "")),
            Done::applied);
  EXPECT_EQ(find(dead.id).attempts.size(), dead.attempts.size());
}

TEST_P(StoreConformance, N3_a_change_without_a_new_token_is_not_noted) {
  const TaskRecord pending = task_in(State::pending);
  auto one = decided(pending, {State::pending, Event::cancel, State::canceled}, now_, "alice");
  one.transition.token = pending.task.token;
  ASSERT_EQ(change(one), Done::applied);
  EXPECT_THAT(find(pending.id).attempts, IsEmpty());
}

TEST_P(StoreConformance, N3_what_was_refused_is_not_noted) {
  const TaskRecord dead = find(task_in(State::dead, Fingerprint(3)).id);
  const core::Move discard{State::dead, Event::discard, State::canceled};
  ASSERT_EQ(change(decided(dead, discard, now_, "alice")), Done::applied);
  EXPECT_EQ(change(decided(dead, discard, now_, "bob")), Done::moved_on);
  const auto history = find(dead.id).attempts;
  EXPECT_EQ(history.size(), dead.attempts.size() + 1);
  EXPECT_EQ(history.back().owner, "alice");
}

TEST_P(StoreConformance, N3_a_running_attempt_is_ended_in_the_name_of_who_ran_it) {
  const TaskRecord running = task_in(State::running);
  ASSERT_EQ(change(decided(running, {State::running, Event::cancel, State::canceled}, now_, "bob")),
            Done::applied);
  const auto history = find(running.id).attempts;
  ASSERT_THAT(history, SizeIs(1));
  EXPECT_EQ(history[0].owner, "worker 1");
}

TEST_P(StoreConformance, N3_who_gave_up_a_dead_letter_stands_beside_what_it_died_of) {
  const TaskRecord dead = find(task_in(State::dead, Fingerprint(3)).id);
  auto one = decided(dead,
                     {State::dead, Event::close, State::failed, core::Spends::nothing,
                      core::DeadReason::out_of_attempts},
                     now_, "alice");
  one.fingerprint = Fingerprint(4);
  ASSERT_EQ(change(one), Done::applied);
  const PastAttempt noted = find(dead.id).attempts.back();
  EXPECT_EQ(noted.owner, "alice");
  EXPECT_EQ(noted.failure, full_failure());
}

TEST_P(StoreConformance, N3_a_long_name_is_cut_as_messages_are) {
  const TaskRecord pending = task_in(State::pending);
  const std::string name = std::string(ports::kKeptMessageBytes - 1, 'x') + "\xc3\xbc and more";
  ASSERT_EQ(change(decided(pending, {State::pending, Event::cancel, State::canceled}, now_, name)),
            Done::applied);
  EXPECT_EQ(find(pending.id).attempts.at(0).owner, name.substr(0, ports::kKeptMessageBytes - 1));
}

// However often a task is brought back, its history has an end.
TEST_P(StoreConformance, N3_decisions_count_among_the_attempts_that_are_kept) {
  TaskRecord record = task_in(State::dead, Fingerprint(3));
  for (int i = 0; i < ports::kKeptAttempts; ++i) {
    now_ += 1s;
    ASSERT_EQ(
        change(decided(record, {State::dead, Event::replay, State::pending, core::Spends::replay},
                       now_, "alice " + std::to_string(i))),
        Done::applied);
    ASSERT_EQ(move(claim_one(record.queue), Event::error, State::dead, Fingerprint(3)),
              Done::applied);
    record = find(record.id);
  }
  EXPECT_THAT(record.attempts, SizeIs(ports::kKeptAttempts));
  EXPECT_EQ(record.attempts[18].owner, "alice 19");
  EXPECT_EQ(record.attempts[0].owner, "alice 10");
}

}  // namespace
}  // namespace holdfast::conformance
