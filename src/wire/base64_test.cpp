#include "wire/base64.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wire/wire_testing.hpp"

namespace holdfast::wire::base64_test {
namespace {

std::string encoded(std::string_view bytes) {
  std::string out;
  append_base64(out, bytes);
  return out;
}

TEST(Base64, the_examples_of_rfc_4648) {
  EXPECT_EQ(encoded(""), "");
  EXPECT_EQ(encoded("f"), "Zg==");
  EXPECT_EQ(encoded("fo"), "Zm8=");
  EXPECT_EQ(encoded("foo"), "Zm9v");
  EXPECT_EQ(encoded("foob"), "Zm9vYg==");
  EXPECT_EQ(encoded("fooba"), "Zm9vYmE=");
  EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
  EXPECT_EQ(encoded("\xff\xfe\xfb"), "//77");
}

TEST(Base64, only_the_one_right_text_is_read) {
  const auto refused = [](std::string_view text, std::string_view why) {
    const auto read = parse_base64(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(read.error().message.find(why), std::string::npos) << read.error().message;
  };
  refused("Zg", "ends within a group of four at offset 2");
  refused("Zg=", "ends within");
  refused("Zh==", "stray bits at offset 1");
  refused("Zm9=", "stray bits at offset 2");
  refused("Zm-_", "no digit of base64 at offset 2");
  refused("Zg==Zg==", "no digit of base64 at offset 2");
  refused("====", "no digit of base64 at offset 0");
  refused("Zm9v\nZm9", "no digit of base64 at offset 4");
}

RC_GTEST_PROP(Base64, any_bytes_come_back, ()) {
  const std::string bytes = *testing::any_bytes();
  RC_ASSERT(parse_base64(encoded(bytes)).value() == bytes);
}

}  // namespace
}  // namespace holdfast::wire::base64_test
