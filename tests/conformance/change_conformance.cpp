// Carrying out transitions: every move there is, and none that comes too late (N6).
#include <gmock/gmock.h>

#include "conformance/record_text.hpp"
#include "conformance/store_conformance.hpp"

namespace holdfast::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string text_of_move(const core::Move& move) {
  return std::string(to_string(move.from)) + " --" + std::string(to_string(move.event)) + "--> " +
         std::string(to_string(move.to));
}

ports::Change::One one_of(const TaskRecord& record, Transition transition) {
  return {.id = record.id, .token = record.task.token, .transition = std::move(transition)};
}

Transition canceling(const TaskRecord& record, WallTime now) {
  return transition_of({record.task.state, Event::cancel, State::canceled}, record.task, now);
}

// What `before` is after `transition`, by the words of the port.
TaskRecord moved(TaskRecord before, const ports::Change::One& one, WallTime now) {
  const Transition& transition = one.transition;
  if (before.task.state == State::running) {
    before.attempts.push_back({.token = before.task.token,
                               .event = transition.event,
                               .started = before.changed,
                               .ended = now,
                               .owner = before.owner,
                               .failure = transition.failure});
  } else if (transition.failure) {
    before.attempts.push_back({.token = transition.token,
                               .event = transition.event,
                               .started = now,
                               .ended = now,
                               .owner = {},
                               .failure = transition.failure});
  }
  core::apply(transition, before.task);
  before.changed = now;
  before.owner.clear();
  before.lease_end = {};
  before.result.reset();
  if (transition.to == State::succeeded) before.result = one.result;
  const bool has_group = transition.to == State::failed || transition.to == State::dead;
  before.fingerprint = has_group ? one.fingerprint : Fingerprint();
  return before;
}

// T8
TEST_P(StoreConformance, every_move_there_is_is_carried_out_with_all_that_it_changes) {
  for (const core::Move& move : core::kMoves) {
    if (move.event == Event::claim) continue;  // by Claim
    SCOPED_TRACE(text_of_move(move));
    const TaskRecord before = task_in(move.from, Fingerprint(77));
    now_ += 3s;
    ports::Change::One one = one_of(before, transition_of(move, before.task, now_));
    one.result = move.to == State::succeeded ? std::string("done\0well", 9) : "";
    one.fingerprint = Fingerprint(0xfedcba9876543210U);  // needs all 64 bits
    ASSERT_EQ(change(one), Done::applied);

    const std::string expected = text_of(moved(before, one, now_));
    EXPECT_EQ(text_of(find(before.id)), expected);
    EXPECT_EQ(change(one), move.from == move.to ? Done::applied : Done::moved_on) << "twice";
    EXPECT_EQ(text_of(find(before.id)), expected) << "what came too late changes nothing";
  }
  reopen();
  EXPECT_EQ(list().size(), core::kMoves.size() - 2);
}

TEST_P(StoreConformance, a_change_keeps_the_last_failure_unless_it_brings_one) {
  submit();
  ASSERT_EQ(move(claim_one(), Event::error, State::retrying), Done::applied);
  now_ += 1min;
  ASSERT_EQ(move(claim_one(), Event::hand_back, State::pending), Done::applied);
  TaskRecord record = find(id_of(1));
  EXPECT_EQ(text_of(record.task.last_failure), text_of(full_failure()));

  Failure bare;
  bare.message = "";
  bare.kind = FailureKind::crash;
  ASSERT_EQ(move(claim_one(), Event::crash, State::retrying, {}, bare), Done::applied);
  record = find(id_of(1));
  EXPECT_EQ(record.task.last_failure, bare) << "with nothing left of the one before";
}

// C3.2: a dead letter that is given up keeps what was said of it, and where it stands.
TEST_P(StoreConformance, a_dead_letter_that_is_given_up_is_failed_with_its_error) {
  const TaskRecord dead = task_in(State::dead, Fingerprint(5));
  now_ += 10s;
  const auto closed = core::close(dead.task, 3, now_).value();
  const ports::Change::One one{
      .id = dead.id, .token = dead.task.token, .transition = closed, .fingerprint = Fingerprint(6)};
  ASSERT_EQ(change(one), Done::applied);
  EXPECT_EQ(change(one), Done::moved_on) << "once";
  reopen();
  const TaskRecord failed = find(dead.id);
  EXPECT_EQ(failed.task.state, State::failed);
  EXPECT_EQ(failed.task.token.value, dead.task.token.value + 1);
  EXPECT_EQ(failed.task.dead_reason, dead.task.dead_reason);
  EXPECT_EQ(failed.task.last_failure, closed.failure);
  EXPECT_EQ(failed.fingerprint, Fingerprint(6));
  ASSERT_EQ(failed.attempts.size(), dead.attempts.size() + 1);
  EXPECT_EQ(failed.attempts.back().event, Event::close);
  EXPECT_EQ(list({.state = State::dead}).size(), 0U);
  EXPECT_EQ(list({.state = State::failed}).at(0).task.last_failure, closed.failure);
  EXPECT_EQ(move(failed, Event::replay, State::pending), Done::applied);
  EXPECT_EQ(find(dead.id).task.dead_reason, std::nullopt);
}

TEST_P(StoreConformance, a_success_keeps_its_result_to_the_byte) {
  std::string bytes;
  for (int value = 0; value < 256; ++value)
    bytes.push_back(static_cast<char>(value));
  for (const std::string& result : {std::string(), bytes, std::string(1 << 20, '\xfe')}) {
    const TaskRecord running = task_in(State::running);
    ports::Change::One one = one_of(
        running,
        transition_of({State::running, Event::success, State::succeeded}, running.task, now_));
    one.result = result;
    ASSERT_EQ(change(one), Done::applied);
    reopen();
    EXPECT_TRUE(find(running.id).result == result) << result.size() << " bytes";
  }
}

TEST_P(StoreConformance, a_change_of_a_task_that_nobody_knows_says_so) {
  TaskRecord stranger;
  stranger.id = id_of(4711);
  EXPECT_EQ(change(one_of(stranger, canceling(stranger, now_))), Done::unknown_task);
}

TEST_P(StoreConformance, a_change_from_another_state_does_nothing) {
  const State states[] = {State::pending, State::running, State::retrying, State::succeeded,
                          State::failed,  State::dead,    State::canceled};
  for (const State state : states) {
    const TaskRecord record = task_in(state);
    for (const State from : states) {
      if (from == state) continue;
      Transition transition = canceling(record, now_);
      transition.from = from;
      EXPECT_EQ(change(one_of(record, transition)), Done::moved_on)
          << to_string(state) << " is not " << to_string(from);
    }
    EXPECT_EQ(text_of(find(record.id)), text_of(record));
  }
}

// Each state the next is refused in has the same token: only the state tells.
TEST_P(StoreConformance, a_change_with_another_token_does_nothing) {  // N6
  for (const State state :
       {State::pending, State::running, State::retrying, State::failed, State::dead}) {
    const TaskRecord record = task_in(state);
    for (const std::int64_t off : {-1, 1}) {
      ports::Change::One one = one_of(record, canceling(record, now_));
      one.token.value += static_cast<std::uint64_t>(off);
      EXPECT_EQ(change(one), Done::moved_on) << to_string(state) << " " << off;
    }
    EXPECT_EQ(text_of(find(record.id)), text_of(record));
  }
}

// A failed attempt after which the task is due at once, and to be claimed again.
ports::Change::One again(const TaskRecord& record, WallTime now) {
  ports::Change::One one = one_of(
      record, transition_of({State::running, Event::error, State::retrying, core::Spends::attempt},
                            record.task, now));
  one.transition.wait = Duration::zero();
  one.transition.due = now;
  one.again = true;
  return one;
}

// What it is then, by the words of the port.
TaskRecord claimed_again(const TaskRecord& before, const ports::Change::One& one, WallTime now) {
  TaskRecord after = moved(before, one, now);
  core::apply(core::claim(after.task, now).value(), after.task);
  after.owner = before.owner;
  after.lease_end = before.lease_end;
  return after;
}

TEST_P(StoreConformance, what_is_tried_again_at_once_is_claimed_again_in_the_same_step) {
  submit();
  (void)claim_one();
  submit_many(3);  // what waits longer does not come first
  TaskRecord record = find(id_of(1));
  for (int attempt = 1; attempt <= 3; ++attempt) {
    now_ += 2s;
    const ports::Change::One one = again(record, now_);
    ASSERT_EQ(change(one), Done::again);
    EXPECT_EQ(change(one), Done::moved_on) << "once (N6)";
    const std::string expected = text_of(claimed_again(record, one, now_));
    record = find(record.id);
    EXPECT_EQ(text_of(record), expected);
    EXPECT_EQ(record.attempts.size(), static_cast<std::size_t>(attempt));
    EXPECT_EQ(counts().count(State::running), 1U);
    EXPECT_EQ(counts().count(State::retrying), 0U);
    if (attempt == 2) reopen();
    EXPECT_EQ(text_of(find(record.id)), expected);
  }
  now_ += 1s;
  ports::Change::One end = one_of(
      record, transition_of({State::running, Event::success, State::succeeded}, record.task, now_));
  end.result = "done";
  const std::string expected = text_of(moved(record, end, now_));
  ASSERT_EQ(change(end), Done::applied);
  EXPECT_EQ(text_of(find(record.id)), expected);
  EXPECT_EQ(claim_ids(10).size(), 3U) << "it does not wait";
}

// N8, N10: whoever brings it back finds all that has happened.
TEST_P(StoreConformance, what_was_claimed_again_is_overdue_when_its_lease_ends) {
  submit();
  TaskRecord record = claim_one();
  record = find(record.id);
  now_ += 1s;
  ASSERT_EQ(change(again(record, now_)), Done::again);
  record = find(record.id);
  EXPECT_THAT(ask(ports::Overdue{.now = record.lease_end}), IsEmpty());
  reopen();
  now_ = record.lease_end + 1us;
  const auto overdue = ask(ports::Overdue{.now = now_});
  ASSERT_EQ(overdue.size(), 1U);
  EXPECT_EQ(overdue[0].task, record.task);
  EXPECT_EQ(move(overdue[0], Event::crash, State::retrying), Done::applied);
  EXPECT_EQ(find(record.id).attempts.size(), 2U);
  EXPECT_EQ(find(record.id).task.spent.attempts, record.task.spent.attempts);
}

TEST_P(StoreConformance, what_was_claimed_again_is_renewed_under_its_new_token) {
  submit();
  const TaskRecord first = claim_one();
  ASSERT_EQ(change(again(find(first.id), now_)), Done::again);
  const TaskRecord second = find(first.id);
  EXPECT_THAT(ask(ports::Renew{{{first.id, first.task.token}, {second.id, second.task.token}},
                               now_ + 10min}),
              ElementsAre(false, true));
  EXPECT_EQ(find(first.id).lease_end, now_ + 10min);
  EXPECT_EQ(find(first.id).attempts.size(), 1U);
}

TEST_P(StoreConformance, nothing_is_claimed_again_from_a_queue_that_is_paused_or_full) {
  submit_many(3);
  const auto running = claim(3).tasks;
  ask(ports::Configure{.queue = kQueue, .paused = true});
  now_ += 1s;
  EXPECT_EQ(change(again(find(running[0].id), now_)), Done::applied);
  EXPECT_EQ(state_of(running[0].id), State::retrying);
  // Room for one: the first of those that ask, when all changes are carried out.
  ask(ports::Configure{.queue = kQueue, .paused = false, .concurrency = 1});
  const auto done =
      ask(ports::Change{{again(find(running[1].id), now_), again(find(running[2].id), now_)}});
  EXPECT_THAT(done, ElementsAre(Done::again, Done::applied));
  EXPECT_EQ(state_of(running[1].id), State::running);
  EXPECT_EQ(state_of(running[2].id), State::retrying);
  ask(ports::Configure{.queue = kQueue, .concurrency = 0});
  EXPECT_THAT(claim_ids(10), ::testing::UnorderedElementsAre(running[0].id, running[2].id));
}

TEST_P(StoreConformance, what_waits_for_a_while_or_has_ended_is_not_claimed_again) {
  submit_many(2);
  const auto running = claim(2).tasks;
  ports::Change::One later = again(find(running[0].id), now_);
  later.transition.wait = 1s;
  later.transition.due += 1s;
  ports::Change::One ended = one_of(
      running[1],
      transition_of({State::running, Event::success, State::succeeded}, running[1].task, now_));
  ended.again = true;
  EXPECT_THAT(ask(ports::Change{{later, ended}}), ElementsAre(Done::applied, Done::applied));
  EXPECT_EQ(state_of(running[0].id), State::retrying);
  EXPECT_EQ(state_of(running[1].id), State::succeeded);
}

TEST_P(StoreConformance, a_change_to_running_is_refused_and_all_with_it) {
  const auto ids = submit_many(2);
  const TaskRecord first = find(ids[0]);
  const TaskRecord second = find(ids[1]);
  const auto answer =
      try_ask(ports::Change{{one_of(first, canceling(first, now_)),
                             one_of(second, core::claim(second.task, now_).value())}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(answer.error().message.find(ids[1].text()), std::string::npos);
  EXPECT_EQ(state_of(ids[0]), State::pending);
  EXPECT_EQ(state_of(ids[1]), State::pending);
}

TEST_P(StoreConformance, changes_of_one_batch_are_each_by_themselves) {
  submit_many(3);
  const auto running = claim(3).tasks;
  TaskRecord stranger = running[0];
  stranger.id = id_of(999);
  TaskRecord late = running[1];
  --late.task.token.value;
  const auto cancel = [&](const TaskRecord& record) {
    return one_of(record, canceling(record, now_));
  };
  EXPECT_THAT(ask(ports::Change{{cancel(stranger), cancel(running[0]), cancel(late),
                                 cancel(running[0]), cancel(running[2])}}),
              ElementsAre(Done::unknown_task, Done::applied, Done::moved_on, Done::moved_on,
                          Done::applied));
  EXPECT_EQ(state_of(running[1].id), State::running);
}

TEST_P(StoreConformance, two_changes_of_one_task_follow_each_other_in_one_batch) {
  const TaskRecord dead = task_in(State::dead, Fingerprint(5));
  const Transition replay = transition_of(
      {State::dead, Event::replay, State::pending, core::Spends::replay}, dead.task, now_);
  TaskRecord replayed = dead;
  core::apply(replay, replayed.task);
  EXPECT_THAT(
      ask(ports::Change{{one_of(dead, replay), one_of(replayed, canceling(replayed, now_))}}),
      ElementsAre(Done::applied, Done::applied));
  EXPECT_EQ(state_of(dead.id), State::canceled);
  EXPECT_THAT(ask(ports::Groups()).groups, IsEmpty());
}

TEST_P(StoreConformance, changes_of_nothing_are_answered_with_nothing) {
  EXPECT_THAT(ask(ports::Change()), IsEmpty());
}

// N6, in the ways that a claim gets lost.
TEST_P(StoreConformance, a_claim_that_was_rescued_cannot_settle) {
  submit();
  const TaskRecord lost = claim_one();
  now_ += 1min;
  const auto overdue = ask(ports::Overdue{.now = now_});
  ASSERT_EQ(move(overdue.at(0), Event::crash, State::retrying), Done::applied);
  EXPECT_EQ(move(lost, Event::success, State::succeeded), Done::moved_on);
  EXPECT_EQ(state_of(lost.id), State::retrying);

  now_ += 1min;
  const TaskRecord again = claim_one();
  EXPECT_EQ(move(lost, Event::success, State::succeeded), Done::moved_on) << "running once more";
  EXPECT_EQ(move(overdue.at(0), Event::crash, State::retrying), Done::moved_on) << "a late rescue";
  EXPECT_EQ(find(lost.id).owner, "worker 1");
  EXPECT_EQ(move(again, Event::success, State::succeeded), Done::applied);
  EXPECT_EQ(find(lost.id).attempts.size(), 2U);
}

TEST_P(StoreConformance, a_claim_that_was_settled_in_time_cannot_be_rescued) {
  submit();
  const TaskRecord running = claim_one();
  const auto overdue = ask(ports::Overdue{.now = now_ + 1h});
  ASSERT_EQ(move(running, Event::success, State::succeeded), Done::applied);
  EXPECT_EQ(move(overdue.at(0), Event::crash, State::retrying), Done::moved_on);
  EXPECT_EQ(find(running.id).result, "sent");
}

TEST_P(StoreConformance, a_claim_whose_task_was_canceled_cannot_settle) {
  submit();
  const TaskRecord running = claim_one();
  ASSERT_EQ(move(running, Event::cancel, State::canceled), Done::applied);
  EXPECT_EQ(move(running, Event::success, State::succeeded), Done::moved_on);
  EXPECT_EQ(state_of(running.id), State::canceled);
}

TEST_P(StoreConformance, a_claim_that_was_handed_back_and_taken_again_cannot_settle) {
  submit();
  const TaskRecord first = claim_one();
  ASSERT_EQ(move(first, Event::hand_back, State::pending), Done::applied);
  EXPECT_EQ(move(first, Event::success, State::succeeded), Done::moved_on);
  const TaskRecord second = claim_one();
  EXPECT_EQ(move(first, Event::hand_back, State::pending), Done::moved_on);
  EXPECT_EQ(move(second, Event::success, State::succeeded), Done::applied);
}

TEST_P(StoreConformance, one_death_is_replayed_once) {  // N3
  const TaskRecord dead = task_in(State::dead, Fingerprint(5));
  ASSERT_EQ(move(dead, Event::replay, State::pending), Done::applied);
  const TaskRecord running = claim_one(dead.queue);
  ASSERT_EQ(running.task.token.value, dead.task.token.value + 2);
  ASSERT_EQ(move(running, Event::error, State::dead, Fingerprint(5)), Done::applied);
  EXPECT_EQ(move(dead, Event::replay, State::pending), Done::moved_on);
  EXPECT_EQ(move(dead, Event::discard, State::canceled), Done::moved_on);
  EXPECT_EQ(find(dead.id).task.spent.replays, 1);
}

TEST_P(StoreConformance, settling_after_a_purge_finds_no_task) {
  submit();
  const TaskRecord running = claim_one();
  ASSERT_EQ(move(running, Event::cancel, State::canceled), Done::applied);
  ask(ports::Purge{.state = State::canceled, .ended_before = now_ + 1s});
  EXPECT_EQ(move(running, Event::success, State::succeeded), Done::unknown_task);
  EXPECT_THAT(ask(ports::Renew{{{running.id, running.task.token}}, now_}), ElementsAre(false));
}

// The change was made from a task that is gone, and meets another under its id.
TEST_P(StoreConformance, a_change_of_a_purged_twin_does_all_that_it_says) {
  ports::NewTask task = new_task();
  submit(task);
  const TaskRecord twin = find(task.id);
  ASSERT_EQ(move(twin, Event::cancel, State::canceled), Done::applied);
  ask(ports::Purge{.state = State::canceled, .ended_before = now_ + 1s});
  task.deadline = now_ + 10s;
  submit(task);
  ASSERT_EQ(find(task.id).task.deadline, task.deadline);
  ASSERT_EQ(move(twin, Event::cancel, State::canceled), Done::applied);
  EXPECT_EQ(find(task.id).task.deadline, std::nullopt);
}

}  // namespace
}  // namespace holdfast::conformance
