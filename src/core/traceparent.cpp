#include "wire/traceparent.hpp"

namespace holdfast::wire {
namespace {

[[nodiscard]] bool is_hex(std::string_view text) noexcept {
  return text.find_first_not_of("0123456789abcdef") == text.npos;
}

[[nodiscard]] bool is_id(std::string_view text) noexcept {
  return is_hex(text) && text.find_first_not_of('0') != text.npos;
}

}  // namespace

bool is_traceparent(std::string_view text) noexcept {
  return text.size() == 55 && text.starts_with("00-") && is_id(text.substr(3, 32)) &&
         text[35] == '-' && is_id(text.substr(36, 16)) && text[52] == '-' &&
         is_hex(text.substr(53));
}

}  // namespace holdfast::wire
