#include "stores/sqlite/cursor.hpp"

#include <charconv>

namespace holdfast::stores::sqlite {

std::string Cursor::text() const {
  std::string text(1, listing);
  for (const std::int64_t number : at)
    text += "." + std::to_string(number);
  return text;
}

Result<Cursor> Cursor::parse(std::string_view text, char listing) {
  const auto bad = [&] {
    return fail(ErrorCode::invalid_argument, "list",
                "the cursor '" + std::string(text.substr(0, 100)) +
                    "' is not one that a page of this listing gave");
  };
  if (text.empty() || text.front() != listing) return bad();
  Cursor cursor{.listing = listing};
  const char* place = text.data() + 1;
  const char* const end = text.data() + text.size();
  for (std::int64_t& number : cursor.at) {
    if (place == end || *place != '.') return bad();
    const auto [after, error] = std::from_chars(place + 1, end, number);
    if (error != std::errc()) return bad();
    place = after;
  }
  if (place != end) return bad();
  return cursor;
}

}  // namespace holdfast::stores::sqlite
