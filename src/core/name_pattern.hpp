#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace holdfast {

// A pattern of names: `*` is any text, `?` one character, and a backslash has the character after
// it stand for itself. Upper case is not lower case.
//
// Cheap to copy. Threads: const members may be called from any thread at once.
class NamePattern {
 public:
  explicit NamePattern(std::string_view pattern);

  [[nodiscard]] bool matches(std::string_view name) const;
  [[nodiscard]] bool has_wildcards() const noexcept { return has_wildcards_; }
  // What every name begins with; without wildcards the only name.
  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
  // The longest text that is in every name.
  [[nodiscard]] const std::string& longest_part() const noexcept { return longest_part_; }

 private:
  bool has_wildcards_ = false;
  std::string prefix_;
  std::string longest_part_;
  std::shared_ptr<const re2::RE2> compiled_;
};

// The pattern that only this name matches.
[[nodiscard]] std::string escaped_name(std::string_view name);

}  // namespace holdfast
