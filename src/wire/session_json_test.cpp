#include "wire/session_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::wire::session_json_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(LoginRequest, has_a_token) {
  EXPECT_EQ(read_login_request(R"({"token": "a\"b"})").value().token, "a\"b");
}

TEST(LoginRequest, what_is_wrong_is_said_without_the_token) {
  for (const char* body :
       {"", "{", "[]", "{}", R"({"token":null})", R"({"token":{"planted":1}})",
        R"({"token":["planted"]})", R"({"token":"x","planted)", R"({"token":12345})"}) {
    const auto read = read_login_request(body);
    ASSERT_FALSE(read) << body;
    EXPECT_EQ(read.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(read.error().text(), Not(HasSubstr("planted"))) << body;
    EXPECT_THAT(read.error().text(), Not(HasSubstr("12345"))) << body;
  }
  EXPECT_THAT(read_login_request(R"({"tokens":"x"})").error().text(), HasSubstr("token"));
}

}  // namespace
}  // namespace holdfast::wire::session_json_test
