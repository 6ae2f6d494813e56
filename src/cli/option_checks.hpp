#pragma once

#include <optional>
#include <string>

#include <holdfast/result.hpp>

// What CLI11 calls to check the value of an option. Each returns what is wrong; empty: nothing.
namespace holdfast::cli {

[[nodiscard]] std::string check_duration(const std::string& text);

// "50/s", "600/m" or "100/h": so many a second; nothing, if nothing is said. Fails with
// invalid_argument.
[[nodiscard]] Result<std::optional<double>> parse_rate(const std::string& text);

// Programs name the same file by its URL: "sqlite:tasks.db" becomes "tasks.db".
std::string without_scheme(std::string& path);

}  // namespace holdfast::cli
