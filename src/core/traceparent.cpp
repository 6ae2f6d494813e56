#include "core/traceparent.hpp"

namespace holdfast {
namespace {

constexpr std::size_t kSize = 55;  // of version 00
constexpr std::string_view kVersion = "00";

[[nodiscard]] bool is_hex(std::string_view text) noexcept {
  return text.find_first_not_of("0123456789abcdef") == text.npos;
}

[[nodiscard]] bool is_id(std::string_view text) noexcept {
  return is_hex(text) && text.find_first_not_of('0') != text.npos;
}

// What follows the version, in all versions.
[[nodiscard]] bool are_fields(std::string_view text) noexcept {
  return text[0] == '-' && is_id(text.substr(1, 32)) && text[33] == '-' &&
         is_id(text.substr(34, 16)) && text[50] == '-' && is_hex(text.substr(51, 2));
}

}  // namespace

bool is_traceparent(std::string_view text) noexcept {
  return text.size() == kSize && text.starts_with(kVersion) && are_fields(text.substr(2));
}

std::optional<std::string> received_traceparent(std::string_view header) {
  if (is_traceparent(header)) return std::string(header);
  if (header.size() < kSize) return std::nullopt;
  const std::string_view version = header.substr(0, 2);
  const bool is_later = is_hex(version) && version != kVersion && version != "ff";
  const bool ends = header.size() == kSize || header[kSize] == '-';
  if (!is_later || !ends || !are_fields(header.substr(2))) return std::nullopt;
  return std::string(kVersion) + std::string(header.substr(2, kSize - 2));
}

std::string_view trace_id_of(std::string_view traceparent) noexcept {
  return is_traceparent(traceparent) ? traceparent.substr(3, 32) : std::string_view();
}

}  // namespace holdfast
