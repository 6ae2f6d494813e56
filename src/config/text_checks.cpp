#include "config/text_checks.hpp"

#include <algorithm>

#include <holdfast/classify.hpp>

#include "config/plain_values.hpp"
#include "core/condition_expression.hpp"
#include "core/json_text.hpp"

namespace holdfast::config {

std::string check_name(std::string_view text) {
  if (text.empty()) return "this is empty: a name has at least one letter";
  return is_visible(text) ? "" : "a name has no control characters";
}

std::string check_dependency(std::string_view text) {
  return is_visible(text) ? "" : "a name has no control characters";
}

std::string check_preset(std::string_view text) {
  const auto preset = presets::named(text);
  return preset ? "" : preset.error().message;
}

std::string check_delivery_limit(std::string_view text) {
  const bool is_number = !text.empty() && text.size() < 10 &&
                         text.find_first_not_of("0123456789") == std::string_view::npos;
  return text == "none" || is_number ? "" : R"(a delivery limit is a number, or "none")";
}

std::string check_variable(std::string_view text) {
  const std::string_view name = text.ends_with('*') ? text.substr(0, text.size() - 1) : text;
  const bool good = !text.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (good) return "";
  return quoted(text) +
         " cannot be the name of an environment variable (one that ends in * stands "
         "for all that begin so)";
}

std::string check_condition(std::string_view text) {
  const auto condition = parse_conditions(text);
  return condition ? "" : condition.error().message;
}

std::string check_user_agent(std::string_view text) {
  const bool good = !text.empty() &&
                    std::ranges::all_of(text, [](unsigned char c) { return c >= ' ' && c < 0x7f; });
  return good ? "" : "this goes into a header: printable ASCII, and at least one letter";
}

std::string check_region(std::string_view text) {
  const bool good = !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
  return good ? "" : "a region is a word such as us-east-1";
}

}  // namespace holdfast::config
