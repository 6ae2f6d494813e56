#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <string>

#include <holdfast/retry/wait.hpp>

namespace holdfast::retry {

// One wait, with what a jitter or a cap around it must know.
struct Step {
  Duration wait{};
  Duration first{};                // where decorrelated jitter starts
  Duration cap = Duration::max();  // holds after jitter
  Duration previous{};             // the wait before this one; zero at the beginning of a part
  bool asked_by_error = false;     // then it is not jittered
};

// What a Wait is made of. Immutable, so shared freely between waits and threads. step() is called
// with a retry number of at least 1, gives waits of zero or more, and allocates nothing.
class Wait::Schedule {
 public:
  static constexpr int kForEver = std::numeric_limits<int>::max();

  virtual ~Schedule() = default;
  virtual Step step(const WaitInput& input, Random& random) const = 0;
  virtual std::string text() const = 0;
  // How many retries it has waits for before `then` takes over.
  virtual int covers() const { return kForEver; }
  virtual Duration ceiling() const noexcept { return Duration::max(); }
  // Whether text() needs brackets when something is said of the whole.
  virtual bool is_compound() const { return false; }
};

using SchedulePointer = std::shared_ptr<const Wait::Schedule>;

inline Duration not_negative(Duration wait) {
  return std::max(wait, Duration::zero());
}

}  // namespace holdfast::retry
