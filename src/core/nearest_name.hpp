#pragma once

#include <span>
#include <string>
#include <string_view>

namespace holdfast {

// For errors about a name that nobody knows: `; did you mean "network"?` where one of the known
// names is close to it, else `; known are network, http, aws`.
[[nodiscard]] std::string did_you_mean(std::string_view name,
                                       std::span<const std::string_view> known);

}  // namespace holdfast
