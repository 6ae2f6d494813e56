#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

namespace holdfast {

// How an attempt ended badly: it said so, it took too long, or it took its worker down with it.
enum class FailureKind : std::uint8_t { error, timeout, crash };

[[nodiscard]] std::string_view to_string(FailureKind kind) noexcept;

// What is known of one failure. Owns nothing: it is what classifiers look at, and a 10 MB error
// text is not copied for that.
struct FailureView {
  std::string_view message = {};
  FailureKind kind = FailureKind::error;
  std::optional<int> http_status{};
  std::optional<int> exit_code{};
  std::optional<int> os_error{};  // errno
  std::optional<Duration> retry_after{};
};

// The same, owning its message: what is kept.
struct Failure {
  std::string message = {};
  FailureKind kind = FailureKind::error;
  std::optional<int> http_status{};
  std::optional<int> exit_code{};
  std::optional<int> os_error{};
  std::optional<Duration> retry_after{};

  [[nodiscard]] FailureView view() const& noexcept {
    return {message, kind, http_status, exit_code, os_error, retry_after};
  }
  bool operator==(const Failure&) const = default;
};

// How an error becomes a Failure. For a type of your own, write `to_failure` beside it, found by
// argument-dependent lookup, and say what you know (an HTTP status, a Retry-After). Of an
// exception the type is known only to who names it: in Policy::retry_on, give_up_on, retry_if or
// describe.
[[nodiscard]] Failure to_failure(const std::exception& error);
[[nodiscard]] Failure to_failure(const std::exception_ptr& error);
[[nodiscard]] Failure to_failure(const std::error_code& error);
[[nodiscard]] Failure to_failure(const Error& error);
[[nodiscard]] Failure to_failure(std::string_view error);
[[nodiscard]] inline Failure to_failure(const Failure& failure) {
  return failure;
}

// The value of an HTTP Retry-After header: seconds, or a date of one of the three forms that HTTP
// allows. A date in the past is a wait of zero. Nothing if it is neither.
[[nodiscard]] std::optional<Duration> parse_retry_after(std::string_view value,
                                                        WallTime now) noexcept;

}  // namespace holdfast
