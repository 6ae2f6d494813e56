// Numbers, bars and lines of top_frame.hpp.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "cli/text_columns.hpp"
#include "cli/top_frame.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::array<std::string_view, 9> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
constexpr std::array<std::string_view, 8> kHeights = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

}  // namespace

std::string short_number(std::uint64_t number, std::size_t columns) {
  std::string text = grouped(number);
  if (text.size() <= columns) return text;
  constexpr std::array<char, 6> kUnits = {'k', 'M', 'G', 'T', 'P', 'E'};
  double value = static_cast<double>(number) / 1000;
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  for (const int digits : {2, 1, 0}) {
    text = fmt::format("{:.{}f}{}", value, digits, kUnits[unit]);
    if (text.size() <= columns) return text;
  }
  return text;
}

std::string short_rate(double rate) {
  if (!(rate > 0)) return "0";
  if (rate < 0.005) return "0.00";
  if (rate < 0.995) return fmt::format("{:.2f}", rate);
  if (rate < 99.95) return fmt::format("{:.1f}", rate);
  return short_number(static_cast<std::uint64_t>(std::llround(rate)), 7);
}

std::string short_age(Duration age) {
  if (age < 1s) {
    return fmt::format("{}ms", std::chrono::duration_cast<std::chrono::milliseconds>(age).count());
  }
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(age).count();
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3600) return fmt::format("{}m{:02}", seconds / 60, seconds % 60);
  if (seconds < 86400) return fmt::format("{}h{:02}", seconds / 3600, seconds % 3600 / 60);
  return fmt::format("{}d", seconds / 86400);
}

std::string bar(double share, std::size_t columns) {
  share = std::clamp(share, 0.0, 1.0);
  auto eighths = static_cast<std::size_t>(std::lround(share * static_cast<double>(columns) * 8));
  if (share > 0) eighths = std::max<std::size_t>(eighths, 1);
  std::string text;
  for (; eighths >= 8; eighths -= 8)
    text += kEighths[8];
  return text += kEighths[eighths];
}

std::string sparkline(const std::vector<double>& values, std::size_t columns) {
  const std::size_t first = values.size() > columns ? values.size() - columns : 0;
  double highest = 0;
  for (std::size_t i = first; i < values.size(); ++i)
    highest = std::max(highest, values[i]);
  std::string text;
  for (std::size_t i = first; i < values.size(); ++i) {
    const double share = highest > 0 ? values[i] / highest : 0;
    // Nothing is less than a little.
    const auto height = values[i] > 0 ? std::lround(share * 7) : 0;
    text += kHeights[static_cast<std::size_t>(std::clamp<long>(height, values[i] > 0 ? 1 : 0, 7))];
  }
  return text;
}

}  // namespace holdfast::cli
