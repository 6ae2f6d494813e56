#include "core/utf8.hpp"

#include <array>

namespace holdfast {
namespace {

constexpr std::size_t kLongest = 4;

[[nodiscard]] bool is_continuation(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

}  // namespace

CodePoint first_code_point(std::string_view text) noexcept {
  if (text.empty()) return {};
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xc2 || lead > 0xf4) return {};
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (text.size() < length) return {};
  char32_t value = lead & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[i])) return {};
    value = (value << 6) | (static_cast<unsigned char>(text[i]) & 0x3fU);
  }
  constexpr std::array<char32_t, kLongest + 1> kLeast{0, 0, 0x80, 0x800, 0x10000};
  if (value < kLeast.at(length) || value > 0x10ffff) return {};
  if (value >= 0xd800 && value <= 0xdfff) return {};
  return {value, length};
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t length = first_code_point(text).length;
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string_view utf8_prefix(std::string_view text, std::size_t limit) noexcept {
  if (text.size() <= limit) return text;
  // Only a code point that begins in the last three bytes before the cut can reach over it.
  for (std::size_t back = 1; back < kLongest && back <= limit; ++back) {
    const std::size_t start = limit - back;
    if (is_continuation(text[start])) continue;
    const std::size_t length = first_code_point(text.substr(start)).length;
    return text.substr(0, length > back ? start : limit);
  }
  return text.substr(0, limit);
}

}  // namespace holdfast
