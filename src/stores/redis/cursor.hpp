#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::stores::redis {

// Where a page of a list has ended: behind which task to go on, whether that is still there or not.
struct Cursor {
  char order = ' ';  // which list it belongs to
  std::int64_t priority = 0;
  double score = 0;
  std::int64_t number = 0;
  std::string queue = {};

  bool operator==(const Cursor&) const = default;
};

[[nodiscard]] std::string to_text(const Cursor& cursor);
// Nothing: no page of that list gave it.
[[nodiscard]] std::optional<Cursor> parse_cursor(std::string_view text, char order);

}  // namespace holdfast::stores::redis
