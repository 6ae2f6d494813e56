#include "cli/bench_output.hpp"

#include <cmath>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "cli/text_columns.hpp"

namespace holdfast::cli {
namespace {

std::string number(double value) {
  if (value < 100) return fmt::format("{:.2f}", value);
  return grouped(static_cast<std::uint64_t>(std::llround(value)));
}

}  // namespace

void print_bench_table(std::ostream& out, const std::vector<BenchFigure>& figures) {
  out << fmt::format("{:<30} {:>12} {:<8} {}\n", "", "measured", "", "to reach");
  for (const BenchFigure& figure : figures) {
    std::string target;
    if (figure.has_target()) {
      target = fmt::format("{} {}{}", figure.least ? "≥" : "≤", number(figure.target),
                           figure.missed() ? "   MISSED" : "");
    }
    out << fmt::format("{:<30} {:>12} {:<8} {}\n", figure.what, number(figure.value), figure.unit,
                       target);
  }
}

void print_bench_json(std::ostream& out, const node::bench::Options& options,
                      const std::vector<BenchFigure>& figures) {
  out << fmt::format(R"({{"tasks":{},"batch":{},"payload_bytes":{},"figures":{{)", options.tasks,
                     options.batch, options.payload_bytes);
  for (const BenchFigure& figure : figures) {
    out << fmt::format(R"({}"{}":{{"value":{:.3f},"unit":"{}")",
                       &figure == figures.data() ? "" : ",", figure.key, figure.value, figure.unit);
    if (figure.has_target()) {
      out << fmt::format(R"(,"target":{},"target_is":"{}","met":{})", figure.target,
                         figure.least ? "at least" : "at most", !figure.missed());
    }
    out << '}';
  }
  out << "}}\n";
}

}  // namespace holdfast::cli
