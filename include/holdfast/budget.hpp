#pragma once

#include <atomic>
#include <cstdint>

#include <holdfast/clock.hpp>

namespace holdfast {

// How many retries all callers of one dependency may make together. Each call earns a fraction of a
// retry; each retry costs a whole one; a trickle comes with time, so that a quiet caller can retry
// too. When a dependency is down, what was saved up is soon spent; then retries add `ratio` to its
// load, and the trickle, instead of multiplying it.
//
// Threads: all members may be called from any thread at once; there is no lock. The clock must
// outlive the budget.
class RetryBudget {
 public:
  struct Options {
    double ratio = 0.2;      // retries earned by one call
    double per_second = 10;  // retries that come with time
    double capacity = 100;   // the most that can be saved up; also what it begins with
  };

  RetryBudget() : RetryBudget(Options()) {}
  explicit RetryBudget(Options options, Clock& clock = system_clock());

  // A call was made (its first attempt): earns its fraction.
  void earn() noexcept {
    if (parts_.load(std::memory_order_relaxed) >= capacity_parts_) return;  // the usual case: full
    add(earn_parts_);
  }

  // Takes one retry out; false if there is none.
  [[nodiscard]] bool spend() noexcept;

  // Whole and part retries left now.
  [[nodiscard]] double left() noexcept;

 private:
  void add(std::int64_t parts) noexcept;
  void refill() noexcept;

  // Constant.
  Clock& clock_;
  const std::int64_t earn_parts_;
  const std::int64_t capacity_parts_;
  const double parts_per_ns_;

  // Shared. A retry is kPartsPerRetry parts, so that fractions add up exactly.
  std::atomic<std::int64_t> parts_;
  std::atomic<std::int64_t> refilled_ns_;
};

}  // namespace holdfast
