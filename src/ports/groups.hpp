#pragma once

#include <cstdint>

#include "core/rules.hpp"
#include "ports/records.hpp"

// What is counted of a group (ports::Group), for stores that keep it.
namespace holdfast::ports {

// How a task came to a group by this transition. What its failure is counts, not what was decided:
// a crash that is given up at once was a crash. One without a failure (its deadline, an open
// breaker) came by an error.
[[nodiscard]] FailureKind came_by(const core::Transition& transition) noexcept;

// Slots of time by their number; 0 begins at 1970. The first that can be told begins where time
// does.
[[nodiscard]] std::int64_t slot_number(WallTime time) noexcept;
[[nodiscard]] WallTime slot_begin(std::int64_t number) noexcept;
// Of the latest slot and those before it, so many are kept.
inline constexpr std::int64_t kKeptSlots = Group::kTrend / Group::kSlot;

// As they are told.
void sort_parts(std::vector<Group::Part>& parts);

}  // namespace holdfast::ports
