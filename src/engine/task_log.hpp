#pragma once

#include <initializer_list>
#include <span>
#include <string_view>

#include <holdfast/log.hpp>

#include "ports/records.hpp"

namespace holdfast::engine {

struct TaskLine {
  Level level = Level::info;
  std::string_view event;
  std::string_view message;
};

// A line of the log about a task. It says which one, of which type and queue, and to which trace it
// belongs if it was handed in with one; then the rest.
void log_task(const Logger& log, const TaskLine& line, const ports::TaskRecord& task,
              std::span<const Field> more);

inline void log_task(const Logger& log, const TaskLine& line, const ports::TaskRecord& task,
                     std::initializer_list<Field> more = {}) {
  log_task(log, line, task, std::span<const Field>(more.begin(), more.size()));
}

}  // namespace holdfast::engine
