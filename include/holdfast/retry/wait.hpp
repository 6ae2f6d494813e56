#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <holdfast/clock.hpp>
#include <holdfast/failure.hpp>

namespace holdfast::retry {

// How far a wait is moved away from what its schedule says, so that callers who failed together do
// not come back together. The cap of a schedule holds after jitter, and a wait that the error asked
// for is never jittered.
enum class Jitter : std::uint8_t {
  none,
  full,          // anywhere in [0, wait]
  equal,         // half of it, plus anywhere in the other half
  decorrelated,  // anywhere in [first, 3 × the wait before]; before there is one, `first` counts as
                 // it
};

struct WaitInput {
  int retry = 1;        // 1 for the wait after the first failed attempt; less counts as 1
  Duration previous{};  // the wait before this one, as it was given out; zero for the first
  const FailureView* failure = nullptr;
};

// Waits first, first × factor, first × factor² … up to the cap. Negative durations count as zero, a
// factor below 1 (or not a number) as 1.
struct Exponential {
  Duration first = std::chrono::seconds(1);
  double factor = 2;
  Duration cap = std::chrono::minutes(5);
  Jitter jitter = Jitter::none;
};

// Waits first, first + step, first + 2 × step … up to the cap. Negative durations count as zero.
struct Linear {
  Duration first = std::chrono::seconds(1);
  Duration step = std::chrono::seconds(1);
  Duration cap = std::chrono::minutes(5);
  Jitter jitter = Jitter::none;
};

// How long to wait before the next attempt: an immutable value, cheap to copy, safe to share
// between threads. Waits are never negative, and stop at Duration::max() instead of overflowing.
class Wait {
 public:
  class Schedule;

  Wait();  // no wait at all
  // For the functions below; `schedule` must not be null.
  explicit Wait(std::shared_ptr<const Schedule> schedule) : schedule_(std::move(schedule)) {}

  // Allocates nothing. Throws only what a `custom` function throws.
  [[nodiscard]] Duration next(const WaitInput& input, Random& random) const;

  // `wait`, or what somebody else asked for if that is longer; never more than `capped` said last.
  [[nodiscard]] Duration or_longer(Duration wait, Duration asked) const noexcept;

  // In words: "1s, 2s, 4s … at most 16s".
  [[nodiscard]] std::string text() const;

  // This wait for the first `count` retries, to be followed by `then`; with nothing to follow it
  // goes on. A negative count is zero.
  [[nodiscard]] Wait times(int count) const;
  // After the retries that `times` or `list` cover: `rest`, counted from its own beginning (its
  // first wait has retry 1 and no wait before it). A wait that covers everything has no rest.
  [[nodiscard]] Wait then(Wait rest) const;
  [[nodiscard]] Wait jittered(Jitter jitter) const;
  // Never more than `cap`, whatever the error asks for. A negative cap is zero.
  [[nodiscard]] Wait capped(Duration cap) const;

  // Both waits, one after the other. It covers as many retries as the longer of those that end; one
  // that covers everything leaves that to the other.
  friend Wait operator+(const Wait& a, const Wait& b);
  friend Wait from_error(const Wait& otherwise);

 private:
  std::shared_ptr<const Schedule> schedule_;
};

[[nodiscard]] Wait no_wait();
[[nodiscard]] Wait fixed(Duration wait);
// These waits one by one, then the last one for ever (or what follows with `then`). An empty list
// is no wait.
[[nodiscard]] Wait list(std::initializer_list<Duration> waits);
[[nodiscard]] Wait list(std::span<const Duration> waits);
[[nodiscard]] Wait linear(Linear options);
[[nodiscard]] Wait exponential(Exponential options = {});
// What the error asks for (Retry-After), or `otherwise` where it asks for nothing. The error's wish
// is kept in full unless `capped`: coming back early only costs another refusal.
[[nodiscard]] Wait from_error(const Wait& otherwise);
// Your own: called with what is known, from any thread that uses the wait; a negative answer counts
// as zero. `text` is what text() says of it.
[[nodiscard]] Wait custom(std::function<Duration(const WaitInput&)> function, std::string text);

}  // namespace holdfast::retry
