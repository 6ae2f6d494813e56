#pragma once

#include <optional>

#include <holdfast/time.hpp>

#include "recovery/summary.hpp"

namespace holdfast::recovery {

// V10: how long a run lasts.
struct Limits {
  Duration total = std::chrono::minutes(30);
  Duration idle = std::chrono::seconds(10);   // without a message
  Duration empty = std::chrono::seconds(5);   // the queue was seen empty for so long
  Duration stall = std::chrono::seconds(30);  // something is to be done, and nothing gets done
};

// Where a run stands.
struct Moment {
  SteadyTime now{};
  SteadyTime started{};
  SteadyTime last_received{};  // or since it consumes, if that is later
  SteadyTime last_progress{};  // or since there is something to be done
  std::optional<SteadyTime> empty_since = {};
  std::optional<SteadyTime> caught_up_since = {};  // all was seen that was there at the start
  bool busy = false;   // something is under way, or the connection is lost
  bool quiet = false;  // nothing is under way and nothing waits for its turn
};

// Whether it is over, and why. A queue that others fill all the time ends it too: what comes after
// the start is taken for as long as an idle queue would be waited for, and left from then on.
[[nodiscard]] std::optional<Ended> ending(const Limits& limits, const Moment& moment);

}  // namespace holdfast::recovery
