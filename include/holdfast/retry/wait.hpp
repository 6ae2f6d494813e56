#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <holdfast/clock.hpp>
#include <holdfast/failure.hpp>

namespace holdfast::retry {

// How far a wait is moved away from what its schedule says, so that callers who failed together do
// not come back together. The cap of a schedule holds after jitter.
enum class Jitter : std::uint8_t {
  none,
  full,          // anywhere in [0, wait]
  equal,         // half of it, plus anywhere in the other half
  decorrelated,  // anywhere in [first, 3 × the wait before]
};

struct WaitInput {
  int retry = 1;  // 1 for the wait after the first failed attempt
  Duration previous{};  // the wait before this one, as it was given out; zero for the first
  const FailureView* failure = nullptr;
};

struct Exponential {
  Duration first = std::chrono::seconds(1);
  double factor = 2;
  Duration cap = std::chrono::minutes(5);
  Jitter jitter = Jitter::none;
};

struct Linear {
  Duration first = std::chrono::seconds(1);
  Duration step = std::chrono::seconds(1);
  Duration cap = std::chrono::minutes(5);
  Jitter jitter = Jitter::none;
};

// How long to wait before the next attempt: an immutable value, cheap to copy, safe to share between
// threads. Waits are never negative.
class Wait {
 public:
  class Schedule;

  Wait();  // no wait at all
  explicit Wait(std::shared_ptr<const Schedule> schedule) : schedule_(std::move(schedule)) {}

  [[nodiscard]] Duration next(const WaitInput& input, Random& random) const;

  // In words: "1s, 2s, 4s … at most 16s".
  [[nodiscard]] std::string text() const;

  // This wait for the first `count` retries, to be followed by `then`.
  [[nodiscard]] Wait times(int count) const;
  // After the retries that `times` or `list` cover: `rest`, counted from its own beginning.
  [[nodiscard]] Wait then(Wait rest) const;
  [[nodiscard]] Wait jittered(Jitter jitter) const;
  [[nodiscard]] Wait capped(Duration cap) const;

  // Both waits, one after the other.
  friend Wait operator+(const Wait& a, const Wait& b);

 private:
  std::shared_ptr<const Schedule> schedule_;
};

[[nodiscard]] Wait no_wait();
[[nodiscard]] Wait fixed(Duration wait);
// These waits one by one, then the last one for ever (or what follows with `then`).
[[nodiscard]] Wait list(std::initializer_list<Duration> waits);
[[nodiscard]] Wait list(std::span<const Duration> waits);
[[nodiscard]] Wait linear(Linear options);
[[nodiscard]] Wait exponential(Exponential options = {});
// What the error asks for (Retry-After), or `otherwise` where it asks for nothing. The error's wish
// is kept in full unless `capped`: coming back early only costs another refusal.
[[nodiscard]] Wait from_error(Wait otherwise);
// Your own: called with what is known; a negative answer counts as zero.
[[nodiscard]] Wait custom(std::function<Duration(const WaitInput&)> function, std::string text);

}  // namespace holdfast::retry
