#include "wire/queue_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/wire_testing.hpp"

namespace holdfast::wire::queue_json_test {
namespace {

TEST(QueueJson, a_limit_comes_back_as_it_was) {
  const LimitRequest limit{.concurrency = 3};
  EXPECT_EQ(read_limit_request(testing::written(limit)), limit);
  EXPECT_EQ(read_limit_request(R"({"concurrency":0})"), LimitRequest());
}

TEST(QueueJson, says_what_is_wrong_with_a_limit) {
  for (const char* wrong :
       {"{}", R"({"concurrency":-1})", R"({"concurrency":"3"})", R"({"x":1})"}) {
    const auto read = read_limit_request(wrong);
    ASSERT_FALSE(read) << wrong;
    EXPECT_EQ(read.error().code, ErrorCode::invalid_argument);
  }
  EXPECT_THAT(read_limit_request(R"({"concurrency":-1})").error().message,
              ::testing::HasSubstr("0 is no limit"));
}

}  // namespace
}  // namespace holdfast::wire::queue_json_test
