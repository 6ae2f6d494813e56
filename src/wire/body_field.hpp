#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::wire {

enum class BodyType : std::uint8_t { string, integer, number, boolean, object, array };

[[nodiscard]] std::string_view to_string(BodyType type) noexcept;

// What becomes of a field that nobody has described.
enum class UnknownFields : std::uint8_t { refuse, keep };

// One field of a request's body, and what it becomes in a task: a part of JSON Schema, by its own
// words. Values only; see body_map.hpp for what is done with them.
struct BodyField {
  std::string name = {};
  BodyType type = BodyType::string;
  bool required = false;
  std::string pattern = {};                      // of a string; see core/text_pattern.hpp
  std::optional<std::uint64_t> min_length = {};  // of a string, in characters
  std::optional<std::uint64_t> max_length = {};
  std::optional<double> minimum = {};  // of a number, as is the next
  std::optional<double> maximum = {};
  std::vector<std::string> one_of = {};  // JSON: the only values there are; empty: any
  std::string fallback = {};             // JSON, for a field that is left out; empty: nothing
  // A field of the task (see task_fields), or another name in its payload. "payload.NAME" is
  // always the latter. Empty: its own name, in the payload.
  std::string as = {};

  bool operator==(const BodyField&) const = default;
};

// The fields of a task that a field of a body may become: those of a submission that are not the
// business of the route itself.
[[nodiscard]] std::span<const std::string_view> task_fields() noexcept;

// What a field becomes.
struct Target {
  bool is_of_task = false;  // else it is one of the payload
  std::string name = {};

  bool operator==(const Target&) const = default;
};
[[nodiscard]] Target target_of(const BodyField& field);

// Something that cannot be in how fields are described.
struct FieldTrouble {
  std::size_t field = 0;      // its place in the list
  std::string_view key = {};  // "pattern"; empty: of the field as a whole
  std::string what = {};
};

// All of it.
[[nodiscard]] std::vector<FieldTrouble> troubles_of(std::span<const BodyField> fields);

}  // namespace holdfast::wire
