#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include <holdfast/log.hpp>
#include <holdfast/result.hpp>

#include "recovery/canary.hpp"
#include "server/broker_choice.hpp"

namespace holdfast::server {

struct RecoverSettings {
  // Its URL names the dead-letter queue, but for a restore, which has none; who we are is filled in.
  BrokerSettings broker = {};
  std::string to_broker = {};  // URL of another one that messages go to; empty: the same
  std::string journal = {};    // a file; empty: none
  std::string backup = {};     // of what leaves the queue: a file; empty: none
  std::string restore = {};  // a backup that takes the place of the dead-letter queue; empty: none
  std::optional<recovery::Canary> canary = {};
  // What the URL says is filled in: the queue, and who we are.
  recovery::Options options = {};
};

struct RecoverHooks {
  recovery::Observer& observer;
  Logger log = {};  // for what the connection has to say
  std::stop_token stop = {};
  // SIGINT and SIGTERM end it, and a second one at once. For a process that does nothing else.
  bool hears_signals = false;
};

// For people: the queue and its broker, or the backup. Fails with invalid_argument.
[[nodiscard]] Result<std::string> place_of(const RecoverSettings& settings);

// Whether that can be done at all. Fails with invalid_argument.
[[nodiscard]] Result<void> check(const RecoverSettings& settings);

// Runs one recovery to its end, on a loop of its own and on the calling thread. Fails where it
// cannot begin; what goes wrong later is in the summary.
[[nodiscard]] Result<recovery::Run::Outcome> recover(RecoverSettings settings,
                                                     const RecoverHooks& hooks);

}  // namespace holdfast::server
