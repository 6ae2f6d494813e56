#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace holdfast {

// What a part of a URL stands for: "%40" is "@". Nothing: a % that no two hexadecimal digits
// follow.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);

// The other way: all but letters, digits, - . _ ~ and what is named as plain.
[[nodiscard]] std::string percent_encoded(std::string_view text, std::string_view also_plain = "");

}  // namespace holdfast
