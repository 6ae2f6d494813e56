#include "inputs/payload_field.hpp"

#include <optional>

#include <fmt/format.h>

#include "core/json_text.hpp"
#include "wire/json_cursor.hpp"
#include "wire/json_syntax.hpp"

namespace holdfast::inputs {
namespace {

constexpr std::size_t kMostDepth = 1000;

// Of a name that is there twice, the last, as most readers of JSON have it.
std::optional<wire::JsonValue> member(const wire::JsonValue& object, std::string_view name) {
  std::optional<wire::JsonValue> found;
  wire::JsonCursor cursor(object.text);
  cursor.enter();
  while (const auto key = cursor.next_key()) {
    const wire::JsonValue value = cursor.take();
    if (wire::unescaped(*key) == name) found = value;
  }
  return found;
}

bool is_whole(std::string_view number) {
  return number.find_first_of(".eE") == number.npos;
}

}  // namespace

std::expected<std::string, std::string> payload_field(std::string_view payload,
                                                      std::string_view name) {
  if (!wire::is_json(payload, kMostDepth)) {
    return std::unexpected(
        fmt::format("the payload has no field {}: it is not JSON", quoted(name)));
  }
  wire::JsonValue value = wire::JsonCursor(payload).take();
  std::string_view rest = name;
  while (true) {
    const std::size_t dot = rest.find('.');
    const auto next =
        value.kind == wire::JsonKind::object ? member(value, rest.substr(0, dot)) : std::nullopt;
    if (!next) return std::unexpected(fmt::format("the payload has no field {}", quoted(name)));
    value = *next;
    if (dot == rest.npos) break;
    rest.remove_prefix(dot + 1);
  }
  if (value.kind == wire::JsonKind::string)
    return wire::unescaped(value.text.substr(1, value.text.size() - 2));
  if (value.kind == wire::JsonKind::number && is_whole(value.text)) return std::string(value.text);
  return std::unexpected(fmt::format(
      "the field {} of the payload is neither a text nor a whole number", quoted(name)));
}

}  // namespace holdfast::inputs
