#include "triage/payload_path.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "triage/text_match.hpp"
#include "wire/json_path.hpp"
#include "wire/json_syntax.hpp"

namespace holdfast::triage {
namespace {

using Compare = Term::Compare;

constexpr std::size_t kMostDepth = 1000;

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [read_to, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || read_to != end || text.empty()) return std::nullopt;
  return value;
}

// What is compared as a text: of a string what it says, of all else how it is written.
std::string text_of(const wire::JsonValue& value) {
  if (value.kind != wire::JsonKind::string) return std::string(value.text);
  return wire::unescaped(value.text.substr(1, value.text.size() - 2));
}

bool value_holds(const wire::JsonValue& value, const std::string& text, const Term& term,
                 const std::string& wanted) {
  if (value.kind == wire::JsonKind::number) {
    const auto left = number_in(value.text);
    const auto right = number_in(wanted);
    if (left && right) return holds(term.compare, *left, *right);
  }
  if (term.compare == Compare::equal) return is_like(text, wanted);
  if (term.compare == Compare::unequal) return !is_like(text, wanted);
  return holds(term.compare, text, wanted);
}

}  // namespace

bool payload_holds(std::string_view payload, const Term& term) {
  if (!wire::is_json(payload, kMostDepth)) return false;
  const auto value = wire::value_at(payload, term.path);
  if (!value) return false;
  const std::string text = text_of(*value);
  const auto fits = [&](const std::string& wanted) {
    return value_holds(*value, text, term, wanted);
  };
  // "!=" with several values: none of them.
  if (term.compare == Compare::unequal) return std::ranges::all_of(term.values, fits);
  return std::ranges::any_of(term.values, fits);
}

}  // namespace holdfast::triage
