#include "io/curl.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::io::curl_test {
namespace {

using ::testing::HasSubstr;

TEST(Curl, is_found_once_and_for_all) {
  ASSERT_TRUE(load_curl());
  ASSERT_TRUE(load_curl());  // once more is as good
  EXPECT_EQ(std::string(curl().easy_strerror(CURLE_OK)), "No error");
}

TEST(Curl, says_which_library_there_is_not_and_what_to_install) {
  const auto found = find_curl("libcurl-of-nobody.so.4");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::unavailable);
  EXPECT_THAT(found.error().text(), HasSubstr("load libcurl: libcurl-of-nobody.so.4"));
  EXPECT_THAT(found.error().text(), HasSubstr("package libcurl4"));
}

TEST(Curl, says_which_function_a_library_has_not) {
  const auto found = find_curl("libc.so.6");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().text(), HasSubstr("curl_easy_cleanup"));
}

}  // namespace
}  // namespace holdfast::io::curl_test
