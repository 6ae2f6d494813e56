#include "stores/redis/cursor.hpp"

#include <charconv>
#include <system_error>

#include <fmt/format.h>

namespace holdfast::stores::redis {
namespace {

template <class Number>
std::optional<Number> take(std::string_view& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto length = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || length == text.size() || text[length] != ' ') return std::nullopt;
  text.remove_prefix(length + 1);
  return number;
}

}  // namespace

// "w 105 1.7e15 17 mail." The full stop tells a whole cursor from one that was cut.
std::string to_text(const Cursor& cursor) {
  return fmt::format("{} {} {:.17g} {} {}.", cursor.order, cursor.priority, cursor.score,
                     cursor.number, cursor.queue);
}

std::optional<Cursor> parse_cursor(std::string_view text, char order) {
  if (text.size() < 2 || text[0] != order || text[1] != ' ') return std::nullopt;
  text.remove_prefix(2);
  const auto priority = take<std::int64_t>(text);
  const auto score = priority ? take<double>(text) : std::nullopt;
  const auto number = score ? take<std::int64_t>(text) : std::nullopt;
  if (!number || !text.ends_with('.')) return std::nullopt;
  text.remove_suffix(1);
  return Cursor{order, *priority, *score, *number, std::string(text)};
}

}  // namespace holdfast::stores::redis
