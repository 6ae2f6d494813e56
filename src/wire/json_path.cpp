#include "wire/json_path.hpp"

#include <charconv>
#include <cstddef>

namespace holdfast::wire {
namespace {

std::optional<JsonValue> member(std::string_view object, std::string_view name) {
  std::optional<JsonValue> found;
  JsonCursor cursor(object);
  cursor.enter();
  while (const auto key = cursor.next_key()) {
    const JsonValue value = cursor.take();
    const bool plain = key->find('\\') == std::string_view::npos;
    if (plain ? *key == name : unescaped(*key) == name) found = value;
  }
  return found;
}

std::optional<JsonValue> element(std::string_view array, std::string_view place) {
  std::size_t wanted = 0;
  const char* const end = place.data() + place.size();
  const auto [read_to, error] = std::from_chars(place.data(), end, wanted);
  if (error != std::errc() || read_to != end) return std::nullopt;
  JsonCursor cursor(array);
  cursor.enter();
  for (std::size_t at = 0; cursor.next_element(); ++at) {
    const JsonValue value = cursor.take();
    if (at == wanted) return value;
  }
  return std::nullopt;
}

}  // namespace

std::optional<JsonValue> value_at(std::string_view json, std::span<const std::string> path) {
  std::optional<JsonValue> value = JsonCursor(json).take();
  for (const std::string& step : path) {
    switch (value->kind) {
      case JsonKind::object: value = member(value->text, step); break;
      case JsonKind::array: value = element(value->text, step); break;
      default: return std::nullopt;
    }
    if (!value) return std::nullopt;
  }
  return value;
}

std::vector<std::string> path_of(std::string_view dotted) {
  std::vector<std::string> path;
  while (true) {
    const std::size_t dot = dotted.find('.');
    path.emplace_back(dotted.substr(0, dot));
    if (dot == std::string_view::npos) return path;
    dotted.remove_prefix(dot + 1);
  }
}

}  // namespace holdfast::wire
