#include "wire/json_cursor.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wire/wire_testing.hpp"

namespace holdfast::wire::json_cursor_test {
namespace {

TEST(JsonCursor, gives_each_member_with_its_exact_text) {
  JsonCursor cursor(" { \"a\" : 0.10 ,\"b\\\"\":[ 1, {\"x\":\"]\\\\\"} ]\n, \"c\" :\"\"} ");
  ASSERT_EQ(cursor.kind(), JsonKind::object);
  cursor.enter();
  EXPECT_EQ(cursor.next_key(), "a");
  EXPECT_EQ(cursor.take().text, "0.10");
  EXPECT_EQ(cursor.next_key(), "b\\\"");
  EXPECT_EQ(cursor.kind(), JsonKind::array);
  EXPECT_EQ(cursor.take().text, "[ 1, {\"x\":\"]\\\\\"} ]");
  EXPECT_EQ(cursor.next_key(), "c");
  EXPECT_EQ(cursor.take().text, "\"\"");
  EXPECT_EQ(cursor.next_key(), std::nullopt);
}

TEST(JsonCursor, gives_each_element_with_its_kind) {
  JsonCursor cursor("[null,true , false,\t-1,\"s\",[],{}]");
  cursor.enter();
  std::vector<JsonKind> kinds;
  while (cursor.next_element())
    kinds.push_back(cursor.take().kind);
  using enum JsonKind;
  EXPECT_EQ(kinds, (std::vector{null, boolean, boolean, number, string, array, object}));
}

TEST(JsonCursor, stands_behind_an_object_that_has_ended) {
  JsonCursor cursor("[{}, {\"a\":1}, 7]");
  cursor.enter();
  ASSERT_TRUE(cursor.next_element());
  cursor.enter();
  EXPECT_FALSE(cursor.next_key());
  ASSERT_TRUE(cursor.next_element());
  cursor.enter();
  ASSERT_TRUE(cursor.next_key());
  cursor.take();
  EXPECT_FALSE(cursor.next_key());
  ASSERT_TRUE(cursor.next_element());
  EXPECT_EQ(cursor.take().text, "7");
  EXPECT_FALSE(cursor.next_element());
}

TEST(JsonCursor, escapes_become_what_they_stand_for) {
  EXPECT_EQ(unescaped(R"(a\"\\\/\b\f\n\r\tz)"), "a\"\\/\b\f\n\r\tz");
  EXPECT_EQ(unescaped(R"(\u0041\u00e9\u4e16\ud83d\udc19)"), "Aé世🐙");
  EXPECT_EQ(unescaped(R"(\u0000)"), std::string(1, '\0'));
  EXPECT_EQ(unescaped("plain"), "plain");
}

RC_GTEST_PROP(JsonCursor, a_text_comes_back_from_its_escapes, ()) {
  const std::string text = *testing::any_text();
  std::string json;
  JsonWriter(json).text(text);
  const std::string_view literal = JsonCursor(json).take().text;
  RC_ASSERT(literal == json);
  RC_ASSERT(unescaped(literal.substr(1, literal.size() - 2)) == text);
}

RC_GTEST_PROP(JsonCursor, the_slice_of_a_member_is_its_source, ()) {
  const std::string value = testing::any_json();
  const std::string json = "{\"x\":[{}],\"v\" :\n" + value + " ,\"y\":0}";
  JsonCursor cursor(json);
  cursor.enter();
  RC_ASSERT(cursor.next_key() == "x");
  cursor.take();
  RC_ASSERT(cursor.next_key() == "v");
  RC_ASSERT(cursor.take().text == value);
  RC_ASSERT(cursor.next_key() == "y");
}

}  // namespace
}  // namespace holdfast::wire::json_cursor_test
