// What holds for every task, policy and order of events.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "core/rules.hpp"
#include "core/rules_testing.hpp"

namespace holdfast::core::rules_properties_test {
namespace {

using namespace std::chrono_literals;

constexpr Duration kCap = 5min;

Duration any_duration() {
  return Duration(*rc::gen::arbitrary<std::int64_t>());
}

TaskPolicy any_policy() {
  const auto jitter = *rc::gen::element(retry::Jitter::none, retry::Jitter::full,
                                        retry::Jitter::equal, retry::Jitter::decorrelated);
  return {.attempts = *rc::gen::inRange(0, 6),
          .crashes = *rc::gen::inRange(0, 4),
          .deferrals = *rc::gen::inRange(0, 8),
          .replays = *rc::gen::inRange(0, 3),
          .wait = retry::exponential({.cap = kCap, .jitter = jitter})};
}

int limit(int count) {
  return std::max(count, 1);
}

// A task as it may be found under `policy`: what has not ended has not reached a limit.
Task any_task(const TaskPolicy& policy, State state) {
  Task task = task_in(state);
  task.spent = {.attempts = *rc::gen::inRange(0, limit(policy.attempts)),
                .crashes = *rc::gen::inRange(0, limit(policy.crashes)),
                .deferrals = *rc::gen::inRange(0, limit(policy.deferrals)),
                .replays = *rc::gen::inRange(0, 5)};
  task.token = Token{*rc::gen::inRange<std::uint64_t>(0, 100)};
  task.previous_wait = std::chrono::seconds(*rc::gen::inRange(0, 1000));
  if (*rc::gen::arbitrary<bool>()) {
    task.deadline = kNow + std::chrono::seconds(*rc::gen::inRange(-10, 1000));
  }
  if (state == State::dead) {
    task.dead_reason = *rc::gen::element(DeadReason::out_of_attempts, DeadReason::crashes,
                                         DeadReason::ambiguous, DeadReason::deadline,
                                         DeadReason::throttled_too_long, DeadReason::replays);
  }
  return task;
}

State any_state() {
  return *rc::gen::element(State::pending, State::running, State::retrying, State::succeeded,
                           State::failed, State::dead, State::canceled);
}

Verdict any_verdict() {
  Verdict verdict;
  verdict.kind = *rc::gen::element(VerdictKind::retry, VerdictKind::throttle, VerdictKind::give_up,
                                   VerdictKind::ambiguous, VerdictKind::success);
  if (*rc::gen::arbitrary<bool>()) verdict.wait = any_duration();
  return verdict;
}

Failure any_failure() {
  Failure failure =
      failure_of(*rc::gen::element(FailureKind::error, FailureKind::timeout, FailureKind::crash));
  if (*rc::gen::arbitrary<bool>()) failure.retry_after = any_duration();
  return failure;
}

Outcome any_outcome() {
  switch (*rc::gen::inRange(0, 6)) {
    case 0: return Success{"done"};
    case 1: return HandedBack{};
    case 3: return Expired{};
    case 2: return BreakerOpen{any_duration()};
    default: return any_failure();
  }
}

SameRandom any_random() {
  return SameRandom(*rc::gen::arbitrary<std::uint64_t>());
}

// Anything that can be asked of a task, whether its state allows it or not.
Result<Transition> any_ask(const Task& task, const TaskPolicy& policy, WallTime now) {
  SameRandom random = any_random();
  switch (*rc::gen::inRange(0, 9)) {
    case 0: return cancel(task, now);
    case 1:
      return replay(task,
                    {.reset = *rc::gen::arbitrary<bool>(), .insist = *rc::gen::arbitrary<bool>()},
                    policy, now);
    case 2:
    case 3: return claim(task, now);
    case 4: return discard(task, now);
    case 5: return close(task, *rc::gen::inRange(0, 9), now);
    default: return decide(task, any_outcome(), any_verdict(), policy, now, random);
  }
}

RC_GTEST_PROP(RulesProperty, every_transition_is_a_row_of_the_table, ()) {
  const TaskPolicy policy = any_policy();
  const Task task = any_task(policy, any_state());
  const auto transition = any_ask(task, policy, kNow);
  if (!transition) return;
  RC_ASSERT(std::ranges::count(kMoves, move_of(task, *transition)) == 1);
}

RC_GTEST_PROP(RulesProperty, a_terminal_state_changes_only_by_hand_or_as_a_dead_letter, ()) {
  const TaskPolicy policy = any_policy();
  const Task task = any_task(policy, any_state());
  RC_PRE(is_terminal(task.state));
  const auto transition = any_ask(task, policy, kNow);
  if (!transition) return;
  const bool by_hand = transition->event == Event::replay || transition->event == Event::discard;
  const bool closes = task.state == State::dead && transition->event == Event::close;
  RC_ASSERT(by_hand || closes);
}

// N7
RC_GTEST_PROP(RulesProperty, N7_a_crash_and_an_error_are_counted_apart, ()) {
  const TaskPolicy policy = any_policy();
  const Task task = any_task(policy, State::running);
  SameRandom random = any_random();
  const Failure failure = any_failure();
  const auto after = decide(task, failure, any_verdict(), policy, kNow, random)->spent;
  if (failure.kind == FailureKind::crash) {
    RC_ASSERT(after.attempts == task.spent.attempts);
    RC_ASSERT(after.deferrals == task.spent.deferrals);
  } else {
    RC_ASSERT(after.crashes == task.spent.crashes);
  }
}

// T3
RC_GTEST_PROP(RulesProperty, T3_a_handed_back_task_spends_nothing, ()) {
  const TaskPolicy policy = any_policy();
  Task task = any_task(policy, State::running);
  const Task before = task;
  SameRandom random = any_random();
  apply(*decide(task, HandedBack{}, any_verdict(), policy, kNow, random), task);
  RC_ASSERT(task.state == State::pending);
  RC_ASSERT(task.due == kNow);
  task.state = before.state;
  RC_ASSERT(task == before);
}

// N4
// An outage may last for days: an open breaker spends nothing at all.
RC_GTEST_PROP(RulesProperty, N4_a_throttle_or_an_open_breaker_spends_no_attempt, ()) {
  const TaskPolicy policy = any_policy();
  const Task task = any_task(policy, State::running);
  SameRandom random = any_random();
  Failure failure = any_failure();
  failure.kind = *rc::gen::element(FailureKind::error, FailureKind::timeout);
  const bool breaker = *rc::gen::arbitrary<bool>();
  const Outcome outcome = breaker ? Outcome(BreakerOpen{any_duration()}) : Outcome(failure);
  const Verdict throttle{VerdictKind::throttle, any_duration()};
  Spent expected = task.spent;
  if (!breaker) ++expected.deferrals;
  RC_ASSERT(decide(task, outcome, throttle, policy, kNow, random)->spent == expected);
}

RC_GTEST_PROP(RulesProperty, waits_never_exceed_the_cap_or_the_deadline, ()) {
  TaskPolicy policy = any_policy();
  policy.longest_wait = Duration(*rc::gen::nonNegative<std::int64_t>());
  const Task task = any_task(policy, State::running);
  SameRandom random = any_random();
  const auto transition = *decide(task, any_outcome(), any_verdict(), policy, kNow, random);
  RC_ASSERT(transition.wait >= Duration::zero());
  RC_ASSERT(transition.wait <= policy.longest_wait);
  RC_ASSERT(transition.due >= kNow);
  if (transition.to == State::retrying && task.deadline)
    RC_ASSERT(transition.due <= *task.deadline);
}

RC_GTEST_PROP(RulesProperty, waits_that_nobody_asked_for_never_exceed_the_cap_of_the_policy, ()) {
  const TaskPolicy policy = any_policy();
  const Task task = any_task(policy, State::running);
  SameRandom random = any_random();
  Failure failure = any_failure();
  failure.retry_after.reset();
  Verdict verdict = any_verdict();
  verdict.wait.reset();
  RC_ASSERT(decide(task, failure, verdict, policy, kNow, random)->wait <= kCap);
}

RC_GTEST_PROP(RulesProperty, whatever_happens_limits_hold_and_the_token_only_grows, ()) {
  const TaskPolicy policy = any_policy();
  Task task = any_task(policy, State::pending);
  WallTime now = kNow;
  for (int i = 0; i < 60; ++i) {
    now = saturating_add(now, std::chrono::seconds(*rc::gen::inRange(0, 600)));
    const auto transition = any_ask(task, policy, now);
    if (!transition) continue;
    const Token before = task.token;
    apply(*transition, task);
    RC_ASSERT(task.token >= before);
    // What runs keeps the token of its claim to its end, whatever ends it.
    const bool grows = transition->from != State::running;
    RC_ASSERT((task.token > before) == grows);
    RC_ASSERT(task.spent.attempts <= limit(policy.attempts));
    RC_ASSERT(task.spent.crashes <= limit(policy.crashes));
    RC_ASSERT(task.spent.deferrals <= limit(policy.deferrals));
    // Also of what was dead and is given up: so what is quarantined stays so.
    const bool may_have_reason = task.state == State::dead || task.state == State::failed;
    RC_ASSERT(task.state != State::dead || task.dead_reason.has_value());
    RC_ASSERT(!task.dead_reason.has_value() || may_have_reason);
    if (is_terminal(task.state)) continue;
    RC_ASSERT(task.spent.attempts < limit(policy.attempts));
    RC_ASSERT(task.spent.crashes < limit(policy.crashes));
    RC_ASSERT(task.spent.deferrals < limit(policy.deferrals));
  }
}

// A hand-back and an open breaker spend nothing, and a replay is a person's wish; all else brings
// the end nearer.
RC_GTEST_PROP(RulesProperty, a_task_that_is_run_whenever_due_comes_to_an_end, ()) {
  const TaskPolicy policy = any_policy();
  Task task = any_task(policy, State::pending);
  SameRandom random = any_random();
  WallTime now = kNow;
  const int bound = limit(policy.attempts) + limit(policy.crashes) + limit(policy.deferrals) - 2;
  int settled = 0;
  int put_off = 0;
  while (!is_terminal(task.state)) {
    RC_ASSERT(settled < bound);
    now = std::max(now, task.due);
    apply(*claim(task, now), task);
    Verdict verdict = any_verdict();
    verdict.kind = *rc::gen::element(VerdictKind::retry, VerdictKind::throttle);
    const bool breaker = put_off < 20 && *rc::gen::inRange(0, 4) == 0;
    const Outcome outcome = breaker ? Outcome(BreakerOpen{any_duration()}) : any_failure();
    apply(*decide(task, outcome, verdict, policy, now, random), task);
    ++(breaker ? put_off : settled);
  }
}

}  // namespace
}  // namespace holdfast::core::rules_properties_test
