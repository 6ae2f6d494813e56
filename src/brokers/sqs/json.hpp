#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/json_cursor.hpp"

// Small answers, looked at member by member. All of it is of texts that is_object has approved.
namespace holdfast::brokers::sqs {

[[nodiscard]] bool is_object(std::string_view json);

// One value where it stands in its document, which must outlive it.
class Json {
 public:
  explicit Json(std::string_view document) : value_(wire::JsonCursor(document).take()) {}
  explicit Json(wire::JsonValue value) : value_(value) {}

  [[nodiscard]] wire::JsonKind kind() const noexcept { return value_.kind; }
  // Of a text what it says, of a number or a word how it is written; of anything else nothing.
  [[nodiscard]] std::string text() const;
  // Of a number, or of a text that is one.
  [[nodiscard]] std::optional<std::int64_t> number() const;

  // Of an object; none of anything else.
  [[nodiscard]] std::vector<std::pair<std::string, Json>> members() const;
  // The first of that name.
  [[nodiscard]] std::optional<Json> find(std::string_view name) const;
  [[nodiscard]] std::string text_of(std::string_view name) const;
  // Of an array; none of anything else.
  [[nodiscard]] std::vector<Json> elements() const;

 private:
  wire::JsonValue value_;
};

}  // namespace holdfast::brokers::sqs
