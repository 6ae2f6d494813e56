#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/result.hpp>
#include <holdfast/task.hpp>

#include "core/text_pattern.hpp"
#include "wire/body_field.hpp"
#include "wire/json_cursor.hpp"
#include "wire/json_writer.hpp"
#include "wire/problem.hpp"

namespace holdfast::wire {

// From the body of a request, in a form that its owner has chosen, to a task.
//
// Cheap to copy. Threads: const members may be called from any thread at once.
class BodyMap {
 public:
  BodyMap() = default;  // takes an empty object alone

  // Fails with invalid_argument for the first of troubles_of(fields).
  [[nodiscard]] static Result<BodyMap> make(std::vector<BodyField> fields, UnknownFields unknown);

  // A task without a type or queue; or everything that is wrong with the body, field by field. Null
  // is the same as a field that is left out.
  //
  // The payload is an object of the fields in the order in which they were described, and of those
  // nobody described in the order in which they came: the same request is the same payload, however
  // its fields were ordered.
  [[nodiscard]] std::expected<Submission, std::vector<Problem::Part>> read(
      std::string_view json, std::size_t most_depth) const;

  // JSON Schema of the body.
  void write_schema(JsonWriter& writer) const;

 private:
  struct Rule {
    BodyField field = {};
    std::optional<TextPattern> pattern = {};
    bool is_of_task = false;
    std::string target = {};  // its name there
  };
  class Reading;

  static void check(const Rule& rule, const JsonValue& value, std::vector<std::string>& wrong);
  static void check_string(const Rule& rule, const JsonValue& value,
                           std::vector<std::string>& wrong);
  static void check_number(const Rule& rule, const JsonValue& value,
                           std::vector<std::string>& wrong);

  friend std::vector<FieldTrouble> troubles_of(std::span<const BodyField> fields);

  std::vector<Rule> rules_ = {};
  UnknownFields unknown_ = UnknownFields::refuse;
};

}  // namespace holdfast::wire
