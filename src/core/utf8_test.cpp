#include "core/utf8.hpp"

#include <gtest/gtest.h>

namespace holdfast::utf8_test {
namespace {

TEST(Utf8, any_text_of_code_points_is_utf8) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8(std::string_view("plain\0", 6)));
  EXPECT_TRUE(is_utf8("Grüße, 世界 🐙"));
}

TEST(Utf8, a_wrong_byte_anywhere_is_not) {
  EXPECT_FALSE(is_utf8("\xff"));
  EXPECT_FALSE(is_utf8("good until \xc3"));        // cut short
  EXPECT_FALSE(is_utf8("\xc0\xaf"));               // an overlong form
  EXPECT_FALSE(is_utf8("half \xed\xa0\x80 one"));  // a surrogate
}

}  // namespace
}  // namespace holdfast::utf8_test
