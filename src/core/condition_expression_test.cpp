#include "core/condition_expression.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::condition_expression_test {
namespace {

using ::testing::HasSubstr;

ConditionNode read(std::string_view text) {
  auto node = parse_conditions(text);
  EXPECT_TRUE(node) << text << ": " << (node ? "" : node.error().message);
  return node.value_or(ConditionNode());
}

std::string fault(std::string_view text) {
  const auto node = parse_conditions(text);
  EXPECT_FALSE(node) << text;
  if (node) return {};
  EXPECT_EQ(node.error().code, ErrorCode::invalid_argument);
  return node.error().message;
}

Condition only(std::string_view text) {
  ConditionNode node = read(text);
  EXPECT_EQ(node.kind, ConditionNode::Kind::condition) << text;
  return std::move(node.condition);
}

// Whether it holds of something whose names among these letters are "1".
bool holds_of(std::string_view text, std::string_view letters) {
  return holds(read(text), [&](const Condition& condition) {
    return letters.contains(condition.name.front());
  });
}

TEST(Filters, a_condition_is_a_name_a_sign_and_a_value) {
  EXPECT_EQ(only("type=CollectionScan"), (Condition{"type", Comparison::equals, "CollectionScan"}));
  EXPECT_EQ(only("type != a=b"), (Condition{"type", Comparison::differs, "a=b"}));
  EXPECT_EQ(only("age>2h"), (Condition{"age", Comparison::more, "2h"}));
  EXPECT_EQ(only("age<2h"), (Condition{"age", Comparison::less, "2h"}));
  EXPECT_EQ(only("age>= 2h"), (Condition{"age", Comparison::at_least, "2h"}));
  EXPECT_EQ(only("n<=5"), (Condition{"n", Comparison::at_most, "5"}));
  EXPECT_EQ(only("type=~^a|b$"), (Condition{"type", Comparison::matches, "^a|b$"}));
  EXPECT_EQ(only("type!~x"), (Condition{"type", Comparison::unlike, "x"}));
  EXPECT_EQ(only(R"(body~"no \"such\" file ")"),
            (Condition{"body", Comparison::contains, "no \"such\" file "}));
  EXPECT_EQ(only("header.x="), (Condition{"header.x", Comparison::equals, ""}));
  EXPECT_EQ(only("header.my name=1"), (Condition{"header.my name", Comparison::equals, "1"}));
}

TEST(Filters, and_binds_closer_than_or) {
  for (const char* letters : {"a", "bc", "abc", "ac"})
    EXPECT_TRUE(holds_of("a=1 or b=1 and c=1", letters)) << letters;
  for (const char* letters : {"b", "c", ""})
    EXPECT_FALSE(holds_of("a=1 or b=1 and c=1", letters)) << letters;
  EXPECT_FALSE(holds_of("(a=1 or b=1) and c=1", "a"));
  EXPECT_TRUE(holds_of("(a=1 or b=1) and c=1", "ac"));
  EXPECT_TRUE(holds_of("a=1 AND NOT b=1 OR c=1", "a"));
  EXPECT_FALSE(holds_of("a=1 and not b=1", "ab"));
  EXPECT_TRUE(holds_of("not (a=1 and b=1)", "a"));
  EXPECT_TRUE(holds_of("not not a=1", "a"));
  EXPECT_TRUE(holds_of("not(a=1)or(b=1)", "b"));
  EXPECT_TRUE(holds_of(R"(a="x" and b="y")", "ab"));
}

// What a filter of one condition meant before there were words between conditions.
TEST(Filters, words_in_a_value_are_of_the_value) {
  for (const char* value :
       {"read and write", "not found", "this or that", "and", "a and ", "x) and (y", "f(x)", ":-)",
        "a && b", "black and white or not", "Tom AND Jerry", "and so on"}) {
    const Condition condition = only("error~" + std::string(value));
    EXPECT_EQ(condition.value,
              std::string(value).substr(0, std::string(value).find_last_not_of(' ') + 1));
  }
  EXPECT_EQ(only(R"--(error~"a and b=c or (d=e)")--").value, "a and b=c or (d=e)");
  EXPECT_EQ(read("error~a and b and type=c").parts.front().condition.value, "a and b");
  EXPECT_EQ(read("(error~f(x) or type=List(Item))").parts.back().condition.value, "List(Item)");
  EXPECT_EQ(read("header.x= and type=b").parts.front().condition.value, "");
}

TEST(Filters, what_may_be_a_value_or_conditions_is_refused) {
  for (const char* text : {"error~a and b c=d", "error~a || type=b", "error~a && type=b",
                           "error~x and y!z and type=b"})
    EXPECT_THAT(fault(text), HasSubstr("stands in quotes")) << text;
}

// A number that becomes a text is compared letter by letter, and others are chosen than was meant.
TEST(Filters, an_ordered_value_with_more_behind_it_is_refused) {
  for (const char* text : {"n>=10)", "n>=10 and", "n<10 or", "n>10 and type", "n<=10 or more",
                           "n>(10", "n<10 not", "type=a and n>10)"})
    EXPECT_THAT(fault(text), HasSubstr("stands in quotes")) << text;
  EXPECT_EQ(only("n>=\"10)\"").value, "10)");
  EXPECT_EQ(only("name<f(x)").value, "f(x)");
}

TEST(Filters, an_error_says_where) {
  EXPECT_EQ(
      fault("type"),
      "position 1, at \"type\": a condition is NAME=VALUE, or with !=, ~, <, >, <=, >=, =~ or "
      "!~");
  EXPECT_EQ(fault("a=1 and (b=2"),
            "position 13, at the end: the parenthesis at position 9 is not closed");
  EXPECT_THAT(fault("(a=1))"), HasSubstr("position 6, at \")\": no parenthesis is open here"));
  EXPECT_THAT(fault("a=\"x\" b=1"), HasSubstr("position 7, at \"b=1\": behind a condition come"));
  EXPECT_THAT(fault("=x"), HasSubstr("no name"));
  EXPECT_THAT(fault("a=1 and =x"), HasSubstr("stands in quotes"));
  EXPECT_THAT(fault("a==x"), HasSubstr("position 3, at \"=x\": the signs are"));
  EXPECT_THAT(fault("body~\"open"), HasSubstr("position 6"));
  EXPECT_THAT(fault(R"(a="\q")"), HasSubstr("ends with its quote"));
  EXPECT_THAT(fault("a=1 and b=~(x"), HasSubstr("position 12, at \"(x\": bad pattern at offset 0"));
  EXPECT_THAT(fault("()"), HasSubstr("position 2"));
  for (const char* text :
       {"", "(", "not", "not ", "type!x", "a=\"1\" and", "a=\"1\"and", "type=<x"})
    EXPECT_FALSE(fault(text).empty()) << text;
}

TEST(Filters, a_check_hears_of_every_condition) {
  const auto node = parse_conditions("a=1 and (b=2 or not c=3)", [](const Condition& condition) {
    return condition.name == "c" ? std::string("no c here") : std::string();
  });
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().message, "position 21, at \"c=3)\": no c here");
}

TEST(Filters, have_limits) {
  const std::string deep(100'000, '(');
  EXPECT_THAT(fault(deep), HasSubstr("at most 65536 bytes"));
  EXPECT_THAT(fault(deep.substr(0, 60'000)), HasSubstr("at most 100 deep"));
  std::string nots;
  for (int i = 0; i < 10'000; ++i)
    nots += "not ";
  EXPECT_THAT(fault(nots + "a=1"), HasSubstr("at most 100 deep"));
  EXPECT_TRUE(holds_of(std::string(100, '(') + "a=1" + std::string(100, ')'), "a"));
  std::string many = "a=1";
  for (int i = 0; i < 5'000; ++i)
    many += " or a=1";
  EXPECT_EQ(read(many).parts.size(), 5'001U);
  EXPECT_THAT(fault("a=~((x{1000}){1000}){1000}"), HasSubstr("bad pattern"));
  EXPECT_THAT(fault("a=~(\\pL{200}){200}"), HasSubstr("bad pattern"));
  std::string patterns = "a=~1";
  for (int i = 0; i < 100; ++i)
    patterns += " or a=~1";
  EXPECT_THAT(fault(patterns), HasSubstr("at most 100 regular expressions"));
}

TEST(Filters, read_back_what_they_write) {
  for (const char* text :
       {"a=\"1\"", "a=\"1\" and b!=\"2\" or not c~\"x\"", "not (a=\"1\" or b=\"2\")",
        "(a=\"1\" or b<=\"2\") and (c>=\"3\" or d=\"4\")", R"(a=~"\d \"x\"" and b!~"\\")",
        R"(body~"a \"quoted\"\nline")"})
    EXPECT_EQ(to_string(read(text)), text);
}

}  // namespace
}  // namespace holdfast::condition_expression_test
