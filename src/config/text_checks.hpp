#pragma once

#include <string>
#include <string_view>

// What must be true of texts in the configuration. What is wrong, or nothing.
namespace holdfast::config {

[[nodiscard]] std::string check_name(std::string_view text);
[[nodiscard]] std::string check_dependency(std::string_view text);
[[nodiscard]] std::string check_preset(std::string_view text);
[[nodiscard]] std::string check_variable(std::string_view text);
[[nodiscard]] std::string check_condition(std::string_view text);
[[nodiscard]] std::string check_user_agent(std::string_view text);
// "none", or how many returns it allows.
[[nodiscard]] std::string check_delivery_limit(std::string_view text);
[[nodiscard]] std::string check_region(std::string_view text);

}  // namespace holdfast::config
