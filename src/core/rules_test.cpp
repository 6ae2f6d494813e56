#include "core/rules.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/rules_testing.hpp"

namespace holdfast::core::rules_test {
namespace {

using namespace std::chrono_literals;

constexpr Verdict kRetry{VerdictKind::retry, std::nullopt};
constexpr Verdict kThrottle{VerdictKind::throttle, std::nullopt};
constexpr Verdict kGiveUp{VerdictKind::give_up, std::nullopt};
constexpr Verdict kAmbiguous{VerdictKind::ambiguous, std::nullopt};
constexpr Verdict kSuccess{VerdictKind::success, std::nullopt};

Result<Transition> settle(const Task& task, const Outcome& outcome, const Verdict& verdict = kRetry,
                          const TaskPolicy& policy = {}) {
  SameRandom random;
  return decide(task, outcome, verdict, policy, kNow, random);
}

Task running(Spent spent = {}) {
  Task task = task_in(State::running);
  task.spent = spent;
  return task;
}

Task with_deadline(Task task, Duration from_now) {
  task.deadline = kNow + from_now;
  return task;
}

// One row of kMoves, and a case that takes it.
struct Row {
  Move move;
  Task task;
  Outcome outcome = Success{};
  Verdict verdict = kRetry;
  Duration wait = 0s;
};

const Failure kError = failure_of(FailureKind::error);
const Failure kTimeout = failure_of(FailureKind::timeout);
const Failure kCrash = failure_of(FailureKind::crash);

// The default policy: 4 attempts, 3 crashes, 1000 deferrals, 3 replays; waits 1 s, 2 s, 4 s ….
std::vector<Row> settled_rows() {
  constexpr State run = State::running;
  constexpr State dead = State::dead;
  const Task fresh = running();
  const Task hurried = with_deadline(fresh, 999ms);
  const Task replayed = with_deadline(running({.replays = 3}), 999ms);
  const Task deferred = running({.deferrals = 999});
  constexpr Spends attempt = Spends::attempt;
  constexpr Spends crash = Spends::crash;
  constexpr Spends deferral = Spends::deferral;
  using enum DeadReason;
  return {
      {{run, Event::success, State::succeeded}, fresh, Success{"42"}},
      {{run, Event::already_done, State::succeeded}, fresh, kError, kSuccess},
      {{run, Event::error, State::retrying, attempt}, fresh, kError, kRetry, 1s},
      {{run, Event::error, State::retrying, attempt}, fresh, kTimeout, kRetry, 1s},
      {{run, Event::error, dead, attempt, out_of_attempts}, running({.attempts = 3}), kError},
      {{run, Event::error, dead, attempt, out_of_attempts}, running({.attempts = 3}), kTimeout},
      {{run, Event::error, dead, attempt, deadline}, hurried, kError},
      {{run, Event::error, dead, attempt, replays}, replayed, kError},
      {{run, Event::crash, State::retrying, crash}, fresh, kCrash, kRetry, 1s},
      {{run, Event::crash, dead, crash, crashes}, running({.crashes = 2}), kCrash},
      {{run, Event::crash, dead, crash, deadline}, hurried, kCrash},
      {{run, Event::crash, dead, crash, replays}, replayed, kCrash},
      {{run, Event::throttle, State::retrying, deferral}, fresh, kError, kThrottle, 1s},
      {{run, Event::throttle, dead, deferral, throttled_too_long}, deferred, kError, kThrottle},
      {{run, Event::throttle, dead, deferral, deadline}, hurried, kTimeout, kThrottle},
      {{run, Event::throttle, dead, deferral, replays}, replayed, kError, kThrottle},
      {{run, Event::breaker_open, State::retrying}, deferred, BreakerOpen{7s}, kRetry, 7s},
      {{run, Event::breaker_open, dead, Spends::nothing, deadline}, hurried, BreakerOpen{7s}},
      {{run, Event::breaker_open, dead, Spends::nothing, replays}, replayed, BreakerOpen{7s}},
      {{run, Event::give_up, State::failed, attempt}, fresh, kError, kGiveUp},
      {{run, Event::give_up, State::failed, crash}, fresh, kCrash, kGiveUp},
      {{run, Event::ambiguous, dead, attempt, ambiguous}, replayed, kError, kAmbiguous},
      {{run, Event::ambiguous, dead, crash, ambiguous}, fresh, kCrash, kAmbiguous},
      {{run, Event::hand_back, State::pending}, running({3, 2, 999, 3}), HandedBack{}},
      {{run, Event::expire, dead, Spends::nothing, deadline}, fresh, Expired{}},
      {{run, Event::expire, dead, Spends::nothing, replays}, replayed, Expired{}},
  };
}

std::vector<Row> other_rows() {
  constexpr State dead = State::dead;
  constexpr Spends replay = Spends::replay;
  return {
      {{State::pending, Event::claim, State::running}, task_in(State::pending)},
      {{State::retrying, Event::claim, State::running}, task_in(State::retrying)},
      {{State::pending, Event::cancel, State::canceled}, task_in(State::pending)},
      {{State::retrying, Event::cancel, State::canceled}, task_in(State::retrying)},
      {{State::running, Event::cancel, State::canceled}, task_in(State::running)},
      {{State::failed, Event::replay, State::pending, replay}, task_in(State::failed)},
      {{dead, Event::replay, State::pending, replay}, task_in(dead)},
      {{State::failed, Event::discard, State::canceled}, task_in(State::failed)},
      {{dead, Event::discard, State::canceled}, task_in(dead)},
      {{State::pending, Event::close, State::failed}, task_in(State::pending)},
      {{State::retrying, Event::close, State::failed}, task_in(State::retrying)},
  };
}

std::vector<Row> closed_rows() {
  using enum DeadReason;
  std::vector<Row> rows;
  for (const DeadReason reason :
       {out_of_attempts, crashes, ambiguous, deadline, throttled_too_long, replays}) {
    Task task = task_in(State::dead);
    task.dead_reason = reason;
    rows.push_back({{State::dead, Event::close, State::failed, Spends::nothing, reason}, task});
  }
  return rows;
}

Result<Transition> take(const Row& row) {
  switch (row.move.event) {
    case Event::claim: return claim(row.task, kNow);
    case Event::discard: return discard(row.task, kNow);
    case Event::cancel: return cancel(row.task, kNow);
    case Event::replay: return replay(row.task, {}, {}, kNow);
    case Event::close: return close(row.task, 0, kNow);
    default: return settle(row.task, row.outcome, row.verdict);
  }
}

std::vector<Row> all_rows() {
  std::vector<Row> rows = settled_rows();
  for (auto& more : {other_rows(), closed_rows()})
    rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

TEST(Rules, take_each_row_of_the_table) {
  for (const Row& row : all_rows()) {
    const auto transition = take(row);
    ASSERT_TRUE(transition) << row.move << ": " << transition.error().text();
    EXPECT_EQ(move_of(row.task, *transition), row.move);
    EXPECT_EQ(transition->wait, row.wait) << row.move;
    EXPECT_EQ(transition->due, kNow + row.wait) << row.move;
  }
}

TEST(Rules, have_a_tested_case_for_every_row) {
  for (const Move& move : kMoves) {
    const auto rows = all_rows();
    EXPECT_TRUE(std::ranges::count(rows, move, &Row::move) > 0) << move;
  }
}

TEST(Rules, C3_2_a_dead_letter_that_is_given_up_says_how_often_it_was_tried_and_what_it_died_of) {
  Task task = task_in(State::dead);
  task.spent = {.attempts = 2, .crashes = 1};
  task.token = Token{7};
  task.last_failure = failure_of(FailureKind::timeout, "network timeout");
  const auto closed = close(task, 0, kNow).value();
  EXPECT_EQ(closed.failure->message, "[DLQ] Message moved to DLQ after 3 retries: network timeout");
  EXPECT_EQ(closed.failure->kind, FailureKind::timeout);
  EXPECT_EQ(closed.token, Token{8});
  EXPECT_EQ(closed.spent, task.spent);
  apply(closed, task);
  EXPECT_EQ(task.state, State::failed);
  EXPECT_EQ(close(task, 0, kNow).error().code, ErrorCode::conflict) << "once";
}

TEST(Rules, C3_2_what_a_broker_counted_is_told_where_it_is_more) {
  const Task task = task_in(State::pending);
  EXPECT_EQ(close(task, 3, kNow)->failure->message, "[DLQ] Message moved to DLQ after 3 retries");
}

TEST(Rules, N3_a_quarantined_task_stays_so_when_it_is_given_up) {
  Task task = task_in(State::dead);
  task.dead_reason = DeadReason::ambiguous;
  apply(close(task, 0, kNow).value(), task);
  EXPECT_FALSE(replay(task, {}, {}, kNow));
  const auto insisted = replay(task, {.insist = true}, {}, kNow);
  ASSERT_TRUE(insisted);
  apply(*insisted, task);
  EXPECT_FALSE(task.dead_reason);
}

// Or who decided it could not be noted in its history.
TEST(Rules, N3_a_task_that_does_not_run_gets_a_new_token_with_whatever_is_decided) {
  for (const State state : {State::pending, State::retrying, State::failed, State::dead}) {
    Task task = task_in(state);
    task.token = Token{7};
    for (const auto& decided : {cancel(task, kNow), discard(task, kNow), replay(task, {}, {}, kNow),
                                close(task, 0, kNow)}) {
      if (decided) {
        EXPECT_EQ(decided->token, Token{8}) << to_string(state);
      }
    }
  }
  Task running = task_in(State::running);
  running.token = Token{7};
  EXPECT_EQ(cancel(running, kNow)->token, Token{7}) << "that of its claim, which ends with it";
}

TEST(Rules, neither_what_runs_nor_what_has_ended_is_given_up_as_a_dead_letter) {
  for (const State state : {State::running, State::succeeded, State::failed, State::canceled})
    EXPECT_EQ(close(task_in(state), 3, kNow).error().code, ErrorCode::conflict) << to_string(state);
}

TEST(Rules, settle_running_tasks_only) {
  for (const State state : {State::pending, State::retrying, State::succeeded, State::failed,
                            State::dead, State::canceled}) {
    const auto refused = settle(task_in(state), Success{});
    ASSERT_FALSE(refused) << to_string(state);
    EXPECT_EQ(refused.error().code, ErrorCode::conflict);
    EXPECT_EQ(refused.error().text(),
              "settle: the task is " + std::string(to_string(state)) + ", not running");
  }
}

// T1: 3 retries after the first attempt, waits 1 s, 2 s, 4 s.
TEST(Rules, T1_four_attempts_with_doubling_waits) {
  Task task = task_in(State::pending);
  WallTime now = kNow;
  SameRandom random;
  std::vector<Duration> waits;
  for (int attempt = 1; attempt <= 4; ++attempt) {
    apply(claim(task, now).value(), task);
    apply(decide(task, kError, kRetry, {}, now, random).value(), task);
    EXPECT_EQ(task.spent.attempts, attempt);
    waits.push_back(task.due - now);
    now = task.due;
  }
  EXPECT_EQ(waits, (std::vector<Duration>{1s, 2s, 4s, 0s}));
  EXPECT_EQ(task.state, State::dead);
  EXPECT_EQ(task.dead_reason, DeadReason::out_of_attempts);
  EXPECT_EQ(task.last_failure, kError);
}

// T1: 1 s, 2 s, 4 s, 8 s …, capped at 5 min.
TEST(Rules, T1_waits_are_capped_at_five_minutes) {
  const TaskPolicy policy{.attempts = 100};
  const std::vector<Duration> expected{1s, 2s, 4s, 8s, 16s, 32s, 64s, 128s, 256s, 300s, 300s};
  for (int i = 0; i < static_cast<int>(expected.size()); ++i) {
    EXPECT_EQ(settle(running({.attempts = i}), kError, kRetry, policy)->wait, expected[i]);
  }
}

// T4: a timeout is a failure like any other.
TEST(Rules, T4_a_timeout_counts_as_an_error) {
  const auto transition = settle(running({.attempts = 1}), kTimeout);
  EXPECT_EQ(transition->spent.attempts, 2);
  EXPECT_EQ(transition->wait, 2s);
  EXPECT_EQ(transition->failure->kind, FailureKind::timeout);
}

// N7: the waits of errors do not grow by crashes, nor the other way round.
TEST(Rules, N7_crashes_and_errors_wait_by_their_own_counts) {
  const Task task = running({.attempts = 2, .crashes = 1});
  EXPECT_EQ(settle(task, kError)->wait, 4s);
  EXPECT_EQ(settle(task, kCrash)->wait, 2s);
  EXPECT_EQ(settle(task, kCrash)->spent, (Spent{.attempts = 2, .crashes = 2}));
}

// N7: or a task that kills each worker with a throttled call under way would do so a thousand
// times.
TEST(Rules, N7_a_crash_counts_as_one_though_its_text_says_throttle) {
  const Verdict wait_a_minute{VerdictKind::throttle, 1min};
  const auto transition = settle(running(), kCrash, wait_a_minute);
  EXPECT_EQ(transition->event, Event::crash);
  EXPECT_EQ(transition->spent, (Spent{.crashes = 1}));
  EXPECT_EQ(transition->wait, 1min);
}

TEST(Rules, N4_a_throttle_waits_for_the_longest_that_anyone_asks_for) {
  Failure failure = kError;
  failure.retry_after = 20s;
  EXPECT_EQ(settle(running(), failure, {VerdictKind::throttle, 10s})->wait, 20s);
  EXPECT_EQ(settle(running(), failure, {VerdictKind::throttle, 30s})->wait, 30s);
  EXPECT_EQ(settle(running({.deferrals = 6}), failure, {VerdictKind::throttle, 10s})->wait, 64s);
}

// C1.7: Retry-After is honoured for what is merely retryable too.
TEST(Rules, C1_7_a_retry_waits_at_least_as_long_as_retry_after_says) {
  Failure failure = kError;
  failure.http_status = 503;
  failure.retry_after = 90s;
  const auto transition = settle(running(), failure);
  EXPECT_EQ(transition->wait, 90s);
  EXPECT_EQ(transition->spent.attempts, 1);
}

TEST(Rules, no_wait_is_longer_than_the_policy_allows) {
  Failure failure = kError;
  failure.retry_after = Duration::max();
  EXPECT_EQ(settle(running(), failure)->wait, 24h);
  EXPECT_EQ(settle(running(), BreakerOpen{Duration::max()})->wait, 24h);
  EXPECT_EQ(settle(running(), kError, kRetry, {.wait = retry::fixed(48h)})->wait, 24h);
}

TEST(Rules, a_cap_on_all_waits_holds_against_retry_after) {
  const TaskPolicy policy{.wait = retry::exponential().capped(30s)};
  Failure failure = kError;
  failure.retry_after = 1h;
  EXPECT_EQ(settle(running(), failure, kRetry, policy)->wait, 30s);
  EXPECT_EQ(settle(running(), failure, {VerdictKind::throttle, 2h}, policy)->wait, 30s);
}

TEST(Rules, a_due_time_beyond_the_range_stops_at_its_end) {
  SameRandom random;
  const TaskPolicy policy{.longest_wait = Duration::max()};
  const auto transition =
      decide(running(), BreakerOpen{Duration::max()}, kRetry, policy, kNow, random);
  EXPECT_EQ(transition->due, WallTime::max());
}

TEST(Rules, N4_a_breaker_that_cannot_say_waits_as_the_policy_begins) {
  const Task task = running({.attempts = 2, .deferrals = 5});
  EXPECT_EQ(settle(task, BreakerOpen{})->wait, 1s);
  EXPECT_EQ(settle(task, BreakerOpen{-1s})->wait, 1s);
}

TEST(Rules, one_long_retry_after_does_not_stretch_the_waits_that_follow) {
  const TaskPolicy policy{.wait = retry::exponential({.jitter = retry::Jitter::decorrelated})};
  Task task = running();
  task.previous_wait = 2s;
  Failure failure = kError;
  failure.retry_after = 1h;
  const auto transition = settle(task, failure, kRetry, policy);
  EXPECT_EQ(transition->wait, 1h);
  EXPECT_EQ(transition->previous_wait, 1s);
}

TEST(Rules, decorrelated_jitter_grows_from_the_wait_before) {
  const TaskPolicy policy{.wait = retry::exponential({.jitter = retry::Jitter::decorrelated})};
  Task task = running({.attempts = 1});
  task.previous_wait = 7s;
  SameRandom half(std::uint64_t{1} << 63);
  const auto transition = decide(task, kError, kRetry, policy, kNow, half);
  EXPECT_EQ(transition->wait, 11s);
  EXPECT_EQ(transition->previous_wait, 11s);
}

TEST(Rules, a_wait_that_ends_at_the_deadline_is_taken) {
  EXPECT_EQ(settle(with_deadline(running(), 1s), kError)->to, State::retrying);
  EXPECT_EQ(settle(with_deadline(running(), 1s - 1ns), kError)->dead_reason, DeadReason::deadline);
}

TEST(Rules, the_last_attempt_is_the_reason_even_if_the_deadline_is_over) {
  const Task task = with_deadline(running({.attempts = 3}), -1s);
  EXPECT_EQ(settle(task, kError)->dead_reason, DeadReason::out_of_attempts);
}

TEST(Rules, C1_1_what_is_given_up_says_so_in_its_error) {
  const auto transition =
      settle(running(), failure_of(FailureKind::error, "insufficient funds"), kGiveUp);
  EXPECT_EQ(transition->failure->message, "[NON_RETRYABLE] insufficient funds");
  const auto again = settle(running(), *transition->failure, kGiveUp);
  EXPECT_EQ(again->failure->message, "[NON_RETRYABLE] insufficient funds");
}

TEST(Rules, a_failure_is_kept_as_it_was_reported) {
  Failure failure = kError;
  failure.http_status = 502;
  EXPECT_EQ(settle(running(), failure)->failure, failure);
  EXPECT_EQ(settle(running(), failure, kAmbiguous)->failure, failure);
  EXPECT_EQ(settle(running(), failure, kThrottle)->failure, failure);
  EXPECT_EQ(settle(running(), failure, kSuccess)->failure, std::nullopt);
}

TEST(Rules, limits_below_one_count_as_one) {
  const TaskPolicy policy{.attempts = 0, .crashes = -1, .deferrals = 0};
  EXPECT_EQ(settle(running(), kError, kRetry, policy)->dead_reason, DeadReason::out_of_attempts);
  EXPECT_EQ(settle(running(), kCrash, kRetry, policy)->dead_reason, DeadReason::crashes);
  EXPECT_EQ(settle(running(), kError, kThrottle, policy)->dead_reason,
            DeadReason::throttled_too_long);
}

TEST(Rules, counts_do_not_overflow) {
  constexpr int most = std::numeric_limits<int>::max();
  const Task task = running({most, most, most, most});
  EXPECT_EQ(settle(task, kError)->spent, task.spent);
  EXPECT_EQ(settle(task, kCrash)->spent, task.spent);
  EXPECT_EQ(settle(task, BreakerOpen{1s})->spent, task.spent);
  EXPECT_EQ(begin_attempt(task, {}, kNow).number, most);
}

TEST(Claim, takes_the_next_token) {
  Task task = task_in(State::retrying);
  task.token = Token{6};
  EXPECT_EQ(claim(task, kNow)->token, Token{7});
}

TEST(Claim, waits_for_the_due_time) {
  Task task = task_in(State::retrying);
  task.due = kNow + 1ns;
  const auto refused = claim(task, kNow);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text(), "claim: the task is not due yet");
  EXPECT_TRUE(claim(task, kNow + 1ns));
}

TEST(Claim, leaves_the_deadline_to_who_begins_the_attempt) {
  const Task task = with_deadline(task_in(State::retrying), 0s);
  EXPECT_EQ(claim(task, kNow + 1s)->to, State::running);
  EXPECT_FALSE(is_late(task, kNow));
  EXPECT_TRUE(is_late(task, kNow + 1ns));
  EXPECT_FALSE(is_late(task_in(State::retrying), WallTime::max()));
}

TEST(Claim, refuses_what_runs_or_has_ended) {
  for (const State state :
       {State::running, State::succeeded, State::failed, State::dead, State::canceled}) {
    const auto refused = claim(task_in(state), kNow);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  }
}

TEST(Attempt, ends_at_the_timeout_or_the_deadline) {
  Task task = running({.attempts = 1, .crashes = 1, .deferrals = 9});
  task.token = Token{3};
  const Attempt attempt = begin_attempt(task, {}, kNow);
  EXPECT_EQ(attempt.number, 3);
  EXPECT_EQ(attempt.token, Token{3});
  EXPECT_EQ(attempt.end, kNow + 30s);
  EXPECT_EQ(begin_attempt(with_deadline(task, 5s), {}, kNow).end, kNow + 5s);
  EXPECT_EQ(begin_attempt(task, {.timeout = 0s}, kNow).end, WallTime::max());
}

TEST(Cancel, refuses_what_has_ended) {
  for (const State state : {State::succeeded, State::failed, State::dead, State::canceled}) {
    const auto refused = cancel(task_in(state), kNow);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().text(), "cancel: the task is " + std::string(to_string(state)) +
                                          ", not pending, retrying or running");
  }
}

TEST(Cancel, makes_a_late_settlement_refused) {
  Task task = running();
  apply(cancel(task, kNow).value(), task);
  EXPECT_FALSE(settle(task, Success{}));
}

TEST(Replay, begins_afresh) {
  Task task = with_deadline(task_in(State::dead), -1h);
  task.spent = {4, 1, 7, 1};
  task.previous_wait = 4s;
  task.last_failure = kError;
  task.token = Token{5};
  apply(replay(task, {}, {}, kNow).value(), task);
  EXPECT_EQ(task.spent, (Spent{.replays = 2}));
  EXPECT_EQ(task.previous_wait, 0s);
  EXPECT_EQ(task.deadline, std::nullopt);
  EXPECT_EQ(task.dead_reason, std::nullopt);
  EXPECT_EQ(task.last_failure, kError);
  EXPECT_EQ(task.token, Token{6});  // so that a second replay of the same death is refused
}

TEST(Replay, may_keep_what_is_spent_but_for_one_more_run) {
  Task task = task_in(State::dead);
  task.spent = {4, 1, 7, 0};
  const auto transition = replay(task, {.reset = false, .deadline = kNow + 1h}, {}, kNow);
  EXPECT_EQ(transition->spent, (Spent{3, 1, 7, 1}));
  EXPECT_EQ(transition->deadline, kNow + 1h);
}

TEST(Replay, brings_back_failed_and_dead_tasks_only) {
  for (const State state :
       {State::pending, State::running, State::retrying, State::succeeded, State::canceled}) {
    const auto refused = replay(task_in(state), {.insist = true}, {}, kNow);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().text(),
              "replay: the task is " + std::string(to_string(state)) + ", not failed or dead");
  }
}

TEST(Replay, N3_N7_leaves_the_quarantined_to_a_person) {
  for (const DeadReason reason :
       {DeadReason::crashes, DeadReason::ambiguous, DeadReason::replays}) {
    Task task = task_in(State::dead);
    task.dead_reason = reason;
    const auto refused = replay(task, {}, {}, kNow);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::conflict);
    EXPECT_EQ(refused.error().message, "the task is quarantined (" +
                                           std::string(to_string(reason)) +
                                           "): only a replay that insists brings it back");
    EXPECT_TRUE(replay(task, {.insist = true}, {}, kNow));
  }
}

TEST(Replay, N3_is_refused_when_the_policy_allows_no_more) {
  Task task = task_in(State::failed);
  task.spent.replays = 3;
  const auto refused = replay(task, {}, {}, kNow);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "the task has been replayed 3 times, and its policy allows 3");
  EXPECT_EQ(replay(task, {.insist = true}, {}, kNow)->spent.replays, 4);
  EXPECT_FALSE(replay(task_in(State::failed), {}, {.replays = 0}, kNow));
}

// N3
TEST(Replay, N3_dying_again_after_the_last_one_is_quarantine) {
  EXPECT_EQ(settle(running({.attempts = 3, .replays = 2}), kError)->dead_reason,
            DeadReason::out_of_attempts);
  EXPECT_EQ(settle(running({.attempts = 3, .replays = 3}), kError)->dead_reason,
            DeadReason::replays);
  EXPECT_EQ(settle(running({.crashes = 2, .replays = 3}), kCrash)->dead_reason,
            DeadReason::crashes);
  EXPECT_EQ(settle(running({.attempts = 3}), kError, kRetry, {.replays = 0})->dead_reason,
            DeadReason::out_of_attempts);
}

}  // namespace
}  // namespace holdfast::core::rules_test
