#include "wire/json_syntax.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wire/wire_testing.hpp"

namespace holdfast::wire::json_syntax_test {
namespace {

std::string fault_of(std::string_view text, std::size_t most_depth = 8) {
  const auto fault = syntax_fault(text, most_depth);
  EXPECT_EQ(is_json(text, most_depth), !fault);
  return fault ? place_of(text, fault->offset) + ": " + fault->what : "none";
}

TEST(JsonSyntax, numbers_of_any_size_are_json) {
  EXPECT_EQ(fault_of("1e400"), "none");
  EXPECT_EQ(fault_of("-0.10E-999"), "none");
  EXPECT_EQ(fault_of("123456789012345678901234567890"), "none");
}

TEST(JsonSyntax, faults_say_what_and_where) {
  EXPECT_EQ(fault_of(""), "line 1, column 1: ends too early");
  EXPECT_EQ(fault_of("{\"a\": 1"), "line 1, column 8: ends too early");
  EXPECT_EQ(fault_of("{\"a\": 1,}"), "line 1, column 9: unexpected \"}\"");
  EXPECT_EQ(fault_of("[1,\n \"é\" x]"), "line 2, column 6: unexpected \"x\"");
  EXPECT_EQ(fault_of("{'a': 1}"), "line 1, column 2: unexpected \"'\"");
  EXPECT_EQ(fault_of("[01]"), "line 1, column 3: unexpected \"1\"");
  EXPECT_EQ(fault_of("1 2"), "line 1, column 3: unexpected \"2\" after the end of the document");
  EXPECT_EQ(fault_of("[NaN]"), "line 1, column 2: unexpected \"N\"");
  EXPECT_EQ(fault_of("// no\n1"), "line 1, column 1: unexpected \"/\"");
  EXPECT_NE(fault_of("\"\\udc00\"").find("half a character"), std::string::npos);
  EXPECT_NE(fault_of("\"\\u12g4\"").find("hexadecimal digit"), std::string::npos);
  EXPECT_NE(fault_of("1e99999999999").find("exponent"), std::string::npos);
  EXPECT_EQ(fault_of("[\"\xff\"]"), "line 1, column 3: byte 0xff is not UTF-8");
}

TEST(JsonSyntax, brackets_may_be_nested_as_deep_as_said) {
  EXPECT_EQ(fault_of("[[[]]]", 3), "none");
  EXPECT_EQ(fault_of("[[{}]]", 3), "none");
  EXPECT_EQ(fault_of("[[[[]]]]", 3), "line 1, column 4: nested deeper than 3");
  EXPECT_EQ(fault_of("[[{\"a\":{}}]]", 3), "line 1, column 8: nested deeper than 3");
}

TEST(JsonSyntax, a_million_brackets_are_refused_and_not_followed) {
  EXPECT_FALSE(is_json(std::string(1'000'000, '['), 64));
}

RC_GTEST_PROP(JsonSyntax, any_json_is_found_to_be_json, ()) {
  RC_ASSERT(is_json(testing::any_json(), 64));
}

}  // namespace
}  // namespace holdfast::wire::json_syntax_test
