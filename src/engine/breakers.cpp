#include "engine/breakers.hpp"

#include <algorithm>

namespace holdfast::engine {
namespace {

// For a breaker whose probes are all under way: it may be closed or open again any moment, but a
// probe may also last as long as a timeout, and a long backlog is not to be claimed every second.
constexpr Duration kWhileProbing = std::chrono::seconds(5);

std::string_view text(Breaker::State state) {
  switch (state) {
    case Breaker::State::closed: return "closed";
    case Breaker::State::open: return "open";
    case Breaker::State::half_open: return "half-open";
  }
  return "";
}

}  // namespace

Breaker& Breakers::of(const std::string& dependency) {
  auto& breaker = breakers_[dependency];
  if (breaker) return *breaker;
  Breaker::Options options = floor_.options.breaker;
  options.name = dependency;
  options.on_change = [this, log = floor_.parts.log, own = &breaker,
                       next = std::move(options.on_change)](const Breaker::Change& change) {
    const bool opened = change.to == Breaker::State::open;
    log.log(opened ? Level::warning : Level::info, "breaker.changed", change.reason,
            {{"dependency", change.breaker}, {"from", text(change.from)}, {"to", text(change.to)}});
    if (opened) {
      floor_.parts.loop.post(floor_.guarded([this, own] { opened_(**own); }));
    }
    if (floor_.options.observer) floor_.options.observer->breaker_changed(change);
    if (next) next(change);
  };
  breaker = std::make_unique<Breaker>(std::move(options), floor_.parts.clock, floor_.parts.random);
  return *breaker;
}

Breaker* Breakers::find(const std::string& dependency) const {
  const auto found = breakers_.find(dependency);
  return found == breakers_.end() ? nullptr : found->second.get();
}

std::vector<const Breaker*> Breakers::all() const {
  std::vector<const Breaker*> all;
  all.reserve(breakers_.size());
  for (const auto& [name, breaker] : breakers_)
    all.push_back(breaker.get());
  return all;
}

core::BreakerOpen Breakers::put_off(const Breaker& breaker) {
  const Duration asked = breaker.retry_in();
  const Duration wait = asked > Duration::zero() ? asked : kWhileProbing;
  const double spread = floor_.parts.random.unit() * 0.25;
  const auto more = static_cast<double>(std::min<Duration>(wait, std::chrono::hours(1)).count());
  return {saturating_add(wait, Duration(static_cast<std::int64_t>(more * spread)))};
}

}  // namespace holdfast::engine
