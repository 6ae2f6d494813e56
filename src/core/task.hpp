#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include <holdfast/failure.hpp>
#include <holdfast/retry/wait.hpp>
#include <holdfast/time.hpp>

#include "core/states.hpp"

namespace holdfast::core {

// Grows with each claim of a task, so that a settlement by an earlier claim can be refused (N6).
struct Token {
  std::uint64_t value = 0;

  auto operator<=>(const Token&) const = default;
};

// What a task has used up. Each has a limit of its own in TaskPolicy.
struct Spent {
  int attempts = 0;   // by errors and timeouts
  int crashes = 0;    // by taking its worker down (N7)
  int deferrals = 0;  // by throttles
  int replays = 0;    // by being brought back (N3)

  bool operator==(const Spent&) const = default;
};

// What the rules know of a task. Its id, queue and payload are none of their business.
struct Task {
  State state = State::pending;
  Spent spent;
  Token token;
  WallTime created{};
  WallTime due{};                    // pending, retrying: not to be claimed before
  std::optional<WallTime> deadline;  // no attempt begins after it
  Duration previous_wait{};          // what the policy's wait said last
  std::optional<Failure> last_failure;
  std::optional<DeadReason> dead_reason;  // of a dead task, and of a failed one that was dead

  bool operator==(const Task&) const = default;
};

// How a type of task is run. The count that reaches a limit ends the task; a limit below 1 is 1.
struct TaskPolicy {
  int attempts = 4;  // T1: the first, and 3 retries
  int crashes = 3;
  int deferrals = 1000;
  int replays = 3;  // a limit below 1: only a replay that insists
  retry::Wait wait = retry::exponential();
  // No wait is longer, whoever asks for it: a Retry-After of a hundred years would lose the task.
  Duration longest_wait = std::chrono::hours(24);
  Duration timeout = std::chrono::seconds(30);  // of one attempt (T4); zero or less: none
};

// One run of a task's handler, as the handler is told of it.
struct Attempt {
  int number = 1;  // counts attempts and crashes, so it tells a first run from a repeated one
  Token token;
  WallTime end = WallTime::max();  // the timeout or the task's deadline, whichever is first
};

struct Success {
  std::string result;
};

// The worker shuts down before the attempt has ended (T3).
struct HandedBack {};

// The attempt was not made: the breaker of what the task depends on is open (N4).
struct BreakerOpen {
  Duration wait{};  // until the breaker lets a probe through; zero if it cannot say
};

// The attempt was not made: the task's deadline had passed when it could have begun.
struct Expired {};

// How an attempt ended.
using Outcome = std::variant<Success, Failure, HandedBack, BreakerOpen, Expired>;

}  // namespace holdfast::core
