#include "cli/option_checks.hpp"

#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "core/json_text.hpp"
#include "core/units.hpp"

namespace holdfast::cli {

std::string check_duration(const std::string& text) {
  const auto span = parse_duration(text);
  return span ? "" : span.error().message;
}

Result<std::optional<double>> parse_rate(const std::string& text) {
  if (text.empty()) return std::nullopt;
  double count = 0;
  const char* const end = text.data() + text.size();
  const auto [read_to, error] = std::from_chars(text.data(), end, count);
  const std::string_view unit(read_to, static_cast<std::size_t>(end - read_to));
  if (error == std::errc() && count > 0 && count < 1e9) {
    if (unit.empty() || unit == "/s") return count;
    if (unit == "/m") return count / 60;
    if (unit == "/h") return count / 3600;
  }
  return fail(ErrorCode::invalid_argument, "--rate",
              fmt::format("{} is no rate: write 50/s, 600/m or 100/h", holdfast::quoted(text)));
}

std::string without_scheme(std::string& path) {
  constexpr std::string_view kScheme = "sqlite:";
  if (path.starts_with(kScheme)) path.erase(0, kScheme.size());
  return path.empty() ? "the name of a file must not be empty" : "";
}

}  // namespace holdfast::cli
