#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <holdfast/classify.hpp>

#include "core/task.hpp"

namespace holdfast::simulation {

// A type of task as the simulation runs it. Limits are small, so that each is reached often.
struct TaskType {
  std::string name;
  core::TaskPolicy policy = {};
  std::string dependency = {};
  bool handled = true;    // false: no engine knows it
  Duration first_wait{};  // of its policy: what the wait after the first failure is at least
  double wait_factor = 1;
};

[[nodiscard]] std::span<const TaskType> task_types();
// The type of that name; that of tasks that nobody handles for a name that is not known.
[[nodiscard]] const TaskType& task_type(std::string_view name);

// What handlers say of their attempts; the classifier below makes the verdict of the same name.
enum class Report : std::uint8_t {
  success,
  retry,
  throttle,
  give_up,
  ambiguous,
  already_done,
  crash,            // a failure of kind crash that is retried
  crash_give_up,    // one that is given up
  crash_ambiguous,  // one that may have happened
  handed_back,
};
[[nodiscard]] std::string_view to_string(Report report) noexcept;
[[nodiscard]] core::Outcome outcome_of(Report report, int salt);

[[nodiscard]] std::shared_ptr<const Classifier> sim_classifier();

}  // namespace holdfast::simulation
