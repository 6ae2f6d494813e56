#include "inputs/payload_field.hpp"

#include <gtest/gtest.h>

namespace holdfast::inputs::payload_field_test {
namespace {

TEST(PayloadField, is_a_text_or_a_whole_number) {
  EXPECT_EQ(payload_field(R"({"object": "a/b c.txt"})", "object"), "a/b c.txt");
  EXPECT_EQ(payload_field(R"({"n": 12})", "n"), "12");
  EXPECT_EQ(payload_field(R"({"a": {"b": {"c": "x"}}})", "a.b.c"), "x");
  EXPECT_EQ(payload_field(R"({"a": "\u00e9\n"})", "a"), "é\n");
  EXPECT_EQ(payload_field(R"({"\u0061": "x"})", "a"), "x");
  EXPECT_EQ(payload_field(R"({"a": 1, "a": 2})", "a"), "2");
}

TEST(PayloadField, names_what_is_missing) {
  EXPECT_EQ(payload_field("{}", "object").error(), R"(the payload has no field "object")");
  EXPECT_EQ(payload_field(R"({"a": 1})", "a.b").error(), R"(the payload has no field "a.b")");
  EXPECT_EQ(payload_field("[1]", "a").error(), R"(the payload has no field "a")");
  EXPECT_EQ(payload_field("secret", "a").error(),
            R"(the payload has no field "a": it is not JSON)");
  EXPECT_EQ(payload_field("", "a").error(), R"(the payload has no field "a": it is not JSON)");
}

TEST(PayloadField, refuses_what_has_no_text_of_its_own) {
  for (const auto* json : {R"({"a": null})", R"({"a": true})", R"({"a": 1.5})", R"({"a": 1e3})",
                           R"({"a": []})", R"({"a": {}})"}) {
    EXPECT_EQ(payload_field(json, "a").error(),
              R"(the field "a" of the payload is neither a text nor a whole number)")
        << json;
  }
}

}  // namespace
}  // namespace holdfast::inputs::payload_field_test
