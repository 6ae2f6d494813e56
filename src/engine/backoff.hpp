#pragma once

#include <holdfast/retry/wait.hpp>

namespace holdfast::engine {

// How long to leave a store alone that does not answer (T10): one wait for all roles.
[[nodiscard]] inline const retry::Wait& store_wait() {
  static const retry::Wait wait = retry::exponential({.first = std::chrono::milliseconds(100),
                                                      .factor = 2,
                                                      .cap = std::chrono::seconds(5),
                                                      .jitter = retry::Jitter::equal});
  return wait;
}

// Counts failures in a row and says how long to wait after each.
class Backoff {
 public:
  [[nodiscard]] Duration next(Random& random) {
    previous_ = store_wait().next({.retry = ++failures_, .previous = previous_}, random);
    return previous_;
  }
  void reset() noexcept {
    failures_ = 0;
    previous_ = Duration::zero();
  }
  [[nodiscard]] int failures() const noexcept { return failures_; }

 private:
  int failures_ = 0;
  Duration previous_{};
};

}  // namespace holdfast::engine
