#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace holdfast::presets {

// One pattern from many, any of which may be found.
[[nodiscard]] inline std::string one_of(std::initializer_list<std::string_view> alternatives) {
  std::string pattern;
  for (const std::string_view alternative : alternatives) {
    if (!pattern.empty()) pattern += '|';
    pattern += alternative;
  }
  return pattern;
}

// Error codes of programs: whole words, spelled exactly so. `SlowDown` is a code, "slowdown" is
// not.
[[nodiscard]] inline std::string codes(std::initializer_list<std::string_view> names) {
  return R"((?-i:\b(?:)" + one_of(names) + R"()\b))";
}

}  // namespace holdfast::presets
