#pragma once

#include <string>
#include <vector>

#include <holdfast/breaker.hpp>

#include "ports/store.hpp"
#include "seeing/watch.hpp"

namespace holdfast::seeing {

// The JSON of /v1/stats: docs/api.md describes it.
[[nodiscard]] std::string stats_json(const Watch& watch, const ports::Count::Answer& queues,
                                     const std::vector<const Breaker*>& breakers);

}  // namespace holdfast::seeing
