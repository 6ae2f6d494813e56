// What the tests of the rules share.
#pragma once

#include <ostream>

#include <gtest/gtest.h>

#include "core/rules.hpp"

namespace holdfast::core {

// Says the same value every time: what is left of randomness here is in the hands of the test.
class SameRandom final : public Random {
 public:
  explicit SameRandom(std::uint64_t bits = 0) : bits_(bits) {}
  std::uint64_t next() noexcept override { return bits_; }

 private:
  const std::uint64_t bits_;
};

// A day in the middle of the range, so that times before it exist.
inline constexpr WallTime kNow{std::chrono::hours(24 * 365 * 50)};

inline Task task_in(State state) {
  Task task;
  task.state = state;
  task.created = kNow - std::chrono::minutes(1);
  task.due = kNow;
  if (state == State::dead) task.dead_reason = DeadReason::out_of_attempts;
  return task;
}

inline Failure failure_of(FailureKind kind, std::string message = "connection reset") {
  Failure failure;
  failure.message = std::move(message);
  failure.kind = kind;
  return failure;
}

// The row of kMoves that a transition away from `before` is. What it spends is read off the counts,
// not taken from the transition's word.
inline Move move_of(const Task& before, const Transition& transition) {
  Move move{transition.from, transition.event, transition.to, Spends::nothing,
            transition.dead_reason};
  const Spent& after = transition.spent;
  if (transition.event == Event::replay) {
    if (after.replays == before.spent.replays + 1) move.spends = Spends::replay;
    return move;
  }
  Spent by_attempt = before.spent;
  ++by_attempt.attempts;
  Spent by_crash = before.spent;
  ++by_crash.crashes;
  Spent by_deferral = before.spent;
  ++by_deferral.deferrals;
  if (after == by_attempt) move.spends = Spends::attempt;
  if (after == by_crash) move.spends = Spends::crash;
  if (after == by_deferral) move.spends = Spends::deferral;
  EXPECT_TRUE(move.spends != Spends::nothing || after == before.spent)
      << "counts more than one thing";
  return move;
}

inline std::ostream& operator<<(std::ostream& out, const Move& move) {
  out << to_string(move.from) << " --" << to_string(move.event) << "--> " << to_string(move.to);
  if (move.dead_reason) out << " (" << to_string(*move.dead_reason) << ")";
  return out << ", spends " << to_string(move.spends);
}

}  // namespace holdfast::core
