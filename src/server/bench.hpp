#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include <holdfast/result.hpp>

// What `holdfast bench --http` measures: the whole server, with every sync of the disk, and others
// who talk to it over loopback. Each measurement wants a process, without threads, and a new file
// of its own. One in which a task is refused or lost is an error.
namespace holdfast::server::bench {

struct Options {
  std::string url = {};             // of a store that is not there yet
  std::size_t requests = 100'000;   // of submits
  std::size_t connections = 32;     // likewise
  std::size_t array = 100;          // tasks in a request, of arrays
  std::size_t payload_bytes = 200;  // of each task
  std::size_t hooks = 50'000;       // tasks, of webhooks
  std::size_t in_flight = 128;      // most of them at once
  std::size_t slow_hooks = 2'000;   // all of them at once, of slow_webhooks
  std::function<void(double part)> progress = {};
};

// Requests a second, each with one task, that are answered as durable; the connections take turns
// with nothing.
[[nodiscard]] Result<double> submits(const Options& options);
// Tasks a second that come in arrays.
[[nodiscard]] Result<double> arrays(const Options& options);

// Tasks a second that a webhook runs, from the first submit until the last is settled.
[[nodiscard]] Result<double> webhooks(const Options& options);

struct SlowWebhooks {
  double at_once = 0;  // most that the receiver has seen under way
  double mb = 0;       // the most that the server has held
};
// All of them answered after one second.
[[nodiscard]] Result<SlowWebhooks> slow_webhooks(const Options& options);

}  // namespace holdfast::server::bench
