#include "core/condition.hpp"

#include <gtest/gtest.h>

namespace holdfast::condition_test {
namespace {

using namespace std::chrono_literals;

Condition read(std::string_view text) {
  auto condition = parse_condition(text);
  EXPECT_TRUE(condition) << text;
  return condition.value_or(Condition());
}

TEST(Condition, is_a_name_a_sign_and_a_value) {
  EXPECT_EQ(read("type=CollectionScan"), (Condition{"type", Comparison::equals, "CollectionScan"}));
  EXPECT_EQ(read("type != a=b"), (Condition{"type", Comparison::differs, "a=b"}));
  EXPECT_EQ(read("age>2h"), (Condition{"age", Comparison::more, "2h"}));
  EXPECT_EQ(read("age<2h"), (Condition{"age", Comparison::less, "2h"}));
  EXPECT_EQ(read(R"(body~"no \"such\" file ")"),
            (Condition{"body", Comparison::contains, "no \"such\" file "}));
  EXPECT_EQ(read("header.x="), (Condition{"header.x", Comparison::equals, ""}));
}

TEST(Condition, says_what_is_wrong) {
  for (const char* text : {"type", "=x", "type!x", "body~\"open", "body~\"a\" b", R"(a="\q")", ""})
    EXPECT_EQ(parse_condition(text).error().code, ErrorCode::invalid_argument) << text;
}

TEST(Condition, signs_that_it_does_not_know_are_not_taken_for_others) {
  for (const char* text : {"json.amount<=100", "json.amount>=100", "type==Scan", "type=~x"})
    EXPECT_FALSE(parse_condition(text)) << text;
  EXPECT_EQ(parse_condition(R"(type="=Scan")").value().value, "=Scan");
}

TEST(Condition, reads_back_what_it_writes) {
  const Condition condition{"body", Comparison::contains, "a \"quoted\"\nline"};
  EXPECT_EQ(read(to_string(condition)), condition);
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

TEST(Condition, without_a_value_only_the_opposite_of_equal_holds) {
  const std::optional<std::string_view> none;
  EXPECT_TRUE(meets(read("a!=x"), none));
  for (const char* text : {"a=x", "a~x", "a<x", "a>x", "a="})
    EXPECT_FALSE(meets(read(text), none)) << text;
  EXPECT_FALSE(meets(read("age>2h"), std::optional<Duration>()));
}

TEST(Condition, compares_durations) {
  EXPECT_TRUE(meets(read("age>2h"), std::optional<Duration>(3h)));
  EXPECT_FALSE(meets(read("age>2h"), std::optional<Duration>(2h)));
  EXPECT_TRUE(meets(read("age<1d"), std::optional<Duration>(3h)));
  EXPECT_TRUE(meets(read("age=180m"), std::optional<Duration>(3h)));
  EXPECT_FALSE(meets(read("age>soon"), std::optional<Duration>(3h)));
}

}  // namespace
}  // namespace holdfast::condition_test
