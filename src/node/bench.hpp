#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

#include "engine/carriage.hpp"
#include "ports/loop.hpp"

// What `holdfast bench` measures: the engine on the embedded store, with every sync of the disk, as
// a C++ program would use it. Each measurement wants a process and a new file of its own. One that
// the store refuses a task to, or whose store breaks, is an error.
namespace holdfast::node::bench {

struct Options {
  std::string url = {};         // of a store that is not there yet
  std::size_t tasks = 500'000;  // of throughput
  std::size_t batch = 1'000;    // tasks in one submit
  std::size_t producers = 2;    // threads that submit
  std::size_t threads = 1;      // of the worker, calling handlers
  std::size_t concurrency = 0;  // tasks that the worker has under way; 0: as many as threads
  std::size_t payload_bytes = 200;
  std::size_t rate = 1'000;                        // tasks a second, of latency
  Duration steady = std::chrono::seconds(10);      // for so long, of latency
  std::size_t failing = 10'000;                    // tasks, of failures
  std::size_t waiting = 1'000'000;                 // tasks, of start
  std::function<void(double part)> progress = {};  // 0 to 1, ten times a second
  // Has a broker carry the queue that is named. Called on the loop.
  std::function<Result<engine::Carriage>(ports::Loop& loop, const std::string& queue)> carry = {};

  [[nodiscard]] std::size_t at_once() const { return concurrency == 0 ? threads : concurrency; }
};

struct Throughput {
  double enqueued_per_s = 0;  // until the last submit was answered, while others were being run
  double done_per_s = 0;      // from the first submit until the last is settled
};
// Producers submit in batches while a handler that does nothing runs them.
[[nodiscard]] Result<Throughput> throughput(const Options& options);

struct Latency {
  double p50_ms = 0;
  double p99_ms = 0;
  double most_ms = 0;
  double done_per_s = 0;
};
// One task at a time at a steady rate: from when it should have been submitted until it is settled.
[[nodiscard]] Result<Latency> latency(const Options& options);

// Tasks a second that fail three times, with no wait between, and end as dead letters.
[[nodiscard]] Result<double> failures(const Options& options);

// Megabytes that a worker with nothing to do holds.
[[nodiscard]] Result<double> idle_mb(const Options& options);

struct Start {
  double seconds = 0;  // until a worker that opens a store full of tasks has settled the first
  double mb = 0;       // the most that this process has held, when it has worked for a while
};
// Puts `waiting` tasks into the store, for start() in another process.
[[nodiscard]] Result<void> fill(const Options& options);
[[nodiscard]] Result<Start> start(const Options& options);

}  // namespace holdfast::node::bench
