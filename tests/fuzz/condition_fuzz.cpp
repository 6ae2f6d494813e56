// Filters: any text is an expression or an error that can be shown, and an expression means the
// same when it is written down and read again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/condition_expression.hpp"
#include "core/json_text.hpp"

namespace {

void expect(bool holds) {
  if (!holds) std::abort();
}

bool holds_of(const holdfast::ConditionNode& node, std::string_view value) {
  return holdfast::holds(node, [&](const holdfast::Condition& condition) {
    return holdfast::meets(condition,
                           condition.name.size() % 2 == 0 ? std::optional(value) : std::nullopt);
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto node = holdfast::parse_conditions(text);
  if (!node) {
    expect(node.error().code == holdfast::ErrorCode::invalid_argument);
    expect(holdfast::is_visible(node.error().message));
    return 0;
  }
  static_cast<void>(holds_of(*node, text));
  // Control characters are shown by escapes that no command line needs.
  if (!holdfast::is_visible(text) || size > 1000) return 0;
  const std::string written = to_string(*node);
  const auto again = holdfast::parse_conditions(written);
  expect(again.has_value());
  expect(to_string(*again) == written);
  for (const std::string_view value : {std::string_view("7"), std::string_view("x and y"), text})
    expect(holds_of(*again, value) == holds_of(*node, value));
  return 0;
}
