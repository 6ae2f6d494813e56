#pragma once

#include <holdfast/result.hpp>
#include <holdfast/task.hpp>

#include "ports/records.hpp"
#include "ports/store.hpp"
#include "triage/query.hpp"

// From the public words of <holdfast/task.hpp> to those of the stores, and back.
namespace holdfast::node {

// Fails with invalid_argument for what cannot be; the message names the field.
[[nodiscard]] Result<ports::NewTask> to_new_task(Submission submission, WallTime now);
[[nodiscard]] Result<ports::List> to_list(TaskFilter filter);

[[nodiscard]] TaskInfo to_info(ports::TaskRecord record);
[[nodiscard]] QueueInfo to_info(ports::QueueCounts counts);
// `now`: which hours its trend is of.
[[nodiscard]] FailureGroup to_info(ports::Group group, WallTime now);
[[nodiscard]] GroupPage to_page(ports::Groups::Answer found, WallTime now);
[[nodiscard]] TaskPage to_page(std::vector<ports::TaskRecord> records, std::string next);

// The query that a filter comes to; invalid_argument if there is none like it.
[[nodiscard]] Result<triage::Query> to_query(const TaskFilter& filter, WallTime now);

// Of a mended copy of a task: so its key begins, and so what was discarded for it is signed.
[[nodiscard]] std::string edit_key(const TaskId& original, const ports::NewTask& copy);
[[nodiscard]] std::string edit_signature(std::string_view who, const TaskId& copy);

}  // namespace holdfast::node
