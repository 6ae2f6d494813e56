#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::wire {

enum class JsonKind : std::uint8_t { null, boolean, number, string, array, object };

// A value where it stands in its document: its exact text, without the spaces around it.
struct JsonValue {
  JsonKind kind = JsonKind::null;
  std::string_view text = {};
};

// Walks over a text in one pass and without allocating. syntax_fault must have found it to be JSON.
//
//   JsonCursor cursor(json);
//   cursor.enter();
//   while (const auto key = cursor.next_key()) use(*key, cursor.take());
class JsonCursor {
 public:
  explicit JsonCursor(std::string_view json) : text_(json) { skip_spaces(); }

  // Of the value it stands at.
  [[nodiscard]] JsonKind kind() const noexcept;
  // The value it stands at, which it steps over.
  JsonValue take() noexcept;

  // Into the object or array it stands at.
  void enter() noexcept { ++at_; }
  // In an object: steps to the next value and gives its key, as written between the quotes. Nothing
  // once the object has ended, after which the cursor stands behind it.
  [[nodiscard]] std::optional<std::string_view> next_key() noexcept;
  // The same in an array.
  [[nodiscard]] bool next_element() noexcept;

 private:
  [[nodiscard]] char peek() const noexcept { return at_ < text_.size() ? text_[at_] : '\0'; }
  // To the next key or element; false at the end, which it steps over.
  bool next(char closing) noexcept;
  void skip_spaces() noexcept;
  void skip_string() noexcept;
  void skip_container() noexcept;
  void skip_word() noexcept;

  std::string_view text_;
  std::size_t at_ = 0;
};

// What a string of JSON says, from its text between the quotes.
[[nodiscard]] std::string unescaped(std::string_view literal);

}  // namespace holdfast::wire
