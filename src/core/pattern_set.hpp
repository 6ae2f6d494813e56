#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <re2/re2.h>
#include <re2/set.h>

namespace holdfast {

// What is wrong with a pattern, and where in it.
struct PatternError {
  std::size_t offset = 0;
  std::string message;  // "missing ): (too low"
};

// Of one that RE2 has refused.
[[nodiscard]] PatternError pattern_error(const re2::RE2& refused);
// Of one that PatternSet::add() would refuse.
[[nodiscard]] std::optional<PatternError> check_pattern(const std::string& pattern);

// Many patterns, matched against a text in one pass. Patterns are found anywhere in the text, upper
// and lower case alike, byte by byte.
//
// Where the one pass would need more memory than the budget, the patterns are tried one by one: the
// answer is the same, only later. Threads: const members may be called from any thread at once.
class PatternSet {
 public:
  static constexpr std::int64_t kDefaultBudgetBytes = 64 << 20;

  explicit PatternSet(std::int64_t budget_bytes = kDefaultBudgetBytes);

  // Patterns are numbered from 0 in the order they come. One that is refused takes no number.
  [[nodiscard]] std::expected<int, PatternError> add(const std::string& pattern);

  // To be called once, after the last add() and before the first match.
  void compile();

  // Appends the number of every pattern that is found in `text` to `hits`, in any order.
  void match(std::string_view text, std::vector<int>& hits) const;

  struct Span {
    std::size_t offset = 0;
    std::size_t size = 0;
  };
  // Where the first match of one pattern is.
  [[nodiscard]] std::optional<Span> find(int pattern, std::string_view text) const;

  [[nodiscard]] bool empty() const noexcept { return patterns_.empty(); }
  [[nodiscard]] bool one_pass() const noexcept { return set_ != nullptr; }

 private:
  template <class Use>
  auto with_single(std::size_t pattern, Use use) const;
  void match_one_by_one(std::string_view text, std::vector<int>& hits) const;

  std::unique_ptr<re2::RE2::Set> set_;  // none: it did not fit the budget
  std::vector<std::string> patterns_;
  // Only without a set: they need as much memory as it, and beside it are asked for rarely.
  std::vector<std::unique_ptr<re2::RE2>> singles_;
};

}  // namespace holdfast
