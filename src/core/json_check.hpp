#pragma once

#include <string_view>

namespace holdfast {

// Whether `text` is one JSON value (RFC 8259) in valid UTF-8, with spaces around it or without.
// What is nested deeper than 512 is taken for none.
[[nodiscard]] bool is_json(std::string_view text) noexcept;

}  // namespace holdfast
