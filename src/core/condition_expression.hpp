#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/result.hpp>

#include "core/condition.hpp"

// The grammar of filters, the same wherever something is chosen by its values:
//
//   expression  all { "or" all }            type=Scan and (age>2h or error~"timed out")
//   all         one { "and" one }
//   one         "not" one | "(" expression ")" | NAME OP VALUE
//
// OP is one of = != ~ (contains) < > <= >= =~ (matches, RE2) and !~ (does not match). A value may
// stand in double quotes with the escapes \" \\ \/ \n \r \t; a pattern in quotes only escapes
// its quotes. Without quotes it goes on to the end, or to "and" or "or" between spaces if a
// condition begins behind that; within parentheses, also to the one that closes them. What names
// there are, and what they stand for, is said by whoever filters.
namespace holdfast {

struct ConditionNode {
  enum class Kind : std::uint8_t { condition, all, any, none };

  Kind kind = Kind::condition;
  Condition condition = {};
  std::vector<ConditionNode> parts = {};  // of the others; `none` has one

  bool operator==(const ConditionNode&) const = default;
};

// Limits that no person reaches, so that no text costs more than it is worth.
inline constexpr std::size_t kMostExpressionBytes = 64 << 10;
inline constexpr std::size_t kMostExpressionDepth = 100;  // parentheses and "not"
inline constexpr std::size_t kMostExpressionPatterns = 100;

// What is wrong with a condition; empty: nothing.
using ConditionCheck = std::function<std::string(const Condition&)>;

// Errors are invalid_argument; their messages say where, in bytes from 1, and what is there.
[[nodiscard]] Result<ConditionNode> parse_conditions(std::string_view text,
                                                     const ConditionCheck& check = {});

// As it is written, with no more parentheses than it needs.
[[nodiscard]] std::string to_string(const ConditionNode& node);

[[nodiscard]] bool holds(const ConditionNode& node,
                         const std::function<bool(const Condition&)>& meets_one);

}  // namespace holdfast
