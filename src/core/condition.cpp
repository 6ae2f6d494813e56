#include "core/condition.hpp"

#include <charconv>
#include <compare>

#include "core/json_text.hpp"
#include "core/units.hpp"

namespace holdfast {
namespace {

std::string_view sign_of(Comparison how) {
  switch (how) {
    case Comparison::equals: return "=";
    case Comparison::differs: return "!=";
    case Comparison::contains: return "~";
    case Comparison::less: return "<";
    case Comparison::more: return ">";
    case Comparison::at_most: return "<=";
    case Comparison::at_least: return ">=";
    case Comparison::matches: return "=~";
    case Comparison::unlike: return "!~";
  }
  return "=";
}

std::optional<double> number_in(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || at != end) return std::nullopt;
  return number;
}

// A number as it is written, without an exponent: exact, however many digits it has.
struct Digits {
  bool is_negative = false;
  std::string_view whole;     // without leading zeros
  std::string_view fraction;  // without trailing zeros
};

std::optional<Digits> digits_in(std::string_view text) {
  Digits number;
  if (text.starts_with('-')) {
    number.is_negative = true;
    text.remove_prefix(1);
  }
  if (text.empty() || text.find_first_not_of("0123456789.") != std::string_view::npos)
    return std::nullopt;
  const std::size_t point = text.find('.');
  number.whole = text.substr(0, point);
  if (point != std::string_view::npos) number.fraction = text.substr(point + 1);
  if (number.whole.empty() || number.fraction.contains('.')) return std::nullopt;
  while (number.whole.starts_with('0'))
    number.whole.remove_prefix(1);
  while (number.fraction.ends_with('0'))
    number.fraction.remove_suffix(1);
  if (number.whole.empty() && number.fraction.empty()) number.is_negative = false;
  return number;
}

std::strong_ordering compare(const Digits& a, const Digits& b) {
  if (a.is_negative != b.is_negative) {
    return a.is_negative ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  auto order = a.whole.size() <=> b.whole.size();
  if (order == 0) order = a.whole.compare(b.whole) <=> 0;
  if (order == 0) order = a.fraction.compare(b.fraction) <=> 0;
  if (!a.is_negative || order == 0) return order;
  return order < 0 ? std::strong_ordering::greater : std::strong_ordering::less;
}

// `order` is that of what was found to what is wanted.
bool is_ordered(Comparison how, std::partial_ordering order) {
  switch (how) {
    case Comparison::less: return order < 0;
    case Comparison::more: return order > 0;
    case Comparison::at_most: return order <= 0;
    case Comparison::at_least: return order >= 0;
    default: return false;
  }
}

// 12.5 is 12.50, but 7 is not 007: that may be a name.
bool is_same(std::string_view a, std::string_view b) {
  if (a == b) return true;
  if (!a.contains('.') && !b.contains('.')) return false;
  const auto left = digits_in(a);
  const auto right = digits_in(b);
  return left && right && compare(*left, *right) == 0;
}

std::partial_ordering order_of(std::string_view found, std::string_view wanted) {
  const auto found_digits = digits_in(found);
  const auto wanted_digits = digits_in(wanted);
  if (found_digits && wanted_digits) return compare(*found_digits, *wanted_digits);
  const auto found_number = number_in(found);
  const auto wanted_number = number_in(wanted);
  if (found_number && wanted_number) return *found_number <=> *wanted_number;
  return found <=> wanted;
}

// In quotes, as a pattern is read: only a quote is escaped, and other backslashes are the
// pattern's.
std::string quoted_pattern(std::string_view pattern) {
  std::string text = "\"";
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const bool is_escape = pattern[at] == '\\' && at + 1 < pattern.size();
    const char plain = is_escape ? pattern[++at] : pattern[at];
    if (is_escape || plain == '"') text += '\\';
    text += plain;
  }
  return text += '"';
}

}  // namespace

std::string to_string(const Condition& condition) {
  std::string text = condition.name;
  text += sign_of(condition.how);
  return text += condition.pattern ? quoted_pattern(condition.value)
                                   : quoted(condition.value, std::string::npos);
}

bool meets(const Condition& condition, std::optional<std::string_view> value) {
  using enum Comparison;
  if (!value) return condition.how == differs || condition.how == unlike;
  switch (condition.how) {
    case equals: return is_same(*value, condition.value);
    case differs: return !is_same(*value, condition.value);
    case contains: return value->contains(condition.value);
    case matches: return condition.pattern && condition.pattern->is_found_in(*value);
    case unlike: return condition.pattern && !condition.pattern->is_found_in(*value);
    case less:
    case more:
    case at_most:
    case at_least: break;
  }
  return is_ordered(condition.how, order_of(*value, condition.value));
}

bool meets(const Condition& condition, std::optional<Duration> value) {
  using enum Comparison;
  if (!value) return condition.how == differs;
  const auto wanted = parse_duration(condition.value);
  if (!wanted) return false;
  if (condition.how == equals) return *value == *wanted;
  if (condition.how == differs) return *value != *wanted;
  return is_ordered(condition.how, *value <=> *wanted);
}

}  // namespace holdfast
