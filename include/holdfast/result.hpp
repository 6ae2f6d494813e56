#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace holdfast {

// What went wrong, as far as a program may want to act on it.
enum class ErrorCode : std::uint8_t {
  invalid_argument,  // the caller's input; the message says what and where
  not_found,
  conflict,     // the thing exists, or has moved on since it was read
  unavailable,  // a dependency cannot be reached now, or its breaker is open
  timeout,
  canceled,
  exhausted,   // no room is left: disk, memory, budget
  overloaded,  // a queue's backlog limit is reached: try again later
  corrupt,     // stored data cannot be what we wrote
  internal,    // a bug of ours
};

[[nodiscard]] std::string_view to_string(ErrorCode code) noexcept;

// An error of Holdfast's own. Errors of users' functions keep their own types.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string operation;  // what was being done: "parse duration", "submit"
  std::string message;    // what happened and, where there is one, where

  [[nodiscard]] std::string text() const { return operation + ": " + message; }
  bool operator==(const Error&) const = default;
};

template <class T>
using Result = std::expected<T, Error>;

[[nodiscard]] inline std::unexpected<Error> fail(ErrorCode code, std::string operation,
                                                 std::string message) {
  return std::unexpected(Error{code, std::move(operation), std::move(message)});
}

}  // namespace holdfast
