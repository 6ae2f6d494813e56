#include "core/name_pattern.hpp"

#include <gtest/gtest.h>

namespace holdfast::name_pattern_test {
namespace {

TEST(NamePattern, matches_the_whole_name) {
  EXPECT_TRUE(NamePattern("*.dlq").matches("app.dlq"));
  EXPECT_TRUE(NamePattern("*.dlq").matches(".dlq"));
  EXPECT_FALSE(NamePattern("*.dlq").matches("app.dlq.old"));
  EXPECT_FALSE(NamePattern("*.dlq").matches("appxdlq"));
  EXPECT_FALSE(NamePattern("*.dlq").matches("app.DLQ"));
  EXPECT_TRUE(NamePattern("a*c*e").matches("abcde"));
  EXPECT_FALSE(NamePattern("a*c*e").matches("abde"));
  EXPECT_TRUE(NamePattern("app").matches("app"));
  EXPECT_FALSE(NamePattern("app").matches("apps"));
  EXPECT_TRUE(NamePattern("*").matches(""));
}

TEST(NamePattern, takes_one_character_for_a_question_mark) {
  EXPECT_TRUE(NamePattern("q?").matches("q1"));
  EXPECT_TRUE(NamePattern("q?").matches("qä"));
  EXPECT_FALSE(NamePattern("q?").matches("q"));
  EXPECT_FALSE(NamePattern("q?").matches("q12"));
}

TEST(NamePattern, has_nothing_special_but_wildcards_and_backslash) {
  for (const char* const name : {"a.b", "a+b", "a(b", "[ab]", "^a$", "a|b", "a{2}", "a b", "täg"}) {
    EXPECT_TRUE(NamePattern(name).matches(name)) << name;
    EXPECT_FALSE(NamePattern(name).has_wildcards()) << name;
    EXPECT_FALSE(NamePattern(name).matches("aab")) << name;
  }
  EXPECT_TRUE(NamePattern("a\\*").matches("a*"));
  EXPECT_FALSE(NamePattern("a\\*").matches("ab"));
  EXPECT_TRUE(NamePattern("a\\").matches("a\\"));
}

TEST(NamePattern, of_a_name_matches_that_name_only) {
  for (const char* const name : {"*", "a*b?", "a\\", "\\*", "plain"}) {
    const NamePattern pattern(escaped_name(name));
    EXPECT_TRUE(pattern.matches(name)) << name;
    EXPECT_FALSE(pattern.has_wildcards()) << name;
    EXPECT_EQ(pattern.prefix(), name);
  }
}

TEST(NamePattern, tells_what_is_in_every_name) {
  EXPECT_EQ(NamePattern("app.*.dlq").prefix(), "app.");
  EXPECT_EQ(NamePattern("*.dlq").prefix(), "");
  EXPECT_EQ(NamePattern("a*.dlq?b").longest_part(), ".dlq");
  EXPECT_EQ(NamePattern("*").longest_part(), "");
  EXPECT_EQ(NamePattern("a\\*b*").prefix(), "a*b");
}

}  // namespace
}  // namespace holdfast::name_pattern_test
