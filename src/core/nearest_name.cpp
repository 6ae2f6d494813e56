#include "core/nearest_name.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace holdfast {
namespace {

enum class Where : std::uint8_t { whole, anywhere };

// Levenshtein's: how many letters must be changed, added or dropped to get from `a` to `b`, or to
// what is nearest to it anywhere in `b`.
std::size_t distance(std::string_view a, std::string_view b, Where where = Where::whole) {
  std::vector<std::size_t> row(b.size() + 1);
  if (where == Where::whole) std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return where == Where::whole ? row.back() : std::ranges::min(row);
}

}  // namespace

std::string did_you_mean(std::string_view name, std::span<const std::string_view> known) {
  constexpr std::size_t kLongestTypo = 40;  // the cost is quadratic, and no known name is this long
  const auto far = [&](std::string_view candidate) { return distance(name, candidate); };
  if (!known.empty() && name.size() <= kLongestTypo) {
    const auto nearest = std::ranges::min_element(known, {}, far);
    if (far(*nearest) <= std::max<std::size_t>(1, nearest->size() / 3)) {
      return fmt::format("; did you mean \"{}\"?", *nearest);
    }
  }
  return fmt::format("; known are {}", fmt::join(known, ", "));
}

std::vector<std::string_view> nearest_names(std::string_view part,
                                            std::span<const std::string_view> known,
                                            std::size_t most) {
  constexpr std::size_t kLongestPart = 40;
  std::vector<std::pair<std::size_t, std::string_view>> found;
  for (const std::string_view name : known)
    found.emplace_back(distance(part.substr(0, kLongestPart), name, Where::anywhere), name);
  const auto end = found.begin() + static_cast<std::ptrdiff_t>(std::min(most, found.size()));
  std::ranges::partial_sort(found, end);
  std::vector<std::string_view> nearest;
  for (auto one = found.begin(); one != end; ++one)
    nearest.push_back(one->second);
  return nearest;
}

}  // namespace holdfast
