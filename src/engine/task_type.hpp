#pragma once

#include <cstddef>
#include <string>

#include "engine/options.hpp"

namespace holdfast::engine {

// A type of tasks, as its engine knows it.
struct TaskType {
  std::string name;
  TypeOptions options;
  std::size_t index = 0;       // among the types of its engine
  Breaker* breaker = nullptr;  // of its dependency
};

}  // namespace holdfast::engine
