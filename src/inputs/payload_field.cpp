#include "inputs/payload_field.hpp"

#include <fmt/format.h>

#include "core/json_text.hpp"
#include "wire/json_path.hpp"
#include "wire/json_syntax.hpp"

namespace holdfast::inputs {
namespace {

constexpr std::size_t kMostDepth = 1000;

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
  const auto found = wire::value_at(payload, wire::path_of(name));
  if (!found) return std::unexpected(fmt::format("the payload has no field {}", quoted(name)));
  const wire::JsonValue& value = *found;
  if (value.kind == wire::JsonKind::string)
    return wire::unescaped(value.text.substr(1, value.text.size() - 2));
  if (value.kind == wire::JsonKind::number && is_whole(value.text)) return std::string(value.text);
  return std::unexpected(fmt::format(
      "the field {} of the payload is neither a text nor a whole number", quoted(name)));
}

}  // namespace holdfast::inputs
