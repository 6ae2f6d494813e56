#include "core/text_template.hpp"

#include <gtest/gtest.h>

namespace holdfast::text_template_test {
namespace {

std::expected<std::string, std::string> filled(std::string_view text) {
  const auto made = TextTemplate::parse(text);
  if (!made) return std::unexpected(made.error().message);
  return made->fill([](std::string_view field) -> std::expected<std::string, std::string> {
    if (field == "missing") return std::unexpected("no missing");
    return "<" + std::string(field) + ">";
  });
}

TEST(TextTemplate, fills_in_fields) {
  EXPECT_EQ(filled(""), "");
  EXPECT_EQ(filled("uploads"), "uploads");
  EXPECT_EQ(filled("{object}"), "<object>");
  EXPECT_EQ(filled("a/{b.c}{d}/e"), "a/<b.c><d>/e");
  EXPECT_EQ(filled("{{{a}}}"), "{<a>}");
  EXPECT_EQ(filled("{{a}}"), "{a}");
}

TEST(TextTemplate, says_what_a_field_lacks) {
  EXPECT_EQ(filled("{a}/{missing}"), std::unexpected(std::string("no missing")));
}

TEST(TextTemplate, refuses_braces_that_do_not_match) {
  EXPECT_EQ(filled("a/{b").error(), "the { at offset 2 is not closed");
  EXPECT_EQ(filled("{a{b}").error(), "the { at offset 0 is not closed");
  EXPECT_EQ(filled("a}").error(), "the } at offset 1 closes nothing");
  EXPECT_EQ(filled("{}").error(), "there is no name in the {} at offset 0");
}

TEST(TextTemplate, knows_whether_it_is_empty) {
  EXPECT_TRUE(TextTemplate().is_empty());
  EXPECT_FALSE(TextTemplate::parse("{a}")->is_empty());
}

}  // namespace
}  // namespace holdfast::text_template_test
