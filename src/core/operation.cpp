#include <holdfast/operation.hpp>

namespace holdfast {

std::string_view to_string(OperationAction action) noexcept {
  return action == OperationAction::replay ? "replay" : "discard";
}

std::string_view to_string(OperationState state) noexcept {
  switch (state) {
    case OperationState::planning: return "planning";
    case OperationState::planned: return "planned";
    case OperationState::running: return "running";
    case OperationState::waiting: return "waiting";
    case OperationState::paused: return "paused";
    case OperationState::stopped: return "stopped";
    case OperationState::done: return "done";
    case OperationState::canceled: return "canceled";
    case OperationState::failed: return "failed";
  }
  return "unknown";
}

std::string_view to_string(OperationStep step) noexcept {
  switch (step) {
    case OperationStep::start: return "start";
    case OperationStep::pause: return "pause";
    case OperationStep::resume: return "resume";
    case OperationStep::cancel: return "cancel";
  }
  return "unknown";
}

}  // namespace holdfast
