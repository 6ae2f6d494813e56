#include "core/percent_text.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace holdfast::percent_text_test {
namespace {

TEST(PercentText, stands_for_any_byte) {
  EXPECT_EQ(percent_decoded("a%40b%2Fc%2fd"), "a@b/c/d");
  EXPECT_EQ(percent_encoded("a@b/c~ü"), "a%40b%2fc~%c3%bc");
  EXPECT_EQ(percent_encoded("a/b", "/"), "a/b");
}

TEST(PercentText, half_a_code_is_none) {
  for (const char* text : {"%", "%4", "a%", "%4g", "%g4", "%%40"})
    EXPECT_EQ(percent_decoded(text), std::nullopt) << text;
}

RC_GTEST_PROP(PercentText, comes_back_as_it_was, (const std::string& text)) {
  RC_ASSERT(percent_decoded(percent_encoded(text)) == text);
}

}  // namespace
}  // namespace holdfast::percent_text_test
