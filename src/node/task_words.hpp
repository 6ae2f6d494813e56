#pragma once

#include <holdfast/result.hpp>
#include <holdfast/task.hpp>

#include "ports/records.hpp"
#include "ports/store.hpp"

// From the public words of <holdfast/task.hpp> to those of the stores, and back.
namespace holdfast::node {

// Fails with invalid_argument for what cannot be; the message names the field.
[[nodiscard]] Result<ports::NewTask> to_new_task(Submission submission, WallTime now);
[[nodiscard]] Result<ports::List> to_list(TaskFilter filter);

[[nodiscard]] TaskInfo to_info(ports::TaskRecord record);
[[nodiscard]] QueueInfo to_info(ports::QueueCounts counts);
[[nodiscard]] FailureGroup to_info(ports::Group group);

}  // namespace holdfast::node
