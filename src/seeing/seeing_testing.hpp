#pragma once

#include <string>

#include "core/rules.hpp"
#include "engine/observer.hpp"

namespace holdfast::seeing::testing {

inline const WallTime kNow{std::chrono::sys_days{std::chrono::year{2026} / 11 / 16}};

[[nodiscard]] inline ports::NewTask new_task(std::string type = "t", std::string queue = "q") {
  ports::NewTask task;
  task.type = std::move(type);
  task.queue = std::move(queue);
  task.created = task.due = kNow;
  return task;
}

[[nodiscard]] inline ports::TaskRecord record(std::string type = "t", std::string queue = "q") {
  ports::TaskRecord task;
  task.type = std::move(type);
  task.queue = std::move(queue);
  task.was_due = kNow;
  task.task.state = core::State::running;
  return task;
}

[[nodiscard]] inline core::Transition transition(core::State to, core::Event event,
                                                 std::optional<Failure> failure = {}) {
  core::Transition transition;
  transition.from = core::State::running;
  transition.to = to;
  transition.event = event;
  transition.due = kNow;
  transition.failure = std::move(failure);
  if (to == core::State::dead) transition.dead_reason = DeadReason::out_of_attempts;
  return transition;
}

}  // namespace holdfast::seeing::testing
