#include "brokers/sqs/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <openssl/evp.h>

#include "core/utf8.hpp"
#include "io/sha256.hpp"
#include "wire/base64.hpp"

namespace holdfast::brokers::sqs {
namespace {

constexpr std::size_t kMostAttributeNameBytes = 256;

bool is_carried(char32_t c) {
  return c == 0x9 || c == 0xA || c == 0xD || (c >= 0x20 && c <= 0xD7FF) ||
         (c >= 0xE000 && c <= 0xFFFD) || (c >= 0x10000 && c <= 0x10FFFF);
}

bool begins_like(std::string_view name, std::string_view prefix) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return name.size() >= prefix.size() &&
         std::ranges::equal(name.substr(0, prefix.size()), prefix,
                            [&](char a, char b) { return lower(a) == b; });
}

}  // namespace

bool is_message_text(std::string_view text) noexcept {
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text.front());
    if (first >= 0x20 && first < 0x80) {
      text.remove_prefix(1);
      continue;
    }
    const CodePoint point = first_code_point(text);
    if (point.length == 0 || !is_carried(point.value)) return false;
    text.remove_prefix(point.length);
  }
  return true;
}

bool is_attribute_name(std::string_view name) noexcept {
  if (name.empty() || name.size() > kMostAttributeNameBytes) return false;
  if (name.front() == '.' || name.back() == '.' || name.contains("..")) return false;
  if (begins_like(name, "aws.") || begins_like(name, "amazon.")) return false;
  return std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
}

std::string_view queue_of_arn(std::string_view arn) noexcept {
  const auto colon = arn.rfind(':');
  return colon == arn.npos ? arn : arn.substr(colon + 1);
}

std::string md5_hex(std::string_view bytes) {
  std::array<std::uint8_t, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_md5(), nullptr);
  return io::to_hex({digest.data(), size});
}

std::string base64(std::string_view bytes) {
  std::string text;
  wire::append_base64(text, bytes);
  return text;
}

}  // namespace holdfast::brokers::sqs
