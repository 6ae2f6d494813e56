#pragma once

#include <functional>
#include <vector>

#include "ports/store_lane.hpp"

namespace holdfast::triage {

// What each of these tasks is now, in their order; there must be one at least. `then` is called on
// the loop, once. The lane must live until then.
using FoundEach = std::move_only_function<void(std::vector<Result<ports::Find::Answer>>)>;
void find_each(ports::StoreLane& reader, const std::vector<TaskId>& ids, FoundEach then);

}  // namespace holdfast::triage
