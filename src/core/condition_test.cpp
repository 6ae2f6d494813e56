#include "core/condition.hpp"

#include <gtest/gtest.h>

#include "core/condition_expression.hpp"

namespace holdfast::condition_test {
namespace {

using namespace std::chrono_literals;

Condition read(std::string_view text) {
  auto node = parse_conditions(text);
  EXPECT_TRUE(node) << text;
  return node ? std::move(node->condition) : Condition();
}

TEST(Condition, compares_texts_and_numbers) {
  EXPECT_TRUE(meets(read("a=x"), "x"));
  EXPECT_FALSE(meets(read("a=x"), "y"));
  EXPECT_TRUE(meets(read("a!=x"), "y"));
  EXPECT_TRUE(meets(read("a~bc"), "abcd"));
  EXPECT_FALSE(meets(read("a~bc"), "acb"));
  EXPECT_TRUE(meets(read("a>9"), "10"));     // as numbers
  EXPECT_FALSE(meets(read("a>x9"), "x10"));  // letter by letter
  EXPECT_TRUE(meets(read("a<2026-03-02"), "2026-03-01T12:00:00Z"));
}

TEST(Condition, compares_numbers_exactly) {
  for (const char* holds : {"a>-3", "a<9007199254740993", "a<10", "a>-0.5", "a<01"})
    EXPECT_TRUE(meets(read(holds), "-0")) << holds;
  EXPECT_TRUE(meets(read("a<-2"), "-10"));
  EXPECT_FALSE(meets(read("a>-2"), "-10"));
  EXPECT_FALSE(meets(read("a<0"), "-0.0"));
  EXPECT_TRUE(meets(read("a<9"), "007"));
  EXPECT_FALSE(meets(read("a>12.5"), "12.50"));
  EXPECT_TRUE(meets(read("a>9007199254740992"), "9007199254740993"));
  EXPECT_TRUE(meets(read("a=12.5"), "12.50"));
  EXPECT_TRUE(meets(read("a!=12.5"), "12.05"));
  EXPECT_FALSE(meets(read("a=7"), "007"));  // that may be a name
}

TEST(Condition, orders_take_in_what_is_equal) {
  for (const char* holds : {"a<=7", "a>=7", "a<=7.0", "a>=6.99", "a<=8"})
    EXPECT_TRUE(meets(read(holds), "7")) << holds;
  for (const char* fails : {"a<=6", "a>=8", "a>=7.01"})
    EXPECT_FALSE(meets(read(fails), "7")) << fails;
  EXPECT_TRUE(meets(read("a<=b"), "b"));
  EXPECT_TRUE(meets(read("a>=9007199254740993"), "9007199254740993"));
  EXPECT_FALSE(meets(read("a>=9007199254740993"), "9007199254740992"));
}

TEST(Condition, matches_regular_expressions) {
  EXPECT_TRUE(meets(read("a=~^x[0-9]+$"), "x12"));
  EXPECT_FALSE(meets(read("a=~^x[0-9]+$"), "x"));
  EXPECT_TRUE(meets(read("a!~^x[0-9]+$"), "x"));
  EXPECT_TRUE(meets(read(R"--(a=~"say \"x\d\" and")--"), R"(say "x1" and more)"));
  EXPECT_TRUE(meets(read("a=~(?i)timed? out"), "TIME OUT"));
}

TEST(Condition, without_a_value_only_the_opposites_hold) {
  const std::optional<std::string_view> none;
  EXPECT_TRUE(meets(read("a!=x"), none));
  EXPECT_TRUE(meets(read("a!~x"), none));
  for (const char* text : {"a=x", "a~x", "a<x", "a>x", "a=", "a<=x", "a>=x", "a=~x"})
    EXPECT_FALSE(meets(read(text), none)) << text;
  EXPECT_FALSE(meets(read("age>2h"), std::optional<Duration>()));
}

TEST(Condition, compares_durations) {
  EXPECT_TRUE(meets(read("age>2h"), std::optional<Duration>(3h)));
  EXPECT_FALSE(meets(read("age>2h"), std::optional<Duration>(2h)));
  EXPECT_TRUE(meets(read("age<1d"), std::optional<Duration>(3h)));
  EXPECT_TRUE(meets(read("age=180m"), std::optional<Duration>(3h)));
  EXPECT_TRUE(meets(read("age>=3h"), std::optional<Duration>(3h)));
  EXPECT_FALSE(meets(read("age<=2h"), std::optional<Duration>(3h)));
  EXPECT_FALSE(meets(read("age>soon"), std::optional<Duration>(3h)));
}

}  // namespace
}  // namespace holdfast::condition_test
