#include "seeing/workers.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "core/rules.hpp"
#include "wire/json_writer.hpp"

namespace holdfast::seeing {
namespace {

using ports::TaskRecord;

void write_task(wire::JsonWriter& writer, const TaskRecord& record) {
  writer.begin_object().key("id").text(record.id.text());
  writer.key("type").text(record.type).key("queue").text(record.queue);
  writer.key("since").time(record.changed).key("lease_end").time(record.lease_end);
  // As its handler was told.
  const core::Attempt attempt = core::begin_attempt(record.task, {}, record.changed);
  writer.key("attempt").number(attempt.number).end_object();
}

}  // namespace

std::string workers_json(std::span<const TaskRecord> running, bool complete) {
  std::map<std::string_view, std::vector<const TaskRecord*>> workers;
  for (const TaskRecord& record : running)
    workers[record.owner].push_back(&record);
  std::string out;
  wire::JsonWriter writer(out);
  writer.begin_object().key("workers").begin_array();
  for (auto& [name, tasks] : workers) {
    std::ranges::sort(tasks, {},
                      [](const TaskRecord* task) { return std::pair(task->changed, task->id); });
    writer.begin_object().key("name").text(name);
    writer.key("elsewhere").boolean(name.starts_with(ports::kAway));
    writer.key("running").number(tasks.size()).key("tasks").begin_array();
    for (const TaskRecord* task : tasks)
      write_task(writer, *task);
    writer.end_array().end_object();
  }
  writer.end_array().key("complete").boolean(complete).end_object();
  return out;
}

}  // namespace holdfast::seeing
