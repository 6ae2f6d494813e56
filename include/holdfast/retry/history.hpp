#pragma once

#include <cstddef>
#include <deque>
#include <exception>
#include <optional>

#include <holdfast/failure.hpp>
#include <holdfast/retry/stop.hpp>

namespace holdfast::retry {

// What one call went through. Hand it to Policy::call to have it filled in; it is cleared first.
// Keeps the last kMostFailures failures, so that a call that is retried for days stays small.
class History {
 public:
  static constexpr std::size_t kMostFailures = 1000;

  struct Entry {
    int attempt = 1;
    Failure failure;
    std::exception_ptr exception;  // where the attempt threw
    Duration wait{};               // before the next attempt; zero where there was none
  };

  [[nodiscard]] int attempts() const noexcept { return attempts_; }
  [[nodiscard]] Duration waited() const noexcept { return waited_; }  // the sum of all waits
  // Why it was not tried again; nothing if it succeeded.
  [[nodiscard]] std::optional<GiveUp> gave_up() const noexcept { return gave_up_; }
  [[nodiscard]] bool succeeded() const noexcept { return attempts_ > 0 && !gave_up_; }
  [[nodiscard]] const std::deque<Entry>& failures() const noexcept { return failures_; }

 private:
  friend class Run;

  int attempts_ = 0;
  Duration waited_{};
  std::optional<GiveUp> gave_up_;
  std::deque<Entry> failures_;
};

}  // namespace holdfast::retry
