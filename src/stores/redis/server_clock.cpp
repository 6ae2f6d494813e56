#include "stores/redis/server_clock.hpp"

#include <algorithm>

namespace holdfast::stores::redis {
namespace {

constexpr Duration kSpan = std::chrono::seconds(10);

}  // namespace

WallTime ServerClock::wall_now() const noexcept {
  const std::scoped_lock lock(mutex_);
  if (!is_told_) return machine_.wall_now();
  return WallTime(machine_.now().time_since_epoch() + offset_);
}

void ServerClock::told(WallTime there) noexcept {
  const SteadyTime now = machine_.now();
  const Duration offset = there.time_since_epoch() - now.time_since_epoch();
  const std::scoped_lock lock(mutex_);
  if (!is_told_) {
    is_told_ = true;
    offset_ = span_most_ = offset;
    span_end_ = now + kSpan;
    return;
  }
  span_most_ = std::max(span_most_, offset);
  offset_ = std::max(offset_, offset);
  if (now < span_end_) return;
  offset_ = span_most_;
  span_most_ = offset;
  span_end_ = now + kSpan;
}

}  // namespace holdfast::stores::redis
