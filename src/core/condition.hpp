#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

// The grammar of filters, the same wherever something is chosen by its values:
//
//   NAME OP VALUE     type=CollectionScan   age>2h   body~"no such file"   json.order.id=4711
//
// OP is one of = (equal), != (not equal), ~ (contains), < and >. A value may stand in double quotes
// with the escapes of JSON, and must if it begins or ends with a space. What names there are, and
// what they stand for, is said by whoever filters.
namespace holdfast {

enum class Comparison : std::uint8_t { equals, differs, contains, less, more };

struct Condition {
  std::string name;
  Comparison how = Comparison::equals;
  std::string value;

  bool operator==(const Condition&) const = default;
};

// Errors are invalid_argument; their messages quote the text and say what is missing.
[[nodiscard]] Result<Condition> parse_condition(std::string_view text);

// As it is written.
[[nodiscard]] std::string to_string(const Condition& condition);

// Whether a value meets it. < and > compare numbers where both are, else letter by letter, which is
// right for times of RFC 3339. Where there is no value, only != holds: it is the opposite of =.
[[nodiscard]] bool meets(const Condition& condition, std::optional<std::string_view> value);
// The value of the condition must be a duration; ~ never holds.
[[nodiscard]] bool meets(const Condition& condition, std::optional<Duration> value);

}  // namespace holdfast
