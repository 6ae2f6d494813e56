#include "ports/groups.hpp"

#include <algorithm>
#include <tuple>

namespace holdfast::ports {

FailureKind came_by(const core::Transition& transition) noexcept {
  const auto& failure = transition.failure;
  if (failure && failure->kind == FailureKind::timeout) return FailureKind::timeout;
  const bool crashed = failure && failure->kind == FailureKind::crash;
  return crashed || transition.event == core::Event::crash ? FailureKind::crash
                                                           : FailureKind::error;
}

std::int64_t slot_number(WallTime time) noexcept {
  const Duration since = time.time_since_epoch();
  const bool is_before = since % Group::kSlot < Duration::zero();
  return since / Group::kSlot - (is_before ? 1 : 0);
}

WallTime slot_begin(std::int64_t number) noexcept {
  if (number <= slot_number(WallTime::min())) return WallTime::min();
  return WallTime(number * Group::kSlot);
}

void sort_parts(std::vector<Group::Part>& parts) {
  std::ranges::sort(parts, [](const Group::Part& one, const Group::Part& other) {
    if (one.count != other.count) return one.count > other.count;
    return std::tie(one.queue, one.type) < std::tie(other.queue, other.type);
  });
}

}  // namespace holdfast::ports
