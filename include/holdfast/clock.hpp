#pragma once

#include <cstdint>
#include <stop_token>

#include <holdfast/time.hpp>

namespace holdfast {

// Where time comes from. Nothing in Holdfast reads a clock or sleeps but through this, so that
// tests can put testing::FakeClock in its place and never wait.
//
// Threads: all members may be called from any thread at once.
class Clock {
 public:
  virtual ~Clock() = default;

  [[nodiscard]] virtual SteadyTime now() const noexcept = 0;
  [[nodiscard]] virtual WallTime wall_now() const noexcept = 0;

  // now(), or a few milliseconds before it, where that is cheaper to have: for what is done on
  // every call and is as good a little early.
  [[nodiscard]] virtual SteadyTime rough_now() const noexcept { return now(); }

  // Blocks until `until` is reached (true) or `stop` is requested (false, within milliseconds).
  // A time already reached returns at once; a stop already requested wins over it.
  virtual bool sleep_until(SteadyTime until, std::stop_token stop) = 0;

  bool sleep_for(Duration span, std::stop_token stop = {}) {
    return sleep_until(saturating_add(now(), span), std::move(stop));
  }
};

// Where randomness (jitter, ids) comes from. Threads: as Clock.
class Random {
 public:
  virtual ~Random() = default;

  // 64 bits, each value equally likely.
  virtual std::uint64_t next() noexcept = 0;

  // Evenly spread over [0, 1).
  double unit() noexcept { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
};

// The machine's own. They live as long as the program.
Clock& system_clock() noexcept;
Random& system_random() noexcept;

}  // namespace holdfast
