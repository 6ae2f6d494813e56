#include "recovery/filter.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

#include "core/json_text.hpp"
#include "core/nearest_name.hpp"
#include "core/units.hpp"
#include "wire/json_cursor.hpp"
#include "wire/json_syntax.hpp"

namespace holdfast::recovery {
namespace {

constexpr std::string_view kHeader = "header.";
constexpr std::string_view kJson = "json.";
constexpr std::array<std::string_view, 12> kNames = {
    "type",     "id",         "routing_key", "age",  "reason",      "queue",
    "exchange", "recoveries", "error",       "body", "header.NAME", "json.FIELD"};
constexpr std::size_t kMostDepth = 256;

// 12345 with two places is 123.45.
std::string text_of_decimal(const ports::Field::Decimal& decimal) {
  std::string digits = std::to_string(decimal.digits);
  if (decimal.places == 0) return digits;
  if (digits.size() <= decimal.places) digits.insert(0, decimal.places + 1 - digits.size(), '0');
  digits.insert(digits.size() - decimal.places, 1, '.');
  return digits;
}

std::optional<std::string> text_of_field(const ports::Field& field) {
  return std::visit(
      []<class T>(const T& value) -> std::optional<std::string> {
        if constexpr (std::is_same_v<T, bool>)
          return value ? "true" : "false";
        else if constexpr (std::is_arithmetic_v<T>)
          return std::to_string(value);
        else if constexpr (std::is_same_v<T, std::string>)
          return value;
        else if constexpr (std::is_same_v<T, ports::Field::Bytes>)
          return value.bytes;
        else if constexpr (std::is_same_v<T, ports::Field::Time>)
          return std::to_string(value.seconds);
        else if constexpr (std::is_same_v<T, ports::Field::Decimal>)
          return text_of_decimal(value);
        else
          return std::nullopt;
      },
      field.value);
}

std::optional<std::string> text_of_json(const wire::JsonValue& value) {
  switch (value.kind) {
    case wire::JsonKind::string:
      return wire::unescaped(value.text.substr(1, value.text.size() - 2));
    case wire::JsonKind::null: return std::nullopt;
    default: return std::string(value.text);
  }
}

// The field of an object, or the element of an array by its number.
std::optional<wire::JsonValue> step_into(const wire::JsonValue& value, std::string_view name) {
  wire::JsonCursor cursor(value.text);
  if (value.kind == wire::JsonKind::object) {
    cursor.enter();
    while (const auto key = cursor.next_key()) {
      const wire::JsonValue inner = cursor.take();
      if (wire::unescaped(*key) == name) return inner;
    }
  } else if (value.kind == wire::JsonKind::array) {
    cursor.enter();
    for (std::size_t at = 0; cursor.next_element(); ++at) {
      const wire::JsonValue inner = cursor.take();
      if (std::to_string(at) == name) return inner;
    }
  }
  return std::nullopt;
}

std::optional<std::string> json_field(std::string_view body, std::string_view path) {
  if (wire::syntax_fault(body, kMostDepth)) return std::nullopt;
  wire::JsonCursor cursor(body);
  wire::JsonValue value = cursor.take();
  while (!path.empty()) {
    const std::size_t dot = path.find('.');
    const auto inner = step_into(value, path.substr(0, dot));
    if (!inner) return std::nullopt;
    value = *inner;
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return text_of_json(value);
}

std::optional<std::string_view> newest(const Letter& letter, std::string ports::Death::* member) {
  if (letter.deaths.empty()) return std::nullopt;
  return letter.deaths.front().*member;
}

// Of those names that stand for a text which is there already.
std::optional<std::string_view> plain_value(const Letter& letter, std::string_view name) {
  const auto if_any = [](std::string_view text) {
    return text.empty() ? std::nullopt : std::optional(text);
  };
  if (name == "type") return if_any(letter.type);
  if (name == "id") return letter.message().message_id;
  if (name == "reason") return if_any(letter.reason);
  if (name == "queue") return newest(letter, &ports::Death::queue);
  if (name == "exchange") return newest(letter, &ports::Death::exchange);
  if (name == "error") return letter.why;
  if (name == "body") return letter.message().body;
  if (letter.deaths.empty() || letter.deaths.front().routing_keys.empty()) return std::nullopt;
  return letter.deaths.front().routing_keys.front();  // "routing_key"
}

bool is_met(const Condition& condition, const Letter& letter, WallTime now) {
  const std::string_view name = condition.name;
  if (name == "age") {
    const auto died = letter.died();
    return meets(condition, died ? std::optional<Duration>(now - *died) : std::nullopt);
  }
  std::optional<std::string> made;
  if (name.starts_with(kHeader)) {
    const ports::Field* field =
        ports::find_field(letter.message().headers, name.substr(kHeader.size()));
    if (field) made = text_of_field(*field);
    return meets(condition, made);
  }
  if (name.starts_with(kJson)) {
    made = json_field(letter.message().body, name.substr(kJson.size()));
    return meets(condition, made);
  }
  if (name == "recoveries") {
    made = std::to_string(letter.recovered.times);
    return meets(condition, made);
  }
  return meets(condition, plain_value(letter, name));
}

std::string fault_of_count(const Condition& condition) {
  using enum Comparison;
  const bool is_of_text =
      condition.how == contains || condition.how == matches || condition.how == unlike;
  const bool is_number = !condition.value.empty() &&
                         condition.value.find_first_not_of("0123456789") == std::string::npos;
  return is_of_text || is_number
             ? ""
             : "recoveries are counted: " + quoted(condition.value) + " is no number";
}

// What is wrong with it; empty: nothing.
std::string fault_of(const Condition& condition) {
  const std::string_view name = condition.name;
  const bool has_rest = (name.starts_with(kHeader) && name.size() > kHeader.size()) ||
                        (name.starts_with(kJson) && name.size() > kJson.size());
  if (!has_rest && std::ranges::find(kNames, name) == kNames.end())
    return "unknown name " + quoted(name) + did_you_mean(name, kNames);
  if (name == "recoveries") return fault_of_count(condition);
  if (name != "age") return "";
  if (const auto age = parse_duration(condition.value); !age) return "age: " + age.error().message;
  using enum Comparison;
  const bool is_ordered = condition.how == less || condition.how == more ||
                          condition.how == at_most || condition.how == at_least;
  return is_ordered ? "" : "an age is compared with <, >, <= or >=";
}

}  // namespace

Result<Filter> Filter::parse(std::span<const std::string> expressions) {
  Filter filter;
  std::string faults;
  for (std::size_t at = 0; at < expressions.size(); ++at) {
    auto expression = parse_conditions(expressions[at], fault_of);
    if (expression) {
      filter.all_.push_back(*std::move(expression));
      continue;
    }
    if (!faults.empty()) faults += "; and ";
    if (expressions.size() > 1) faults += "filter " + std::to_string(at + 1) + ", ";
    faults += expression.error().message;
  }
  if (!faults.empty()) return fail(ErrorCode::invalid_argument, "read filter", std::move(faults));
  return filter;
}

bool Filter::chooses(const Letter& letter, WallTime now) const {
  const auto meets_one = [&](const Condition& one) { return is_met(one, letter, now); };
  return std::ranges::all_of(all_, [&](const ConditionNode& one) { return holds(one, meets_one); });
}

}  // namespace holdfast::recovery
