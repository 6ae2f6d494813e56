#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wire/json_cursor.hpp"

namespace holdfast::wire {

// The value that a path leads to: names of members, and places in arrays ("0"). Of a name that is
// there twice, the last, as most readers of JSON have it. Nothing: there is none. The text must be
// JSON, as of JsonCursor.
[[nodiscard]] std::optional<JsonValue> value_at(std::string_view json,
                                                std::span<const std::string> path);

// "customer.id" → "customer", "id".
[[nodiscard]] std::vector<std::string> path_of(std::string_view dotted);

}  // namespace holdfast::wire
