#include "triage/text_match.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace holdfast::triage {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

bool contains(std::string_view text, std::string_view wanted) {
  const auto found =
      std::ranges::search(text, wanted, [](char a, char b) { return lower(a) == lower(b); });
  return !found.empty() || wanted.empty();
}

bool is_like(std::string_view text, std::string_view pattern) {
  std::size_t at = 0;
  std::size_t in_pattern = 0;
  std::optional<std::size_t> star;
  std::size_t after_star = 0;
  while (at < text.size()) {
    if (in_pattern < pattern.size() && pattern[in_pattern] == '*') {
      star = in_pattern++;
      after_star = at;
    } else if (in_pattern < pattern.size() && pattern[in_pattern] == text[at]) {
      ++in_pattern;
      ++at;
    } else if (star) {
      in_pattern = *star + 1;
      at = ++after_star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', in_pattern) == std::string_view::npos;
}

}  // namespace holdfast::triage
