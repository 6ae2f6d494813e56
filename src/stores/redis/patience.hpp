#pragma once

#include <string>

#include <holdfast/clock.hpp>
#include <holdfast/log.hpp>
#include <holdfast/retry.hpp>

#include "stores/redis/stop_signal.hpp"

namespace holdfast::stores::redis {

struct PatienceOptions {
  std::string what = {};  // is tried
  std::string at = {};    // the store, as people may read it
  Logger log = {};
  Clock* clock = nullptr;
  const StopSignal* stop = nullptr;
};

// How we try again what a server did not do (T6): soon, then less and less so, for ever; a Trouble
// without a remedy not at all. Each retry is one record; so is success after some, and giving up.
// Who wants an end adds it.
[[nodiscard]] retry::Policy patience(const PatienceOptions& options);

}  // namespace holdfast::stores::redis
