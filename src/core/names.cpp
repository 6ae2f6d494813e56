// The words for the enumerations of the public headers, as logs and the outside face use them.
#include <holdfast/failure.hpp>
#include <holdfast/log.hpp>
#include <holdfast/result.hpp>
#include <holdfast/verdict.hpp>

namespace holdfast {

std::string_view to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid argument";
    case ErrorCode::not_found: return "not found";
    case ErrorCode::conflict: return "conflict";
    case ErrorCode::unavailable: return "unavailable";
    case ErrorCode::timeout: return "timeout";
    case ErrorCode::canceled: return "canceled";
    case ErrorCode::exhausted: return "exhausted";
    case ErrorCode::overloaded: return "overloaded";
    case ErrorCode::corrupt: return "corrupt";
    case ErrorCode::internal: return "internal";
  }
  return "internal";
}

std::string_view to_string(FailureKind kind) noexcept {
  switch (kind) {
    case FailureKind::error: return "error";
    case FailureKind::timeout: return "timeout";
    case FailureKind::crash: return "crash";
  }
  return "error";
}

std::string_view to_string(VerdictKind kind) noexcept {
  switch (kind) {
    case VerdictKind::retry: return "retry";
    case VerdictKind::throttle: return "throttle";
    case VerdictKind::give_up: return "give up";
    case VerdictKind::ambiguous: return "ambiguous";
    case VerdictKind::success: return "success";
  }
  return "retry";
}

std::string_view to_string(Level level) noexcept {
  switch (level) {
    case Level::debug: return "debug";
    case Level::info: return "info";
    case Level::warning: return "warning";
    case Level::error: return "error";
    case Level::critical: return "critical";
  }
  return "info";
}

}  // namespace holdfast
