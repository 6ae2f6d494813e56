#include "core/condition.hpp"

#include <charconv>
#include <compare>

#include "core/json_text.hpp"
#include "core/units.hpp"

namespace holdfast {
namespace {

constexpr std::string_view kOperation = "read filter";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ')
    text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ')
    text.remove_suffix(1);
  return text;
}

std::string_view sign_of(Comparison how) {
  switch (how) {
    case Comparison::equals: return "=";
    case Comparison::differs: return "!=";
    case Comparison::contains: return "~";
    case Comparison::less: return "<";
    case Comparison::more: return ">";
  }
  return "=";
}

struct Sign {
  std::size_t at = 0;
  std::size_t size = 1;
  Comparison how = Comparison::equals;
};

// The first one ends the name: names have none of these characters.
std::optional<Sign> find_sign(std::string_view text) {
  const std::size_t at = text.find_first_of("=!~<>");
  if (at == std::string_view::npos) return std::nullopt;
  switch (text[at]) {
    case '=': return Sign{at, 1, Comparison::equals};
    case '~': return Sign{at, 1, Comparison::contains};
    case '<': return Sign{at, 1, Comparison::less};
    case '>': return Sign{at, 1, Comparison::more};
    default: break;
  }
  if (at + 1 < text.size() && text[at + 1] == '=') return Sign{at, 2, Comparison::differs};
  return std::nullopt;
}

// The simple escapes: more is not needed to write a text on a command line.
std::optional<std::string> unquoted(std::string_view text) {
  std::string plain;
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '"') return at + 1 == text.size() ? std::optional(plain) : std::nullopt;
    if (text[at] != '\\') {
      plain += text[at];
      continue;
    }
    if (++at == text.size()) return std::nullopt;
    switch (text[at]) {
      case 'n': plain += '\n'; break;
      case 't': plain += '\t'; break;
      case 'r': plain += '\r'; break;
      case '"':
      case '\\':
      case '/': plain += text[at]; break;
      default: return std::nullopt;
    }
  }
  return std::nullopt;
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

template <class T>
bool ordered(Comparison how, const T& found, const T& wanted) {
  return how == Comparison::less ? found < wanted : found > wanted;
}

// 12.5 is 12.50, but 7 is not 007: that may be a name.
bool is_same(std::string_view a, std::string_view b) {
  if (a == b) return true;
  if (!a.contains('.') && !b.contains('.')) return false;
  const auto left = digits_in(a);
  const auto right = digits_in(b);
  return left && right && compare(*left, *right) == 0;
}

// "a or type=b" is more likely to be two conditions than a value.
bool joins_conditions(std::string_view value) {
  for (const std::string_view word : {" or ", " and ", " OR ", " AND ", " || ", " && "}) {
    const std::size_t at = value.find(word);
    if (at != std::string_view::npos && find_sign(value.substr(at + word.size()))) return true;
  }
  return false;
}

}  // namespace

Result<Condition> parse_condition(std::string_view text) {
  const auto wrong = [&](std::string_view what) {
    return fail(ErrorCode::invalid_argument, std::string(kOperation),
                quoted(text) + ": " + std::string(what));
  };
  const auto sign = find_sign(text);
  if (!sign) return wrong("a condition is NAME=VALUE, or with !=, ~, < or > between them");
  const std::string_view name = trimmed(text.substr(0, sign->at));
  if (name.empty()) return wrong("there is no name before the sign");
  const std::string_view value = trimmed(text.substr(sign->at + sign->size));
  // "<=" and "==" would be read as "<" and "=" of something else, and choose what nobody meant.
  if (!value.empty() && std::string_view("=<>~!").contains(value.front())) {
    return wrong("the signs are =, !=, ~, < and >; a value that begins with one stands in quotes");
  }
  if (!value.starts_with('"') && joins_conditions(value)) {
    return wrong(
        "one condition at a time: give each its own, and all of them must hold (there is no "
        "or); a value with such words stands in quotes");
  }
  if (!value.starts_with('"')) return Condition{std::string(name), sign->how, std::string(value)};
  auto plain = unquoted(value);
  if (!plain) return wrong(R"(a quoted value ends with its quote, and knows \" \\ \n \r and \t)");
  return Condition{std::string(name), sign->how, *std::move(plain)};
}

std::string to_string(const Condition& condition) {
  std::string text = condition.name;
  text += sign_of(condition.how);
  return text += quoted(condition.value);
}

bool meets(const Condition& condition, std::optional<std::string_view> value) {
  if (!value) return condition.how == Comparison::differs;
  switch (condition.how) {
    case Comparison::equals: return is_same(*value, condition.value);
    case Comparison::differs: return !is_same(*value, condition.value);
    case Comparison::contains: return value->find(condition.value) != std::string_view::npos;
    case Comparison::less:
    case Comparison::more: break;
  }
  const auto found_digits = digits_in(*value);
  const auto wanted_digits = digits_in(condition.value);
  if (found_digits && wanted_digits) {
    const auto order = compare(*found_digits, *wanted_digits);
    return condition.how == Comparison::less ? order < 0 : order > 0;
  }
  const auto found = number_in(*value);
  const auto wanted = number_in(condition.value);
  if (found && wanted) return ordered(condition.how, *found, *wanted);
  return ordered(condition.how, *value, std::string_view(condition.value));
}

bool meets(const Condition& condition, std::optional<Duration> value) {
  if (!value) return condition.how == Comparison::differs;
  const auto wanted = parse_duration(condition.value);
  if (!wanted) return false;
  switch (condition.how) {
    case Comparison::equals: return *value == *wanted;
    case Comparison::differs: return *value != *wanted;
    case Comparison::contains: return false;
    case Comparison::less:
    case Comparison::more: break;
  }
  return ordered(condition.how, *value, *wanted);
}

}  // namespace holdfast
