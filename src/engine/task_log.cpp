#include "engine/task_log.hpp"

#include <string>
#include <vector>

#include "core/traceparent.hpp"

namespace holdfast::engine {

void log_task(const Logger& log, const TaskLine& line, const ports::TaskRecord& task,
              std::span<const Field> more) {
  if (!log.enabled(line.level)) return;
  const std::string id = task.id.text();
  std::vector<Field> fields{{"task", id}, {"type", task.type}, {"queue", task.queue}};
  const std::string_view trace = trace_id_of(task.trace);
  if (!trace.empty()) fields.emplace_back("trace", trace);
  fields.insert(fields.end(), more.begin(), more.end());
  log.log(line.level, line.event, line.message, fields);
}

}  // namespace holdfast::engine
