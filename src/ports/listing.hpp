#pragma once

#include "ports/store.hpp"

// What List means, for stores that look at records one by one.
namespace holdfast::ports {

[[nodiscard]] bool matches(const TaskRecord& record, const Filter& filter);

// Without what List leaves out.
[[nodiscard]] TaskRecord for_list(TaskRecord record);

}  // namespace holdfast::ports
