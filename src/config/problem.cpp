#include "config/problem.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/json_text.hpp"

namespace holdfast::config {

std::string Problem::text() const {
  std::string line = file;
  if (place.line != 0) line += fmt::format(":{}:{}", place.line, place.column);
  line += ": ";
  if (!key.empty()) line += key + ": ";
  line += message;
  if (!suggestion.empty()) line += "; " + suggestion;
  return line;
}

Error to_error(std::span<const Problem> problems) {
  Error error{ErrorCode::invalid_argument, "read configuration", ""};
  for (const Problem& problem : problems) {
    if (!error.message.empty()) error.message += '\n';
    error.message += problem.text();
  }
  return error;
}

std::string join_key(std::string_view path, std::string_view name) {
  const bool bare = !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
  std::string joined(path);
  if (!joined.empty()) joined += '.';
  return joined += bare ? std::string(name) : quoted(name);
}

}  // namespace holdfast::config
