// simulate --seeds A..B [--bug NAME] [--trace] [--stats]
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "simulation/world.hpp"

namespace holdfast::simulation {
namespace {

constexpr std::string_view kUsage =
    "usage: simulate --seeds A..B [--bug NAME] [--trace] [--stats] [--all]\n"
    "  --seeds A..B  the seeds to run, each twice; A alone is A..A\n"
    "  --bug NAME    with a bug planted; \"list\" names them\n"
    "  --trace       print all that happens\n"
    "  --stats       print how often what happened\n"
    "  --all         fail if something that can happen never did\n";

struct Arguments {
  std::uint64_t first = 1;
  std::uint64_t last = 0;
  std::optional<Bug> bug = {};
  bool trace = false;
  bool stats = false;
  bool all = false;
};

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<Arguments> parse(int count, char** texts) {
  const auto refuse = [](std::string what) {
    return fail(ErrorCode::invalid_argument, "simulate", std::move(what));
  };
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string_view text = texts[i];
    const std::string_view value = i + 1 < count ? texts[i + 1] : "";
    if (text == "--seeds") {
      const std::size_t dots = value.find("..");
      const auto first = number(value.substr(0, dots));
      const auto last = dots == value.npos ? first : number(value.substr(dots + 2));
      if (!first || !last || *last < *first) {
        return refuse(fmt::format("--seeds wants A..B, not \"{}\"", value));
      }
      arguments.first = *first;
      arguments.last = *last;
      ++i;
    } else if (text == "--bug") {
      arguments.bug = bug_named(value);
      if (!arguments.bug) {
        std::string names;
        for (std::size_t bug = 0; bug < kBugs; ++bug)
          names += fmt::format(" {}", to_string(static_cast<Bug>(bug)));
        return refuse(fmt::format("no bug \"{}\"; there are:{}", value, names));
      }
      ++i;
    } else if (text == "--trace") {
      arguments.trace = true;
    } else if (text == "--stats") {
      arguments.stats = true;
    } else if (text == "--all") {
      arguments.all = true;
    } else {
      return refuse(fmt::format("unknown option \"{}\"", text));
    }
  }
  if (arguments.last == 0) return refuse("--seeds is missing");
  return arguments;
}

void report_breach(std::uint64_t seed, const RunReport& report, const Arguments& arguments) {
  if (!arguments.trace) {
    fmt::print("the last events of seed {}:\n", seed);
    for (const std::string& line : report.trace)
      fmt::print("{}\n", line);
  }
  fmt::print("\nseed {} broke an invariant: {}\nto repeat it: make simulate SEEDS={}..{}{}\n", seed,
             *report.breach, seed, seed,
             arguments.bug ? fmt::format(" ARGS='--bug {}'", to_string(*arguments.bug)) : "");
}

int run(const Arguments& arguments) {
  const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  const std::uint64_t count = arguments.last - arguments.first + 1;
  Stats stats;
  for (std::uint64_t seed = arguments.first; seed <= arguments.last; ++seed) {
    const RunReport report = simulate(seed, {arguments.bug, arguments.trace});
    stats.add(report.stats);
    for (const std::string& line : report.trace) {
      if (arguments.trace) fmt::print("{}\n", line);
    }
    if (report.breach) {
      report_breach(seed, report, arguments);
      return 1;
    }
    const std::uint64_t done = seed - arguments.first + 1;
    const std::uint64_t step = terminal ? 20 : std::max<std::uint64_t>(count / 5, 1);
    if (done % step != 0 && done != count) continue;
    fmt::print("{}{} of {} seeds{}", terminal ? "\r" : "", done, count, terminal ? "" : "\n");
    std::fflush(stdout);
  }
  if (terminal) fmt::print("\n");
  if (arguments.stats) fmt::print("\n{}", stats.text());
  fmt::print("{} seeds, each twice with equal traces: every invariant held\n", count);
  const std::string missing = arguments.all ? stats.missing() : "";
  if (!missing.empty())
    fmt::print("what never happened, so the simulation is too tame:\n{}", missing);
  return missing.empty() ? 0 : 1;
}

}  // namespace
}  // namespace holdfast::simulation

int main(int count, char** texts) {
  const auto arguments = holdfast::simulation::parse(count, texts);
  if (!arguments) {
    fmt::print(stderr, "{}\n{}", arguments.error().text(), holdfast::simulation::kUsage);
    return 2;
  }
  return holdfast::simulation::run(*arguments);
}
