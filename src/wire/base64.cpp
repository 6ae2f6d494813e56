#include "wire/base64.hpp"

#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "core/json_text.hpp"

namespace holdfast::wire {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNone = 0xff;

constexpr std::array<std::uint8_t, 256> kValues = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNone);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i)
    values.at(static_cast<unsigned char>(kAlphabet[i])) = static_cast<std::uint8_t>(i);
  return values;
}();

[[nodiscard]] std::unexpected<Error> refuse(std::string_view text, std::string_view what,
                                            std::size_t at) {
  return fail(ErrorCode::invalid_argument, "parse base64",
              fmt::format("{}: {} at offset {}", quoted(text, 40), what, at));
}

}  // namespace

void append_base64(std::string& out, std::string_view bytes) {
  out.reserve(out.size() + (bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::string_view part = bytes.substr(at, 3);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i)
      bits = bits << 8 | (i < part.size() ? static_cast<unsigned char>(part[i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i)
      out += i <= part.size() ? kAlphabet[(bits >> (18 - 6 * i)) & 0x3f] : '=';
  }
}

Result<std::string> parse_base64(std::string_view text) {
  if (text.size() % 4 != 0) return refuse(text, "ends within a group of four", text.size());
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  const std::size_t digits = text.size() - padding;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  for (std::size_t at = 0; at < digits; ++at) {
    const std::uint8_t value = kValues[static_cast<unsigned char>(text[at])];
    if (value == kNone) return refuse(text, "no digit of base64", at);
    bits = bits << 6 | value;
    const auto byte = [&](int shift) { bytes += static_cast<char>(bits >> shift & 0xff); };
    switch (at % 4) {
      case 1: byte(4); break;
      case 2: byte(2); break;
      case 3: byte(0); break;
      default: break;
    }
  }
  // Bits that no byte takes must be zero.
  if ((bits & ((1U << (2 * padding)) - 1)) != 0) return refuse(text, "stray bits", digits - 1);
  return bytes;
}

}  // namespace holdfast::wire
