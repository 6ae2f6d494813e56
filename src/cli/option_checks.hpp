#pragma once

#include <string>

// What CLI11 calls to check the value of an option. Each returns what is wrong; empty: nothing.
namespace holdfast::cli {

[[nodiscard]] std::string check_duration(const std::string& text);

// Programs name the same file by its URL: "sqlite:tasks.db" becomes "tasks.db".
std::string without_scheme(std::string& path);

}  // namespace holdfast::cli
