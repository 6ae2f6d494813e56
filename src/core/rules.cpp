#include "core/rules.hpp"

#include <algorithm>
#include <limits>

namespace holdfast::core {
namespace {

int one_more(int count) {
  return count == std::numeric_limits<int>::max() ? count : count + 1;
}

bool reached(int count, int limit) {
  return count >= std::max(limit, 1);
}

bool replays_used_up(const Spent& spent, const TaskPolicy& policy) {
  return spent.replays >= std::max(policy.replays, 0);
}

std::unexpected<Error> refuse(const Task& task, std::string operation, std::string_view needed) {
  return fail(ErrorCode::conflict, std::move(operation),
              "the task is " + std::string(to_string(task.state)) + ", not " + std::string(needed));
}

// The transition that leaves all as it is but for the state.
Transition move(const Task& task, Event event, State to, WallTime now) {
  return {.from = task.state,
          .to = to,
          .event = event,
          .spent = task.spent,
          .token = task.token,
          .due = now,
          .previous_wait = task.previous_wait,
          .deadline = task.deadline,
          .dead_reason = std::nullopt,
          .failure = std::nullopt};
}

void die(Transition& transition, DeadReason reason, const TaskPolicy& policy) {
  const bool again = transition.spent.replays > 0 && replays_used_up(transition.spent, policy);
  transition.to = State::dead;
  transition.dead_reason = again && !needs_person(reason) ? DeadReason::replays : reason;
}

// Puts the task off for `wait`, or ends it if that is after its deadline.
void put_off(Transition& transition, Duration wait, const TaskPolicy& policy, WallTime now) {
  const Duration longest = std::max(policy.longest_wait, Duration::zero());
  const Duration kept = std::clamp(wait, Duration::zero(), longest);
  const WallTime due = saturating_add(now, kept);
  if (transition.deadline && due > *transition.deadline) {
    die(transition, DeadReason::deadline, policy);
    return;
  }
  transition.to = State::retrying;
  transition.due = due;
  transition.wait = kept;
}

struct Settling {
  const Task& task;
  const Verdict& verdict;
  const TaskPolicy& policy;
  WallTime now;
  Random& random;

  Transition settle(const Success&) const {
    return move(task, Event::success, State::succeeded, now);
  }

  Transition settle(const HandedBack&) const {
    return move(task, Event::hand_back, State::pending, now);
  }

  Transition settle(const Expired&) const {
    Transition transition = move(task, Event::expire, State::dead, now);
    die(transition, DeadReason::deadline, policy);
    return transition;
  }

  Transition settle(const BreakerOpen& breaker) const {
    Transition transition = move(task, Event::breaker_open, State::retrying, now);
    const bool can_say = breaker.wait > Duration::zero();
    const Duration wait = can_say ? breaker.wait : policy.wait.next({}, random);
    put_off(transition, wait, policy, now);
    return transition;
  }

  Transition settle(const Failure& failure) const {
    const bool crashed = failure.kind == FailureKind::crash;
    switch (verdict.kind) {
      case VerdictKind::success: return move(task, Event::already_done, State::succeeded, now);
      case VerdictKind::give_up: return give_up(failure);
      case VerdictKind::ambiguous: return set_apart(failure);
      case VerdictKind::throttle: return crashed ? crash(failure) : throttle(failure);
      case VerdictKind::retry: return crashed ? crash(failure) : error(failure);
    }
    return crashed ? crash(failure) : error(failure);
  }

 private:
  Transition failed_move(Event event, const Failure& failure) const {
    Transition transition = move(task, event, State::retrying, now);
    transition.failure = failure;
    return transition;
  }

  void count_run(Transition& transition, const Failure& failure) const {
    int& count =
        failure.kind == FailureKind::crash ? transition.spent.crashes : transition.spent.attempts;
    count = one_more(count);
  }

  Transition give_up(const Failure& failure) const {
    Transition transition = failed_move(Event::give_up, failure);
    count_run(transition, failure);
    transition.to = State::failed;
    if (!failure.message.starts_with(kNonRetryable)) {
      transition.failure->message.insert(0, kNonRetryable);
    }
    return transition;
  }

  Transition set_apart(const Failure& failure) const {
    Transition transition = failed_move(Event::ambiguous, failure);
    count_run(transition, failure);
    die(transition, DeadReason::ambiguous, policy);
    return transition;
  }

  Transition error(const Failure& failure) const {
    return again(Event::error, failure, &Spent::attempts, policy.attempts,
                 DeadReason::out_of_attempts);
  }

  Transition crash(const Failure& failure) const {
    return again(Event::crash, failure, &Spent::crashes, policy.crashes, DeadReason::crashes);
  }

  Transition throttle(const Failure& failure) const {
    return again(Event::throttle, failure, &Spent::deferrals, policy.deferrals,
                 DeadReason::throttled_too_long);
  }

  // Counts it, and ends the task if that was the last one it had.
  Transition again(Event event, const Failure& failure, int Spent::* count, int limit,
                   DeadReason reason) const {
    Transition transition = failed_move(event, failure);
    const int spent = transition.spent.*count = one_more(task.spent.*count);
    if (reached(spent, limit)) {
      die(transition, reason, policy);
    } else {
      wait(transition, spent);
    }
    return transition;
  }

  void wait(Transition& transition, int retry) const {
    const FailureView failure = transition.failure->view();
    const Duration own = policy.wait.next({retry, task.previous_wait, &failure}, random);
    const Duration asked = std::max(verdict.wait.value_or(Duration::zero()),
                                    failure.retry_after.value_or(Duration::zero()));
    put_off(transition, policy.wait.or_longer(own, asked), policy, now);
    // Not what was asked for: one long Retry-After must not stretch every wait that grows from it.
    if (transition.to == State::retrying) transition.previous_wait = own;
  }
};

}  // namespace

Result<Transition> decide(const Task& task, const Outcome& outcome, const Verdict& verdict,
                          const TaskPolicy& policy, WallTime now, Random& random) {
  if (task.state != State::running) return refuse(task, "settle", "running");
  const Settling settling{task, verdict, policy, now, random};
  return std::visit([&](const auto& how) { return settling.settle(how); }, outcome);
}

Result<Transition> claim(const Task& task, WallTime now) {
  if (task.state != State::pending && task.state != State::retrying) {
    return refuse(task, "claim", "pending or retrying");
  }
  if (now < task.due) return fail(ErrorCode::conflict, "claim", "the task is not due yet");
  Transition claimed = move(task, Event::claim, State::running, now);
  ++claimed.token.value;
  return claimed;
}

Attempt begin_attempt(const Task& task, const TaskPolicy& policy, WallTime now) {
  Attempt attempt;
  const std::int64_t before = std::int64_t{task.spent.attempts} + task.spent.crashes;
  attempt.number =
      static_cast<int>(std::min<std::int64_t>(before + 1, std::numeric_limits<int>::max()));
  attempt.token = task.token;
  if (policy.timeout > Duration::zero()) attempt.end = saturating_add(now, policy.timeout);
  if (task.deadline) attempt.end = std::min(attempt.end, *task.deadline);
  return attempt;
}

Result<Transition> cancel(const Task& task, WallTime now) {
  if (is_terminal(task.state)) return refuse(task, "cancel", "pending, retrying or running");
  Transition transition = move(task, Event::cancel, State::canceled, now);
  if (task.state != State::running) ++transition.token.value;
  return transition;
}

Result<Transition> replay(const Task& task, const ReplayOptions& options, const TaskPolicy& policy,
                          WallTime now) {
  if (task.state != State::failed && task.state != State::dead) {
    return refuse(task, "replay", "failed or dead");
  }
  if (!options.insist && task.dead_reason && needs_person(*task.dead_reason)) {
    return fail(ErrorCode::conflict, "replay",
                "the task is quarantined (" + std::string(to_string(*task.dead_reason)) +
                    "): only a replay that insists brings it back");
  }
  if (!options.insist && replays_used_up(task.spent, policy)) {
    return fail(ErrorCode::conflict, "replay",
                "the task has been replayed " + std::to_string(task.spent.replays) +
                    " times, and its policy allows " + std::to_string(std::max(policy.replays, 0)));
  }
  Transition transition = move(task, Event::replay, State::pending, now);
  ++transition.token.value;
  const auto one_left = [](int count, int limit) {
    return std::min(count, std::max(limit, 1) - 1);
  };
  Spent& spent = transition.spent;
  spent.attempts = options.reset ? 0 : one_left(spent.attempts, policy.attempts);
  spent.crashes = options.reset ? 0 : one_left(spent.crashes, policy.crashes);
  spent.deferrals = options.reset ? 0 : one_left(spent.deferrals, policy.deferrals);
  spent.replays = one_more(spent.replays);
  if (options.reset) transition.previous_wait = Duration::zero();
  transition.deadline = options.deadline;
  return transition;
}

Result<Transition> discard(const Task& task, WallTime now) {
  if (task.state != State::failed && task.state != State::dead) {
    return refuse(task, "discard", "failed or dead");
  }
  Transition transition = move(task, Event::discard, State::canceled, now);
  ++transition.token.value;
  return transition;
}

Result<Transition> close(const Task& task, int tried, WallTime now) {
  if (task.state != State::dead && task.state != State::pending && task.state != State::retrying) {
    return refuse(task, "close", "dead, pending or retrying");
  }
  const std::int64_t spent = std::int64_t{task.spent.attempts} + task.spent.crashes;
  Transition transition = move(task, Event::close, State::failed, now);
  ++transition.token.value;
  transition.dead_reason = task.dead_reason;
  Failure failure = task.last_failure.value_or(Failure());
  std::string message(kFromDeadLetters);
  message += "Message moved to DLQ after " + std::to_string(std::max<std::int64_t>(spent, tried)) +
             " retries";
  if (!failure.message.empty()) message += ": " + failure.message;
  failure.message = std::move(message);
  transition.failure = std::move(failure);
  return transition;
}

void apply(const Transition& transition, Task& task) {
  task.state = transition.to;
  task.spent = transition.spent;
  task.token = transition.token;
  task.due = transition.due;
  task.previous_wait = transition.previous_wait;
  task.deadline = transition.deadline;
  task.dead_reason = transition.dead_reason;
  if (transition.failure) task.last_failure = transition.failure;
}

}  // namespace holdfast::core
