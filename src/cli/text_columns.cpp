#include "cli/text_columns.hpp"

#include <algorithm>

#include "core/utf8.hpp"

namespace holdfast::cli {
namespace {

std::size_t length_of_first(std::string_view text) {
  return std::max<std::size_t>(1, first_code_point(text).length);
}

}  // namespace

std::string cut(std::string_view text, std::size_t columns) {
  std::size_t end = 0;
  std::size_t end_with_dots = 0;
  for (std::size_t column = 0; end < text.size(); ++column) {
    if (column == columns) return std::string(text.substr(0, end_with_dots)) + "…";
    end_with_dots = column + 1 == columns ? end : end_with_dots;
    end += length_of_first(text.substr(end));
  }
  return std::string(text);
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  for (; !text.empty(); ++columns)
    text.remove_prefix(length_of_first(text));
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
