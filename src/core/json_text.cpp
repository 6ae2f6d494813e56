#include "core/json_text.hpp"

#include <cstddef>

#include "core/utf8.hpp"

namespace holdfast {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";

// Characters that break a line or change what is seen of the text around them.
[[nodiscard]] bool must_escape(char32_t c) noexcept {
  if (c < 0x20 || (c >= 0x7f && c <= 0x9f)) return true;
  if (c < 0x61c) return false;
  return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

void append_escape(std::string& out, char32_t c) {
  switch (c) {
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4)
    out += kHex[(c >> shift) & 0xf];
}

void append_broken_byte(std::string& out, char byte, bool in_quotes) {
  const auto value = static_cast<unsigned char>(byte);
  out += in_quotes ? "\\\\x" : "\\x";
  out += kHex[value >> 4];
  out += kHex[value & 0xf];
}

// How many bytes from the start need no work at all: the path nearly every text takes to its end.
[[nodiscard]] std::size_t clean_prefix(std::string_view text, bool in_quotes) noexcept {
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte >= 0x7f) break;
    if (in_quotes && (byte == '"' || byte == '\\')) break;
  }
  return i;
}

void append(std::string& out, std::string_view text, bool in_quotes) {
  while (true) {
    const std::size_t clean = clean_prefix(text, in_quotes);
    out += text.substr(0, clean);
    text.remove_prefix(clean);
    if (text.empty()) return;
    const CodePoint point = first_code_point(text);
    if (point.length == 0) {
      append_broken_byte(out, text.front(), in_quotes);
      text.remove_prefix(1);
      continue;
    }
    if (must_escape(point.value)) {
      append_escape(out, point.value);
    } else {
      if (point.length == 1) out += '\\';  // a quote or a backslash inside quotes
      out += text.substr(0, point.length);
    }
    text.remove_prefix(point.length);
  }
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  append(out, text, true);
  out += '"';
}

void append_visible(std::string& out, std::string_view text) {
  append(out, text, false);
}

std::string quoted(std::string_view text, std::size_t limit) {
  std::string out;
  const std::string_view kept = utf8_prefix(text, limit);
  append_json_string(out, kept);
  if (kept.size() < text.size()) out += "…";
  return out;
}

bool is_visible(std::string_view text) noexcept {
  while (true) {
    text.remove_prefix(clean_prefix(text, false));
    if (text.empty()) return true;
    const CodePoint point = first_code_point(text);
    if (point.length == 0 || must_escape(point.value)) return false;
    text.remove_prefix(point.length);
  }
}

}  // namespace holdfast
