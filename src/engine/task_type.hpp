#pragma once

#include <cstddef>
#include <string>

#include "engine/options.hpp"
#include "ports/records.hpp"

namespace holdfast::engine {

// A type of tasks, as its engine knows it.
struct TaskType {
  std::string name;
  TypeOptions options;
  std::size_t index = 0;       // among the types of its engine
  Breaker* breaker = nullptr;  // of its dependency

  // A task may have limits of its own.
  [[nodiscard]] core::TaskPolicy policy_of(const ports::OwnLimits& limits) const {
    core::TaskPolicy own = options.policy;
    if (limits.attempts) own.attempts = *limits.attempts;
    if (limits.timeout) own.timeout = *limits.timeout;
    return own;
  }
};

}  // namespace holdfast::engine
