#pragma once

#include <holdfast/retry.hpp>

// Ready policies for the three places where a queue worker meets the network. Each logs to `log`: a
// warning for every retry, one record for success after retries, one for giving up.
namespace holdfast::policies {

// Whether a failure says that the other side could not be reached, or went away: what publishing
// and downloading retry. Anything else (a bad argument, a refusal) comes back at once.
[[nodiscard]] bool is_connection_failure(const FailureView& failure);

// Publishing a job: 5 attempts, waits of 1 s, 2 s, 4 s, 8 s (at most 16 s).
[[nodiscard]] inline retry::Policy publish(Logger log = {}, const retry::Policy& base = {}) {
  using namespace std::chrono_literals;
  return base.named("publish")
      .stop(retry::attempts(5))
      .wait(retry::exponential({.first = 1s, .factor = 2, .cap = 16s}))
      .retry_if(&is_connection_failure)
      .log_to(log);
}

// Downloading an input object: 3 attempts, waits of 1 s, 2 s (at most 8 s).
[[nodiscard]] inline retry::Policy download(Logger log = {}, const retry::Policy& base = {}) {
  using namespace std::chrono_literals;
  return base.named("download")
      .stop(retry::attempts(3))
      .wait(retry::exponential({.first = 1s, .factor = 2, .cap = 8s}))
      .retry_if(&is_connection_failure)
      .log_to(log);
}

// Connecting to a broker at start: 90 attempts, 10 s apart, whatever the error; after the last, one
// critical record.
[[nodiscard]] inline retry::Policy connect(Logger log = {}, const retry::Policy& base = {}) {
  using namespace std::chrono_literals;
  return base.named("connect")
      .stop(retry::attempts(90))
      .wait(retry::fixed(10s))
      .log_to(log, Level::critical);
}

}  // namespace holdfast::policies
