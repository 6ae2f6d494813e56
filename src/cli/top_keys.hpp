#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

// What somebody has pressed.
struct Key {
  enum class Kind : std::uint8_t {
    text,  // a letter, with its case
    up,
    down,
    page_up,
    page_down,
    home,
    end,
    tab,
    back_tab,
    enter,
    escape,
    backspace,
  };
  Kind kind = Kind::text;
  std::string text = {};  // one character of UTF-8

  bool operator==(const Key&) const = default;
};

// Makes keys of the bytes that a terminal sends. Sequences may come in pieces.
class KeyReader {
 public:
  void add(std::string_view bytes) { bytes_ += bytes; }
  // All that are whole. `is_all`: nothing more comes soon, so that what could be the beginning of a
  // sequence is a key of its own.
  [[nodiscard]] std::vector<Key> take(bool is_all);
  // Something is left that may be the beginning of a sequence.
  [[nodiscard]] bool waits() const noexcept { return !bytes_.empty(); }

 private:
  std::string bytes_;
};

}  // namespace holdfast::cli
