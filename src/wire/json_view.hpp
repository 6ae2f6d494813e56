#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/json_cursor.hpp"

namespace holdfast::wire {

// Reads a JSON value by name, where it stands in its document, which must outlive it. syntax_fault
// must have found that document to be JSON.
class JsonView {
 public:
  explicit JsonView(std::string_view document) : value_(JsonCursor(document).take()) {}
  explicit JsonView(JsonValue value) : value_(value) {}

  [[nodiscard]] JsonKind kind() const noexcept { return value_.kind; }
  // Of a text what it says, of a number or a word how it is written; of anything else nothing.
  [[nodiscard]] std::string text() const;
  // Of a number, or of a text that is one.
  [[nodiscard]] std::optional<std::int64_t> number() const;

  // Of an object; none of anything else.
  [[nodiscard]] std::vector<std::pair<std::string, JsonView>> members() const;
  // The first of that name.
  [[nodiscard]] std::optional<JsonView> find(std::string_view name) const;
  [[nodiscard]] std::string text_of(std::string_view name) const;
  // Of an array; none of anything else.
  [[nodiscard]] std::vector<JsonView> elements() const;

 private:
  JsonValue value_;
};

}  // namespace holdfast::wire
