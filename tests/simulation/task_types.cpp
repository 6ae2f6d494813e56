#include "simulation/task_types.hpp"

#include <cstdlib>
#include <vector>

namespace holdfast::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TaskType plain() {
  TaskType type{.name = "plain", .first_wait = seconds(1), .wait_factor = 2};
  type.policy.wait = retry::exponential({.first = seconds(1), .factor = 2, .cap = seconds(20)});
  type.policy.timeout = seconds(20);
  type.policy.deferrals = 5;
  return type;
}

// Little patience in every respect, and a replay is its last chance.
TaskType fragile() {
  TaskType type{.name = "fragile", .first_wait = {}};
  type.policy.attempts = 2;
  type.policy.crashes = 2;
  type.policy.deferrals = 2;
  type.policy.replays = 1;
  type.policy.wait = retry::exponential(
      {.first = seconds(2), .factor = 2, .cap = seconds(20), .jitter = retry::Jitter::full});
  type.policy.timeout = seconds(4);
  return type;
}

// Calls something that has a breaker.
TaskType dependent() {
  TaskType type{.name = "dependent", .dependency = "bank", .first_wait = seconds(3)};
  type.policy.attempts = 3;
  type.policy.deferrals = 3;
  type.policy.replays = 0;
  type.policy.wait = retry::fixed(seconds(3));
  type.policy.timeout = seconds(10);
  return type;
}

TaskType untimed() {
  TaskType type{.name = "untimed", .first_wait = milliseconds(500)};
  type.policy.attempts = 3;
  type.policy.replays = 0;
  type.policy.wait = retry::fixed(milliseconds(500));
  type.policy.timeout = Duration::zero();
  return type;
}

// Is tried again at once.
TaskType hasty() {
  TaskType type{.name = "hasty", .first_wait = {}};
  type.policy.attempts = 6;
  type.policy.wait = retry::fixed(Duration::zero());
  type.policy.timeout = seconds(10);
  return type;
}

TaskType unhandled() {
  return {.name = "unhandled",
          .policy = {},
          .handled = false,
          .first_wait = seconds(1),
          .wait_factor = 2};
}

}  // namespace

std::span<const TaskType> task_types() {
  static const std::vector<TaskType> types{plain(),   fragile(), dependent(),
                                           untimed(), hasty(),   unhandled()};
  return types;
}

const TaskType& task_type(std::string_view name) {
  for (const TaskType& type : task_types()) {
    if (type.name == name) return type;
  }
  return task_types().back();
}

std::string_view to_string(Report report) noexcept {
  switch (report) {
    case Report::success: return "success";
    case Report::retry: return "retry";
    case Report::throttle: return "throttle";
    case Report::give_up: return "give up";
    case Report::ambiguous: return "ambiguous";
    case Report::already_done: return "already done";
    case Report::crash: return "crash";
    case Report::crash_give_up: return "crash, give up";
    case Report::crash_ambiguous: return "crash, ambiguous";
    case Report::handed_back: return "handed back";
  }
  return "unknown";
}

core::Outcome outcome_of(Report report, int salt) {
  const auto failed = [&](std::string message, FailureKind kind = FailureKind::error) {
    Failure failure;
    failure.message = std::move(message) + " after " + std::to_string(salt) + " ms";
    failure.kind = kind;
    return failure;
  };
  switch (report) {
    case Report::success: return core::Success{"result " + std::to_string(salt)};
    case Report::retry: return failed("connection reset");
    case Report::throttle: return failed("simulated throttle");
    case Report::give_up: return failed("simulated give up");
    case Report::ambiguous: return failed("simulated doubt");
    case Report::already_done: return failed("simulated already done");
    case Report::crash: return failed("signal 11", FailureKind::crash);
    case Report::crash_give_up: return failed("simulated give up", FailureKind::crash);
    case Report::crash_ambiguous: return failed("simulated doubt", FailureKind::crash);
    case Report::handed_back: return core::HandedBack();
  }
  return core::HandedBack();
}

std::shared_ptr<const Classifier> sim_classifier() {
  static const auto classifier = [] {
    auto made = Classifier::make({
        {.pattern = "simulated throttle", .verdict = VerdictKind::throttle, .wait = seconds(2)},
        {.pattern = "simulated give up", .verdict = VerdictKind::give_up},
        {.pattern = "simulated doubt", .verdict = VerdictKind::ambiguous},
        {.pattern = "simulated already done", .verdict = VerdictKind::success},
    });
    if (!made) std::abort();
    return std::make_shared<const Classifier>(*std::move(made));
  }();
  return classifier;
}

}  // namespace holdfast::simulation
