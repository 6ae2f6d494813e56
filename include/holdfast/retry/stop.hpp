#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <vector>

#include <holdfast/time.hpp>

namespace holdfast::retry {

// Why a call was not tried again.
enum class GiveUp : std::uint8_t {
  attempts,        // as many as the policy allows
  time,            // the deadline is reached, or would be before the next attempt
  stop_requested,  // a stop token, or the cancellation of a coroutine
  not_retryable,   // the policy's conditions or its classifier say that it cannot recover
  ambiguous,       // it may have happened: the classifier says never to retry it blindly
  already_done,    // it has happened: the classifier says that the error means success
  budget,          // the retry budget is spent
  breaker_open,    // the circuit breaker is open
};

[[nodiscard]] std::string_view to_string(GiveUp reason) noexcept;

struct StopInput {
  int attempts = 1;      // made so far
  SteadyTime started{};  // when the first of them began
  SteadyTime next{};     // when the next one would begin
};

// When to stop trying: an immutable value, cheap to copy, safe to share between threads.
//
// It is asked after a failure, about the moment at which the next attempt would begin. So a wait
// that would end at or after a deadline is never begun: the call gives up at once instead. The
// first attempt is always made.
class Stop {
 public:
  Stop() = default;  // never

  // The reason to stop, if there is one.
  [[nodiscard]] std::optional<GiveUp> reached(const StopInput& input) const;

  // After this no further attempt begins; none if nothing bounds the time.
  [[nodiscard]] std::optional<SteadyTime> deadline(SteadyTime started) const;

  // Whether any part of it looks at the clock. A policy that need not know the time does not ask.
  [[nodiscard]] bool timed() const;

  // Every stop token in it: what must end a sleep early.
  [[nodiscard]] std::vector<std::stop_token> tokens() const;

  friend Stop operator|(const Stop& a, const Stop& b);  // as soon as either says so
  friend Stop operator&(const Stop& a, const Stop& b);  // only when both say so

  struct Condition;
  explicit Stop(std::shared_ptr<const Condition> condition) : condition_(std::move(condition)) {}

 private:
  std::shared_ptr<const Condition> condition_;
};

[[nodiscard]] Stop never();
[[nodiscard]] Stop attempts(int most);  // at least 1
[[nodiscard]] Stop elapsed(Duration most);
[[nodiscard]] Stop deadline(SteadyTime at);
[[nodiscard]] Stop requested(std::stop_token token);

}  // namespace holdfast::retry
