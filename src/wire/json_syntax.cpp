// The one place that knows Boost.JSON, and where it is compiled. Only its parser is used, without
// the values it could make: what is read here must keep its source text to the byte, which a tree
// of values does not.
#include "wire/json_syntax.hpp"

#include <algorithm>
#include <cstdint>

// By a name of our own: this is part of the library that users link, who may have compiled
// Boost.JSON into their program as well.
#define json holdfast_json
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/src.hpp>
#undef json
#include <fmt/format.h>

#include "core/json_text.hpp"
#include "core/utf8.hpp"

namespace holdfast::wire {
namespace {

namespace json = boost::holdfast_json;

// Takes whatever comes: only that it could be parsed is of interest.
struct Listener {
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);

  using Fault = json::error_code;
  using Text = json::string_view;
  static bool on_document_begin(Fault&) { return true; }
  static bool on_document_end(Fault&) { return true; }
  static bool on_object_begin(Fault&) { return true; }
  static bool on_object_end(std::size_t, Fault&) { return true; }
  static bool on_array_begin(Fault&) { return true; }
  static bool on_array_end(std::size_t, Fault&) { return true; }
  static bool on_key_part(Text, std::size_t, Fault&) { return true; }
  static bool on_key(Text, std::size_t, Fault&) { return true; }
  static bool on_string_part(Text, std::size_t, Fault&) { return true; }
  static bool on_string(Text, std::size_t, Fault&) { return true; }
  static bool on_number_part(Text, Fault&) { return true; }
  static bool on_int64(std::int64_t, Text, Fault&) { return true; }
  static bool on_uint64(std::uint64_t, Text, Fault&) { return true; }
  static bool on_double(double, Text, Fault&) { return true; }
  static bool on_bool(bool, Fault&) { return true; }
  static bool on_null(Fault&) { return true; }
  static bool on_comment_part(Text, Fault&) { return true; }
  static bool on_comment(Text, Fault&) { return true; }
};

struct Parsed {
  std::size_t offset = 0;  // where it stopped
  json::error_code fault;
};

[[nodiscard]] Parsed parse(std::string_view text, std::size_t most_depth) {
  json::parse_options options;
  options.max_depth = most_depth;
  json::basic_parser<Listener> parser(options);
  Parsed parsed;
  parsed.offset = parser.write_some(false, text.data(), text.size(), parsed.fault);
  if (!parsed.fault && parsed.offset < text.size()) parsed.fault = json::error::extra_data;
  return parsed;
}

[[nodiscard]] std::string unexpected(std::string_view rest) {
  if (rest.empty()) return "ends too early";
  const std::size_t length = first_code_point(rest).length;
  if (length == 0)
    return fmt::format("byte {:#04x} is not UTF-8", static_cast<unsigned char>(rest.front()));
  return fmt::format("unexpected {}", quoted(rest.substr(0, length)));
}

[[nodiscard]] std::string words_of(const Parsed& parsed, std::string_view text,
                                   std::size_t most_depth) {
  const std::string_view rest = text.substr(std::min(parsed.offset, text.size()));
  if (parsed.fault == json::error::too_deep) {
    return fmt::format("nested deeper than {}", most_depth);
  }
  if (parsed.fault == json::error::extra_data) {
    return fmt::format("{} after the end of the document", unexpected(rest));
  }
  if (parsed.fault == json::error::exponent_overflow) return "an exponent that is too large";
  if (parsed.fault == json::error::illegal_leading_surrogate ||
      parsed.fault == json::error::illegal_trailing_surrogate ||
      parsed.fault == json::error::expected_utf16_escape) {
    return "an escape that is half a character (a lone surrogate)";
  }
  if (parsed.fault == json::error::expected_hex_digit) return "expected a hexadecimal digit";
  return unexpected(rest);
}

}  // namespace

std::optional<SyntaxFault> syntax_fault(std::string_view text, std::size_t most_depth) {
  const Parsed parsed = parse(text, most_depth);
  if (!parsed.fault) return std::nullopt;
  return SyntaxFault{.offset = parsed.offset, .what = words_of(parsed, text, most_depth)};
}

bool is_json(std::string_view text, std::size_t most_depth) {
  return !parse(text, most_depth).fault;
}

std::string place_of(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto line = std::ranges::count(before, '\n') + 1;
  const std::string_view in_line = before.substr(before.rfind('\n') + 1);  // npos + 1 is 0
  const auto is_first_byte = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
  return fmt::format("line {}, column {}", line, std::ranges::count_if(in_line, is_first_byte) + 1);
}

}  // namespace holdfast::wire
