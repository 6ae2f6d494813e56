#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/document.hpp"
#include "config/reading.hpp"

// Values of the file that are meant for JSON: defaults of fields, forms of answers.
namespace holdfast::config {

// Nothing: JSON has no such value, and that was said.
[[nodiscard]] std::optional<std::string> json_of(const Spot& spot, const Value& value);
// The way back, on one line.
[[nodiscard]] std::string toml_of(std::string_view json);

}  // namespace holdfast::config
