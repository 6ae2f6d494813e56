#pragma once

#include <optional>

#include <holdfast/clock.hpp>
#include <holdfast/result.hpp>
#include <holdfast/verdict.hpp>

#include "core/task.hpp"

// The rules of tasks: pure functions that say what becomes of one. They change nothing; whoever
// asks carries the answer out (Store::settle), and does so only if the task still is what was asked
// about.
//
// A move that the task's state does not allow is refused with ErrorCode::conflict: it is how a late
// or repeated settlement looks, not a bug. Nothing is to be written then.
namespace holdfast::core {

// What error texts of tasks given up at once begin with (C1.1).
inline constexpr std::string_view kNonRetryable = "[NON_RETRYABLE] ";

// What error texts of tasks begin with that were given up as dead letters (C3.2).
inline constexpr std::string_view kFromDeadLetters = "[DLQ] ";

// A task's way from one state to the next, with all that is different afterwards.
struct Transition {
  State from{};
  State to{};
  Event event{};
  Spent spent;                            // after
  Token token;                            // after
  WallTime due{};                         // of pending and retrying; else the time of the move
  Duration wait{};                        // from now to due
  Duration previous_wait{};               // after
  std::optional<WallTime> deadline;       // after
  std::optional<DeadReason> dead_reason;  // if `to` is dead, or it was and is given up now
  std::optional<Failure> failure;         // to be kept as the last one; nothing: keep what there is

  bool operator==(const Transition&) const = default;
};

// What becomes of a running task whose attempt ended with `outcome`. `verdict` is the classifier's
// word on a Failure and not looked at otherwise.
//
// - success, or a failure with verdict success ("already known"): succeeded.
// - give up: failed at once. Ambiguous: dead, for a person to look at. Both count the attempt (or
//   the crash) that told.
// - an error or timeout: counts an attempt; retrying, or dead when it was the last.
// - a crash: counts a crash, whatever the verdict would wait for; retrying, or dead when it was the
//   last.
// - throttle, or an open breaker: counts a deferral and no attempt; retrying, or dead when it was
//   the last.
// - handed back: pending, due now; counts nothing.
// - expired: dead, whatever its policy; counts nothing.
//
// Waits: by the policy, from the count that has just grown; at least what the verdict and the
// failure's Retry-After ask for; a breaker's own wait for a breaker, and the policy's first where
// it cannot say; never longer than policy.longest_wait. A due time after the deadline makes the
// task dead at once. A task that dies of attempts, deferrals or deadline after policy.replays
// replays is quarantined instead: dead for DeadReason::replays (N3).
[[nodiscard]] Result<Transition> decide(const Task& task, const Outcome& outcome,
                                        const Verdict& verdict, const TaskPolicy& policy,
                                        WallTime now, Random& random);

// A pending or retrying task that is due: running, with the next token. Refused before it is due.
// Its deadline does not matter here, so that stores can claim without knowing any policy; whoever
// begins the attempt looks at it, with is_late().
[[nodiscard]] Result<Transition> claim(const Task& task, WallTime now);

// Too late to begin an attempt: it is settled as Expired instead.
[[nodiscard]] inline bool is_late(const Task& task, WallTime now) {
  return task.deadline && now > *task.deadline;
}

// The attempt that a claim at `now` begins; `task` is the running task.
[[nodiscard]] Attempt begin_attempt(const Task& task, const TaskPolicy& policy, WallTime now);

// Canceled, from any state that is not terminal. One that does not run gets the next token, so that
// who canceled it can be noted (N3); one that runs keeps that of its claim, which ends with it.
[[nodiscard]] Result<Transition> cancel(const Task& task, WallTime now);

struct ReplayOptions {
  // Begin with nothing spent; or with what is spent, less what one more run needs.
  bool reset = true;
  // Also bring back what needs a person (quarantined), or has been replayed as often as its policy
  // allows. For a task that somebody has looked at, never for a whole group.
  bool insist = false;
  // The old deadline is dropped: it belongs to a promise that was broken already.
  std::optional<WallTime> deadline = {};
};

// A failed or dead task: pending again, due now, one replay more, with the next token, so that two
// replays of one death cannot both be carried out.
[[nodiscard]] Result<Transition> replay(const Task& task, const ReplayOptions& options,
                                        const TaskPolicy& policy, WallTime now);

// A failed or dead task that nobody wants back: canceled, with the next token, so that who did it
// can be noted (N3). Its record stays until it is purged.
[[nodiscard]] Result<Transition> discard(const Task& task, WallTime now);

// A dead letter that nobody is to look after any more: failed, with what it died of behind
// `[DLQ] Message moved to DLQ after N retries`. Also one that waits and whose message a broker has
// put among its dead letters by itself. `tried`: how often, where others have counted more than the
// task has spent. It gets the next token, so that what was decided of the dead letter before cannot
// be carried out any more; and it stays quarantined if it was.
[[nodiscard]] Result<Transition> close(const Task& task, int tried, WallTime now);

// The task after the transition. The transition must have been made from it.
void apply(const Transition& transition, Task& task);

}  // namespace holdfast::core
