#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cli/top_frame.hpp"

// What frames are made of. Nothing here is for others than top_*.cpp.
namespace holdfast::cli {

// A line from left to right, that ends at the edge.
class LineBuilder {
 public:
  explicit LineBuilder(std::size_t columns) : columns_(columns) {}

  LineBuilder& add(std::string_view text, Look look = Look::plain);
  // In so many columns.
  LineBuilder& left(std::string_view text, std::size_t columns, Look look = Look::plain);
  LineBuilder& right(std::string_view text, std::size_t columns, Look look = Look::plain);
  // So that what follows, which has so many columns, ends at the edge; with a space at least.
  LineBuilder& flush_right(std::size_t columns);
  LineBuilder& rule();
  [[nodiscard]] std::size_t room() const { return columns_ - width_; }
  [[nodiscard]] Line line(bool is_selected = false);

 private:
  const std::size_t columns_;
  std::size_t width_ = 0;
  Line line_;
};

// A heading over all the width.
[[nodiscard]] Line section_line(std::string_view name, std::string_view about, bool is_focused,
                                std::size_t columns);

// The lists with their headings; at most so many rows of each. `keys`: one of them is selected.
[[nodiscard]] Frame queue_lines(const View& view, const Snapshot& snapshot, std::size_t columns,
                                std::size_t rows, bool keys);
[[nodiscard]] Frame group_lines(const View& view, const Snapshot& snapshot, std::size_t columns,
                                std::size_t rows, bool keys);
[[nodiscard]] Frame operation_lines(const Snapshot& snapshot, std::size_t columns);

// What can be pressed now: the last lines of the screen, and a page that says it at length.
[[nodiscard]] Frame key_lines(const View& view, std::size_t columns);
[[nodiscard]] Frame help_lines(std::size_t columns);

}  // namespace holdfast::cli
