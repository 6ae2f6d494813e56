#include "core/condition.hpp"

#include <charconv>

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

template <class T>
bool ordered(Comparison how, const T& found, const T& wanted) {
  return how == Comparison::less ? found < wanted : found > wanted;
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
    case Comparison::equals: return *value == condition.value;
    case Comparison::differs: return *value != condition.value;
    case Comparison::contains: return value->find(condition.value) != std::string_view::npos;
    case Comparison::less:
    case Comparison::more: break;
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
