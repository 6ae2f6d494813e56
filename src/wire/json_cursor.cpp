#include "wire/json_cursor.hpp"

#include <algorithm>
#include <charconv>

namespace holdfast::wire {
namespace {

void append_utf8(std::string& out, char32_t c) {
  const auto tail = [&](int shift) {
    out += static_cast<char>(0x80 | (static_cast<unsigned>(c >> shift) & 0x3fU));
  };
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xc0 | (c >> 6));
    tail(0);
  } else if (c < 0x10000) {
    out += static_cast<char>(0xe0 | (c >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | (c >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

[[nodiscard]] char32_t hex4(std::string_view text) noexcept {
  std::uint32_t value = 0;
  const std::string_view digits = text.substr(0, 4);
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return value;
}

// The escape at the start of `text`, behind its backslash; how long it is.
std::size_t append_escape(std::string& out, std::string_view text) {
  switch (text.empty() ? '\0' : text.front()) {
    case 'b': out += '\b'; return 1;
    case 'f': out += '\f'; return 1;
    case 'n': out += '\n'; return 1;
    case 'r': out += '\r'; return 1;
    case 't': out += '\t'; return 1;
    case 'u': break;
    default: out += text.substr(0, 1); return 1;  // a quote, a slash or a backslash
  }
  const char32_t unit = hex4(text.substr(1));
  const bool is_pair = unit >= 0xd800 && unit < 0xdc00 && text.size() >= 11;
  if (!is_pair) {
    append_utf8(out, unit);
    return 5;
  }
  append_utf8(out, 0x10000 + ((unit - 0xd800) << 10) + (hex4(text.substr(7)) - 0xdc00));
  return 11;
}

}  // namespace

JsonKind JsonCursor::kind() const noexcept {
  switch (peek()) {
    case '{': return JsonKind::object;
    case '[': return JsonKind::array;
    case '"': return JsonKind::string;
    case 't':
    case 'f': return JsonKind::boolean;
    case 'n': return JsonKind::null;
    default: return JsonKind::number;
  }
}

JsonValue JsonCursor::take() noexcept {
  JsonValue value{.kind = kind(), .text = {}};
  const std::size_t start = at_;
  switch (value.kind) {
    case JsonKind::object:
    case JsonKind::array: skip_container(); break;
    case JsonKind::string: skip_string(); break;
    default: skip_word(); break;
  }
  value.text = text_.substr(start, at_ - start);
  return value;
}

std::optional<std::string_view> JsonCursor::next_key() noexcept {
  if (!next('}')) return std::nullopt;
  const std::size_t start = at_ + 1;
  skip_string();
  const std::string_view key = text_.substr(start, at_ - 1 - start);
  skip_spaces();
  ++at_;  // the colon
  skip_spaces();
  return key;
}

bool JsonCursor::next_element() noexcept {
  return next(']');
}

bool JsonCursor::next(char closing) noexcept {
  skip_spaces();
  if (peek() == ',') {
    ++at_;
    skip_spaces();
  }
  if (at_ >= text_.size()) return false;
  if (peek() != closing) return true;
  ++at_;
  return false;
}

void JsonCursor::skip_spaces() noexcept {
  while (peek() == ' ' || peek() == '\n' || peek() == '\r' || peek() == '\t')
    ++at_;
}

void JsonCursor::skip_string() noexcept {
  const std::size_t open = at_;
  while (true) {
    const std::size_t quote = text_.find('"', at_ + 1);
    if (quote == text_.npos) {
      at_ = text_.size();
      return;
    }
    at_ = quote;
    std::size_t before = quote;  // to the first of the backslashes that stand before it
    while (before > open + 1 && text_[before - 1] == '\\')
      --before;
    if ((quote - before) % 2 == 0) break;
  }
  ++at_;
}

void JsonCursor::skip_container() noexcept {
  std::size_t depth = 0;
  while (at_ < text_.size()) {
    switch (text_[at_]) {
      case '"': skip_string(); continue;
      case '{':
      case '[': ++depth; break;
      case '}':
      case ']': --depth; break;
      default: break;
    }
    ++at_;
    if (depth == 0) return;
  }
}

void JsonCursor::skip_word() noexcept {
  constexpr std::string_view kAfter = ",]} \n\r\t";
  const std::size_t end = text_.find_first_of(kAfter, at_);
  at_ = end == text_.npos ? text_.size() : end;
}

std::string unescaped(std::string_view literal) {
  std::string out;
  out.reserve(literal.size());  // no escape is shorter than what it says
  while (true) {
    const std::size_t escape = literal.find('\\');
    out += literal.substr(0, escape);
    if (escape == literal.npos) return out;
    literal.remove_prefix(escape + 1);
    literal.remove_prefix(std::min(append_escape(out, literal), literal.size()));
  }
}

}  // namespace holdfast::wire
