#pragma once

#include <ostream>
#include <string_view>
#include <vector>

#include "node/bench.hpp"

namespace holdfast::cli {

// One figure of `holdfast bench`: what, how much, and what it has to be.
struct BenchFigure {
  std::string_view key;
  std::string_view what;
  double value = 0;
  std::string_view unit;
  double target = 0;  // 0: none
  bool least = true;  // the target is a least value, not a most one

  [[nodiscard]] bool has_target() const { return target != 0; }
  [[nodiscard]] bool missed() const {
    return has_target() && (least ? value < target : value > target);
  }
};

void print_bench_table(std::ostream& out, const std::vector<BenchFigure>& figures);
void print_bench_json(std::ostream& out, const node::bench::Options& options,
                      const std::vector<BenchFigure>& figures);

}  // namespace holdfast::cli
