#pragma once

#include <string>

#include <holdfast/log.hpp>
#include <holdfast/result.hpp>

#include "ports/store.hpp"
#include "stores/redis/session.hpp"

namespace holdfast::stores::redis {

struct Options {
  Address address = {};
  Logger log = {};
  SessionOptions session = {};  // its address, scripts and log are set here
  // Only for tests that make the time: `now` of the verbs is taken at its word.
  bool time_is_told = false;
  // How long an owner's connection must be away before its claims are said to be overdue.
  Duration gone_after = std::chrono::seconds(2);
};

// Opens the store on a Redis server, which may be empty. Several processes may do so at once.
// Says, as warnings of the log, what of the server's settings could lose tasks.
// - unavailable: the server cannot be reached, or does not take the password.
// - invalid_argument: it is too old (before 7.0), a replica, or holds something else in our space.
[[nodiscard]] Result<ports::OpenStore> open(Options options);

}  // namespace holdfast::stores::redis
