#pragma once

#include <expected>
#include <string>
#include <string_view>

namespace holdfast::inputs {

// A field of a payload, as text: `name` leads into objects by its dots ("customer.id"). Texts and
// whole numbers have one, as they stand. The error says in one line what is missing, and quotes
// nothing of the payload but the name.
[[nodiscard]] std::expected<std::string, std::string> payload_field(std::string_view payload,
                                                                    std::string_view name);

}  // namespace holdfast::inputs
