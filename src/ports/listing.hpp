#pragma once

#include "ports/store.hpp"

// What List means, for stores that look at records one by one.
namespace holdfast::ports {

[[nodiscard]] bool matches(const TaskRecord& record, const Filter& filter);

// Without what List leaves out; the payload stays if it is asked for.
[[nodiscard]] TaskRecord for_list(TaskRecord record, bool with_payload);

}  // namespace holdfast::ports
