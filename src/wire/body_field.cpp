#include "wire/body_field.hpp"

#include <algorithm>
#include <array>

namespace holdfast::wire {

std::string_view to_string(BodyType type) noexcept {
  switch (type) {
    case BodyType::string: return "string";
    case BodyType::integer: return "integer";
    case BodyType::number: return "number";
    case BodyType::boolean: return "boolean";
    case BodyType::object: return "object";
    case BodyType::array: return "array";
  }
  return "string";
}

std::span<const std::string_view> task_fields() noexcept {
  static constexpr std::array<std::string_view, 9> kFields = {
      "retry_on_failure", "key",      "priority", "delay", "due",
      "deadline",         "attempts", "timeout",  "trace"};
  return kFields;
}

Target target_of(const BodyField& field) {
  constexpr std::string_view kPayload = "payload.";
  if (field.as.empty()) return {.is_of_task = false, .name = field.name};
  if (std::ranges::find(task_fields(), field.as) != task_fields().end())
    return {.is_of_task = true, .name = field.as};
  const std::string_view name = field.as;
  return {.is_of_task = false,
          .name = std::string(name.starts_with(kPayload) ? name.substr(kPayload.size()) : name)};
}

}  // namespace holdfast::wire
