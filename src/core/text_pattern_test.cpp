#include "core/text_pattern.hpp"

#include <gtest/gtest.h>

namespace holdfast::text_pattern_test {
namespace {

bool found(const std::string& pattern, std::string_view text) {
  return TextPattern::compile(pattern).value().is_found_in(text);
}

TEST(TextPattern, is_found_anywhere_unless_it_says_where) {
  EXPECT_TRUE(found("b", "abc"));
  EXPECT_FALSE(found("^b$", "abc"));
  EXPECT_TRUE(found("^0x[0-9a-fA-F]{40}$", "0x00000000219ab540356cBB839Cbe05303d7705Fa"));
  EXPECT_FALSE(found("^0x[0-9a-fA-F]{40}$", "0x00000000219ab540356cBB839Cbe05303d7705Fa\n"));
}

TEST(TextPattern, upper_case_is_not_lower_case) {
  EXPECT_FALSE(found("abc", "ABC"));
  EXPECT_TRUE(found("(?i)abc", "ABC"));
}

TEST(TextPattern, a_letter_is_a_letter_however_many_bytes_it_has) {
  EXPECT_TRUE(found("^.$", "ü"));
  EXPECT_FALSE(found("^..$", "ü"));
}

TEST(TextPattern, a_bad_one_says_where) {
  EXPECT_EQ(TextPattern::compile("ab(c").error(), "bad pattern at offset 2: missing ): (c");
  EXPECT_EQ(TextPattern::compile("a**").error(),
            "bad pattern at offset 1: bad repetition operator: **");
}

}  // namespace
}  // namespace holdfast::text_pattern_test
