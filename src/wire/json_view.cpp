#include "wire/json_view.hpp"

#include <charconv>

namespace holdfast::wire {

std::string JsonView::text() const {
  switch (value_.kind) {
    case JsonKind::string: return unescaped(value_.text.substr(1, value_.text.size() - 2));
    case JsonKind::number:
    case JsonKind::boolean: return std::string(value_.text);
    case JsonKind::null:
    case JsonKind::array:
    case JsonKind::object: return {};
  }
  return {};
}

std::optional<std::int64_t> JsonView::number() const {
  const std::string digits = text();
  std::int64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stopped, failed] = std::from_chars(digits.data(), end, value);
  if (failed != std::errc() || stopped != end) return std::nullopt;
  return value;
}

std::vector<std::pair<std::string, JsonView>> JsonView::members() const {
  std::vector<std::pair<std::string, JsonView>> all;
  if (value_.kind != JsonKind::object) return all;
  JsonCursor cursor(value_.text);
  cursor.enter();
  while (const auto key = cursor.next_key()) {
    std::string name = unescaped(*key);
    all.emplace_back(std::move(name), JsonView(cursor.take()));
  }
  return all;
}

std::optional<JsonView> JsonView::find(std::string_view name) const {
  if (value_.kind != JsonKind::object) return std::nullopt;
  JsonCursor cursor(value_.text);
  cursor.enter();
  while (const auto key = cursor.next_key()) {
    const JsonView value(cursor.take());
    if (*key == name) return value;
  }
  return std::nullopt;
}

std::string JsonView::text_of(std::string_view name) const {
  const auto found = find(name);
  return found ? found->text() : std::string();
}

std::vector<JsonView> JsonView::elements() const {
  std::vector<JsonView> all;
  if (value_.kind != JsonKind::array) return all;
  JsonCursor cursor(value_.text);
  cursor.enter();
  while (cursor.next_element())
    all.emplace_back(cursor.take());
  return all;
}

}  // namespace holdfast::wire
