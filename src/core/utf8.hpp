#pragma once

#include <cstddef>
#include <string_view>

namespace holdfast {

struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;  // in bytes; 0 if the text does not begin with valid UTF-8
};

// The code point at the start of `text`, as RFC 3629 allows it: no overlong forms, no surrogates,
// nothing past U+10FFFF. Empty text has none.
[[nodiscard]] CodePoint first_code_point(std::string_view text) noexcept;

// Whether all of `text` is such code points.
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

// The longest prefix of `text` of at most `limit` bytes that does not cut a code point in two.
[[nodiscard]] std::string_view utf8_prefix(std::string_view text, std::size_t limit) noexcept;

}  // namespace holdfast
