#include "core/json_check.hpp"

#include <string>

#include <gtest/gtest.h>

namespace holdfast::json_check_test {
namespace {

TEST(IsJson, knows_json) {
  for (const char* text :
       {"{}", "[]", " [ ] ", "{ }", "null", "true", "false", "0", "-0", "12.5e+10", "1E5", "\"\"",
        R"("a\n\u00e9\\\"/")", "\"é\"", R"({"a":1,"b":[1,2,{"c":null}],"d":{}})", "[[],[[]],{}]",
        "\r\n\t{\"a\" : [ 1 , 2 ] }\n", "[1,[2],3]", R"([{"a":{}},{"b":[]}])"})
    EXPECT_TRUE(is_json(text)) << text;
}

TEST(IsJson, knows_what_is_none) {
  for (const char* text :
       {"",          " ",       "hello",     "{",        "}",        "[",          "]",     "[1,]",
        "[,1]",      "{,}",     "{a:1}",     "{\"a\"}",  "{\"a\":}", "{\"a\":1,}", "{}{}",  "1 2",
        "01",        "+1",      "1.",        ".5",       "1e",       "-",          "nul",   "truex",
        "\"a",       "\"\\x\"", "\"\\u12\"", "\"a\tb\"", "[1}",      "{\"a\":1]",  "[1 2]", "'a'",
        "{\"a\" 1}", "[1],",    "NaN",       "\"\xff\"", "{1:2}",    "\"\xc3\""})
    EXPECT_FALSE(is_json(text)) << text;
  EXPECT_FALSE(is_json(std::string_view("1\0", 2)));
}

TEST(IsJson, goes_only_so_deep) {
  EXPECT_TRUE(is_json(std::string(512, '[') + std::string(512, ']')));
  EXPECT_FALSE(is_json(std::string(513, '[') + std::string(513, ']')));
  EXPECT_FALSE(is_json(std::string(1'000'000, '[')));
}

}  // namespace
}  // namespace holdfast::json_check_test
