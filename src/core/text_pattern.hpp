#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace holdfast {

// One pattern that a text must have, as JSON Schema means it: in RE2 syntax, found anywhere unless
// it says ^ and $, letter by letter in UTF-8, and upper case is not lower case. No text takes
// longer than its length is worth, whatever the pattern.
//
// Cheap to copy. Threads: const members may be called from any thread at once.
class TextPattern {
 public:
  static constexpr std::int64_t kMostMemory = 8 << 20;

  // The error says where: "bad pattern at offset 4: missing ): (ab"; or that it needs more memory.
  [[nodiscard]] static std::expected<TextPattern, std::string> compile(
      const std::string& pattern, std::int64_t most_bytes = kMostMemory);

  [[nodiscard]] bool is_found_in(std::string_view text) const;

 private:
  explicit TextPattern(std::shared_ptr<const re2::RE2> compiled) : compiled_(std::move(compiled)) {}

  std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace holdfast
