#pragma once

#include <cstdint>

#include <holdfast/clock.hpp>
#include <holdfast/task_id.hpp>
#include <holdfast/time.hpp>

namespace holdfast {

// Makes version 7 UUIDs, each greater than the one before: also within one millisecond, and while
// the clock has stepped back (the time of the latest one is then kept until the clock has caught
// up). RFC 9562, 6.2, method 2: the 74 random bits are a number that grows by a random step.
//
// Threads: one at a time. The random source must outlive it.
class UuidSource {
 public:
  explicit UuidSource(Random& random) : random_(&random) {}

  [[nodiscard]] Uuid next(WallTime now) noexcept;

 private:
  void start_millisecond(std::uint64_t unix_ms) noexcept;

  Random* random_;
  std::uint64_t unix_ms_ = 0;
  std::uint64_t high_ = 0;  // rand_a, 12 bits
  std::uint64_t low_ = 0;   // rand_b, 62 bits
  bool is_first_ = true;
};

}  // namespace holdfast
