#include "core/json_text.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "core/utf8.hpp"

namespace holdfast::json_text_test {
namespace {

using namespace std::string_literals;

std::string json(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

std::string visible(std::string_view text) {
  std::string out;
  append_visible(out, text);
  return out;
}

bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    if (point.length == 0) return false;
    text.remove_prefix(point.length);
  }
  return true;
}

TEST(JsonText, keeps_clean_text_and_escapes_quotes_and_backslashes) {
  EXPECT_EQ(json(""), R"("")");
  EXPECT_EQ(json("plain text"), R"("plain text")");
  EXPECT_EQ(json("naïve 日本 😀"), R"("naïve 日本 😀")");
  EXPECT_EQ(json(R"(C:\dir "x")"), R"("C:\\dir \"x\"")");
}

TEST(JsonText, escapes_what_breaks_a_line_or_drives_a_terminal) {
  EXPECT_EQ(json("a\nb\r\tc"), R"("a\nb\r\tc")");
  EXPECT_EQ(json("\x1b[31mred"), R"("\u001b[31mred")");
  EXPECT_EQ(json("nul\0!"s), R"("nul\u0000!")");
  EXPECT_EQ(json("\x7f"), R"("\u007f")");
  EXPECT_EQ(json("\u009b31m"), R"("\u009b31m")");
  EXPECT_EQ(json("\u0085"), R"("\u0085")");
  EXPECT_EQ(json("\u2028\u2029"), R"("\u2028\u2029")");
  EXPECT_EQ(json("\u202eevil\u2066\u200f\u061c"), R"("\u202eevil\u2066\u200f\u061c")");
  EXPECT_EQ(json("\ufeff"), R"("\ufeff")");
}

TEST(JsonText, shows_the_bytes_of_broken_utf8) {
  EXPECT_EQ(json("a\xff"), R"("a\\xff")");
  EXPECT_EQ(json("\xc3("), R"("\\xc3(")");                  // cut short
  EXPECT_EQ(json("\xe2\x82"), R"("\\xe2\\x82")");           // cut short at the end
  EXPECT_EQ(json("\xc0\xaf"), R"("\\xc0\\xaf")");           // overlong
  EXPECT_EQ(json("\xe0\x80\x8a"), R"("\\xe0\\x80\\x8a")");  // overlong newline
  EXPECT_EQ(json("\xed\xa0\x80"), R"("\\xed\\xa0\\x80")");  // surrogate
  EXPECT_EQ(json("\xf4\x90\x80\x80"), R"("\\xf4\\x90\\x80\\x80")");
  EXPECT_EQ(json("\x80"), R"("\\x80")");
}

TEST(JsonText, visible_text_has_the_same_escapes_and_no_quotes) {
  EXPECT_EQ(visible(R"(C:\dir "x")"), R"(C:\dir "x")");
  EXPECT_EQ(visible("a\nb\x1b\xff"), R"(a\nb\u001b\xff)");
  EXPECT_TRUE(is_visible("naïve \"x\""));
  EXPECT_FALSE(is_visible("a\n"));
  EXPECT_FALSE(is_visible("\xff"));
  EXPECT_FALSE(is_visible("\u202e"));
}

TEST(JsonText, a_quote_in_a_message_is_cut_between_characters) {
  EXPECT_EQ(quoted("abc"), R"("abc")");
  EXPECT_EQ(quoted("abcdef", 3), R"("abc"…)");
  EXPECT_EQ(quoted("ab日本", 4), R"("ab"…)");
  EXPECT_EQ(quoted("ab日本", 5), R"("ab日"…)");
  EXPECT_EQ(quoted("\xff\xff\xff", 2), R"("\\xff\\xff"…)");
}

RC_GTEST_PROP(JsonText, any_bytes_become_one_line_of_valid_utf8, (const std::string& bytes)) {
  for (const std::string& out : {json(bytes), visible(bytes)}) {
    RC_ASSERT(is_valid_utf8(out));
    RC_ASSERT(is_visible(out));
  }
}

RC_GTEST_PROP(Utf8, a_prefix_of_valid_text_is_valid_and_at_most_three_bytes_short, ()) {
  const auto parts =
      *rc::gen::container<std::vector<std::string>>(rc::gen::element("a"s, "é"s, "日"s, "😀"s));
  std::string text;
  for (const auto& part : parts)
    text += part;
  const std::size_t limit = *rc::gen::inRange<std::size_t>(0, text.size() + 2);
  const std::string_view prefix = utf8_prefix(text, limit);
  RC_ASSERT(is_valid_utf8(prefix));
  RC_ASSERT(prefix.size() <= limit);
  RC_ASSERT(prefix.size() + 3 >= std::min(limit, text.size()));
}

}  // namespace
}  // namespace holdfast::json_text_test
