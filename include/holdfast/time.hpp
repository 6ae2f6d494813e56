#pragma once

#include <chrono>

namespace holdfast {

// Every span of time in Holdfast. 64 bits of nanoseconds reach 292 years.
using Duration = std::chrono::nanoseconds;

// Steady time: for waiting and for deadlines inside one process. Never jumps.
using SteadyTime = std::chrono::time_point<std::chrono::steady_clock, Duration>;

// Wall time: for what people read and what outlives a process. May jump.
using WallTime = std::chrono::time_point<std::chrono::system_clock, Duration>;

// Sums that stop at the end of the range instead of wrapping around it.
[[nodiscard]] constexpr Duration saturating_add(Duration a, Duration b) noexcept {
  if (b > Duration::zero() && a > Duration::max() - b) return Duration::max();
  if (b < Duration::zero() && a < Duration::min() - b) return Duration::min();
  return a + b;
}

template <class Clock>
[[nodiscard]] constexpr std::chrono::time_point<Clock, Duration> saturating_add(
    std::chrono::time_point<Clock, Duration> at, Duration by) noexcept {
  return std::chrono::time_point<Clock, Duration>(saturating_add(at.time_since_epoch(), by));
}

}  // namespace holdfast
