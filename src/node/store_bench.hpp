#pragma once

#include <holdfast/result.hpp>

#include "node/bench.hpp"

// What `holdfast bench --store URL` measures, on any store, and bench/peers of others on the same
// Redis: bench/peers/phases.py says it once more. On a store that processes share, those who submit
// and those who work are a process each; an embedded one has both in one process. Each measurement
// wants a process that has no threads, and a store that is empty.
namespace holdfast::node::store_bench {

struct Options : bench::Options {
  std::size_t workers = 1;                   // processes that work, on a store that they share
  Duration most = std::chrono::seconds(60);  // what is not done then does not count
};

// Tasks a second, submitted in batches while nobody works.
[[nodiscard]] Result<double> enqueue(const Options& options);

struct Drained {
  double per_s = 0;
  double peak_mb = 0;  // the most that one worker has held
};
// Workers begin on a full queue.
[[nodiscard]] Result<Drained> drain(const Options& options);

// Tasks a second, from the first submit to workers that wait, until the last is done.
[[nodiscard]] Result<double> end_to_end(const Options& options);
// The same with a handler that fails three times, until the last is dead.
[[nodiscard]] Result<double> failing(const Options& options);

// One task at a time at a steady rate: from when it should have been submitted until it is settled.
[[nodiscard]] Result<bench::Latency> latency(const Options& options);

}  // namespace holdfast::node::store_bench
