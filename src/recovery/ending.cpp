#include "recovery/ending.hpp"

namespace holdfast::recovery {

std::optional<Ended> ending(const Limits& limits, const Moment& moment) {
  if (moment.now - moment.started >= limits.total) return Ended::total;
  if (moment.busy && moment.now - moment.last_progress >= limits.stall) return Ended::stall;
  if (moment.quiet) {
    if (moment.empty_since && moment.now - *moment.empty_since >= limits.empty) return Ended::empty;
    if (moment.now - moment.last_received >= limits.idle) return Ended::idle;
  }
  if (moment.caught_up_since && moment.now - *moment.caught_up_since >= limits.idle) {
    return Ended::caught_up;
  }
  return std::nullopt;
}

}  // namespace holdfast::recovery
