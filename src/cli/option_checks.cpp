#include "cli/option_checks.hpp"

#include <string_view>

#include "core/units.hpp"

namespace holdfast::cli {

std::string check_duration(const std::string& text) {
  const auto span = parse_duration(text);
  return span ? "" : span.error().message;
}

std::string without_scheme(std::string& path) {
  constexpr std::string_view kScheme = "sqlite:";
  if (path.starts_with(kScheme)) path.erase(0, kScheme.size());
  return path.empty() ? "the name of a file must not be empty" : "";
}

}  // namespace holdfast::cli
