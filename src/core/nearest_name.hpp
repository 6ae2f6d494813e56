#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

// For errors about a name that nobody knows: `; did you mean "network"?` where one of the known
// names is close to it, else `; known are network, http, aws`.
[[nodiscard]] std::string did_you_mean(std::string_view name,
                                       std::span<const std::string_view> known);

// Those of the known names that have something in them that is nearest to `part`, the nearest
// first: `most` of them.
[[nodiscard]] std::vector<std::string_view> nearest_names(std::string_view part,
                                                          std::span<const std::string_view> known,
                                                          std::size_t most);

}  // namespace holdfast
