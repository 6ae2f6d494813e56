#include "cli/text_columns.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

#include "core/json_text.hpp"
#include "core/utf8.hpp"

namespace holdfast::cli {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Marks that stand above, below or between the letters, and what is never seen.
constexpr auto kNoColumn = std::to_array<Range>({
    {0x0300, 0x036F},
    {0x0483, 0x0489},
    {0x0591, 0x05BD},
    {0x0610, 0x061A},
    {0x064B, 0x065F},
    {0x0E31, 0x0E31},
    {0x0E34, 0x0E3A},
    {0x0E47, 0x0E4E},
    {0x1AB0, 0x1AFF},
    {0x1DC0, 0x1DFF},
    {0x200B, 0x200F},
    {0x202A, 0x202E},
    {0x2060, 0x2064},
    {0x20D0, 0x20FF},
    {0xFE00, 0xFE0F},
    {0xFE20, 0xFE2F},
    {0xFEFF, 0xFEFF},
    {0xE0100, 0xE01EF},
});
// East Asian Wide and Fullwidth of Unicode, as coarse as terminals have it.
constexpr auto kTwoColumns = std::to_array<Range>({
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x23E9, 0x23EC},   {0x2E80, 0x303E},
    {0x3041, 0x33FF},   {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},
    {0xA960, 0xA97F},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
    {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x16FE0, 0x18AFF}, {0x1B000, 0x1B2FF},
    {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x1FA70, 0x1FAFF},
    {0x20000, 0x3FFFD},
});

template <std::size_t N>
bool is_in(const std::array<Range, N>& ranges, char32_t value) {
  const auto after = std::ranges::upper_bound(ranges, value, {}, &Range::first);
  return after != ranges.begin() && value <= std::prev(after)->last;
}

struct Character {
  std::size_t bytes = 1;
  std::size_t columns = 1;
};

// A byte that is none of UTF-8 is one character.
Character first_of(std::string_view text) {
  const CodePoint point = first_code_point(text);
  if (point.length == 0) return {};
  if (point.value < 0x0300) return {.bytes = point.length};
  if (is_in(kNoColumn, point.value)) return {.bytes = point.length, .columns = 0};
  return {.bytes = point.length, .columns = is_in(kTwoColumns, point.value) ? 2U : 1U};
}

}  // namespace

std::string visible(std::string_view text) {
  std::string shown;
  append_visible(shown, text);
  return shown;
}

std::string coloured(std::string_view text, std::string_view code, bool colour) {
  return colour ? fmt::format("{}{}\x1b[0m", code, text) : std::string(text);
}

std::string cut(std::string_view text, std::size_t columns) {
  std::size_t column = 0;
  std::size_t end_with_dots = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character next = first_of(text.substr(at));
    if (column + next.columns > columns) {
      return columns == 0 ? "" : std::string(text.substr(0, end_with_dots)) + "…";
    }
    at += next.bytes;
    column += next.columns;
    if (column < columns) end_with_dots = at;
  }
  return std::string(text);
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Character next = first_of(text);
    columns += next.columns;
    text.remove_prefix(next.bytes);
  }
  return columns;
}

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3)
    text.insert(at - 3, ",");
  return text;
}

void append_wrapped(std::string& out, std::string_view text, std::size_t indent) {
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string word = cut(text.substr(0, space), kColumns - indent);
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
    const std::size_t width = columns_of(word);
    if (column != 0 && column + 1 + width <= kColumns) {
      out += ' ';
      column += 1 + width;
    } else {
      if (column != 0) out += '\n';
      out.append(indent, ' ');
      column = indent + width;
    }
    out += word;
  }
  out += '\n';
}

}  // namespace holdfast::cli
