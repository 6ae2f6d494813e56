#include "core/states.hpp"

namespace holdfast {

std::string_view to_string(TaskState state) noexcept {
  switch (state) {
    case TaskState::pending: return "pending";
    case TaskState::running: return "running";
    case TaskState::retrying: return "retrying";
    case TaskState::succeeded: return "succeeded";
    case TaskState::failed: return "failed";
    case TaskState::dead: return "dead";
    case TaskState::canceled: return "canceled";
  }
  return "unknown";
}

std::string_view to_string(DeadReason reason) noexcept {
  switch (reason) {
    case DeadReason::out_of_attempts: return "out of attempts";
    case DeadReason::crashes: return "crashes";
    case DeadReason::ambiguous: return "ambiguous";
    case DeadReason::deadline: return "deadline";
    case DeadReason::throttled_too_long: return "throttled too long";
    case DeadReason::replays: return "replays";
  }
  return "unknown";
}

namespace core {

std::string_view to_string(Event event) noexcept {
  switch (event) {
    case Event::claim: return "claim";
    case Event::expire: return "expire";
    case Event::success: return "success";
    case Event::already_done: return "already done";
    case Event::error: return "error";
    case Event::crash: return "crash";
    case Event::throttle: return "throttle";
    case Event::breaker_open: return "breaker open";
    case Event::give_up: return "give up";
    case Event::ambiguous: return "ambiguous";
    case Event::hand_back: return "hand back";
    case Event::cancel: return "cancel";
    case Event::replay: return "replay";
    case Event::discard: return "discard";
    case Event::close: return "close";
  }
  return "unknown";
}

std::string_view to_string(Spends spends) noexcept {
  switch (spends) {
    case Spends::nothing: return "nothing";
    case Spends::attempt: return "an attempt";
    case Spends::crash: return "a crash";
    case Spends::deferral: return "a deferral";
    case Spends::replay: return "a replay";
  }
  return "unknown";
}

}  // namespace core
}  // namespace holdfast
