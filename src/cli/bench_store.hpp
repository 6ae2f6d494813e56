#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/bench_output.hpp"
#include "cli/io.hpp"
#include "io/held_signals.hpp"
#include "node/store_bench.hpp"

namespace holdfast::cli {

// `holdfast bench --store URL`: what bench/peers measures of others, by the same keys.
struct StoreBench {
  node::store_bench::Options options;  // its URL names the store to measure beside
  std::string folder;                  // for files, if it is an embedded one
  std::function<bool(std::string_view part)> wanted;
};
// Nothing: a measurement could not be made; said already, unless a signal has ended it. Whatever it
// has left in the store is removed again in either case.
[[nodiscard]] std::optional<std::vector<BenchFigure>> measure_store(const StoreBench& asked, Io& io,
                                                                    const io::HeldSignals& signals);

}  // namespace holdfast::cli
