#include "cli/top_lines.hpp"

#include <algorithm>
#include <utility>

#include "cli/text_columns.hpp"

namespace holdfast::cli {

LineBuilder& LineBuilder::add(std::string_view text, Look look) {
  std::string fits = cut(text, room());
  width_ += columns_of(fits);
  if (!fits.empty()) line_.pieces.push_back({std::move(fits), look});
  return *this;
}

LineBuilder& LineBuilder::left(std::string_view text, std::size_t columns, Look look) {
  const std::string fits = cut(text, columns);
  return add(fits + std::string(columns - columns_of(fits), ' '), look);
}

LineBuilder& LineBuilder::right(std::string_view text, std::size_t columns, Look look) {
  const std::string fits = cut(text, columns);
  return add(std::string(columns - columns_of(fits), ' ') + fits, look);
}

LineBuilder& LineBuilder::flush_right(std::size_t columns) {
  return add(
      std::string(room() > columns ? room() - columns : std::min<std::size_t>(room(), 1), ' '));
}

LineBuilder& LineBuilder::rule() {
  std::string dashes;
  for (std::size_t i = width_; i < columns_; ++i)
    dashes += "─";
  return add(dashes, Look::faint);
}

Line LineBuilder::line(bool is_selected) {
  line_.is_selected = is_selected;
  return std::move(line_);
}

Line section_line(std::string_view name, std::string_view about, bool is_focused,
                  std::size_t columns) {
  LineBuilder line(columns);
  line.add(is_focused ? "▐" : " ", Look::heading);
  line.add(name, is_focused ? Look::heading : Look::strong).add(" ");
  if (!about.empty()) line.add(about, Look::faint).add(" ");
  return line.rule().line();
}

}  // namespace holdfast::cli
