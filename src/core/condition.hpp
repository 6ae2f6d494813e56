#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/time.hpp>

#include "core/text_pattern.hpp"

namespace holdfast {

enum class Comparison : std::uint8_t {
  equals,    // =
  differs,   // !=
  contains,  // ~
  less,      // <
  more,      // >
  at_most,   // <=
  at_least,  // >=
  matches,   // =~  a regular expression
  unlike,    // !~  the opposite
};

// One comparison of a filter (core/condition_expression.hpp).
struct Condition {
  std::string name;
  Comparison how = Comparison::equals;
  std::string value;
  std::optional<TextPattern> pattern = {};  // of =~ and !~: the value, compiled

  bool operator==(const Condition& other) const {
    return name == other.name && how == other.how && value == other.value;
  }
};

// As it is written.
[[nodiscard]] std::string to_string(const Condition& condition);

// Whether a value meets it. The orders compare numbers where both are, else letter by letter, which
// is right for times of RFC 3339. Where there is no value, only != and !~ hold: they are the
// opposites of = and =~.
[[nodiscard]] bool meets(const Condition& condition, std::optional<std::string_view> value);
// The value of the condition must be a duration; ~, =~ and !~ never hold.
[[nodiscard]] bool meets(const Condition& condition, std::optional<Duration> value);

}  // namespace holdfast
