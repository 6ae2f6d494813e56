#include <algorithm>
#include <cmath>

#include <holdfast/budget.hpp>

namespace holdfast {
namespace {

constexpr std::int64_t kPartsPerRetry = 1'000'000;

std::int64_t parts(double retries) {
  // A billion retries is as good as no limit, and keeps every sum far from the end of the range.
  const double sane = std::isnan(retries) ? 0.0 : std::clamp(retries, 0.0, 1e9);
  return static_cast<std::int64_t>(std::llround(sane * kPartsPerRetry));
}

}  // namespace

RetryBudget::RetryBudget(Options options, Clock& clock)
    : clock_(clock),
      earn_parts_(parts(options.ratio)),
      capacity_parts_(parts(options.capacity)),
      parts_per_ns_(static_cast<double>(parts(options.per_second)) / 1e9),
      parts_(capacity_parts_),
      refilled_ns_(clock.now().time_since_epoch().count()) {}

bool RetryBudget::spend() noexcept {
  refill();
  std::int64_t have = parts_.load(std::memory_order_relaxed);
  do {
    if (have < kPartsPerRetry) return false;
  } while (!parts_.compare_exchange_weak(have, have - kPartsPerRetry, std::memory_order_relaxed));
  return true;
}

double RetryBudget::left() noexcept {
  refill();
  return static_cast<double>(parts_.load(std::memory_order_relaxed)) / kPartsPerRetry;
}

void RetryBudget::add(std::int64_t more) noexcept {
  std::int64_t have = parts_.load(std::memory_order_relaxed);
  while (have < capacity_parts_ &&
         !parts_.compare_exchange_weak(have, std::min(have + more, capacity_parts_),
                                       std::memory_order_relaxed)) {
  }
}

void RetryBudget::refill() noexcept {
  if (parts_per_ns_ == 0) return;
  const std::int64_t now = clock_.now().time_since_epoch().count();
  std::int64_t last = refilled_ns_.load(std::memory_order_relaxed);
  const double span_ns = static_cast<double>(now) - static_cast<double>(last);
  const double earned = std::min(span_ns * parts_per_ns_, static_cast<double>(capacity_parts_));
  if (earned < 1) return;
  const double whole = std::floor(earned);
  // The time of what is left of a part goes on adding up.
  const auto left_ns = std::llround((earned - whole) / parts_per_ns_);
  // A lost race: the other thread has added it.
  if (!refilled_ns_.compare_exchange_strong(last, now - left_ns, std::memory_order_relaxed)) return;
  add(static_cast<std::int64_t>(whole));
}

}  // namespace holdfast
