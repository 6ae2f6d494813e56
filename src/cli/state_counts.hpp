#pragma once

#include <array>
#include <cstdint>
#include <numeric>

namespace holdfast::cli {

// How many tasks are in each state.
using StateCounts = std::array<std::uint64_t, 7>;  // index: TaskState

[[nodiscard]] inline std::uint64_t sum(const StateCounts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

}  // namespace holdfast::cli
