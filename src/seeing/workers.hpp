#pragma once

#include <span>
#include <string>
#include <vector>

#include "ports/store.hpp"

namespace holdfast::seeing {

// Who runs tasks now: the JSON of /v1/workers, which docs/api.md describes. By name; the tasks of
// one from the one that it has had longest. `complete`: these are all that run.
[[nodiscard]] std::string workers_json(std::span<const ports::TaskRecord> running, bool complete);

}  // namespace holdfast::seeing
