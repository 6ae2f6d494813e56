#include "stores/redis/reply.hpp"

#include <string_view>

#include <gtest/gtest.h>
#include <hiredis/hiredis.h>

namespace holdfast::stores::redis::reply_test {
namespace {

using namespace std::string_view_literals;

OwnedReply read(std::string_view wire) {
  redisReader* const reader = redisReaderCreate();
  redisReaderFeed(reader, wire.data(), wire.size());
  void* reply = nullptr;
  redisReaderGetReply(reader, &reply);
  redisReaderFree(reader);
  return OwnedReply(static_cast<redisReply*>(reply));
}

TEST(RedisReply, is_of_one_kind) {
  const OwnedReply status = read("+OK\r\n");
  EXPECT_TRUE(status.view().is_text());
  EXPECT_EQ(status.view().text(), "OK");
  const OwnedReply text = read("$4\r\na\0\r\n\r\n"sv);
  EXPECT_TRUE(text.view().is_text());
  EXPECT_EQ(text.view().text(), "a\0\r\n"sv);
  const OwnedReply number = read(":-9223372036854775807\r\n");
  EXPECT_TRUE(number.view().is_integer());
  EXPECT_EQ(number.view().integer(), -9223372036854775807);
  const OwnedReply error = read("-ERR no\r\n");
  EXPECT_TRUE(error.view().is_error());
  EXPECT_FALSE(error.view().is_text());
  EXPECT_EQ(error.view().text(), "ERR no");
  EXPECT_TRUE(read("$-1\r\n").view().is_nil());
  EXPECT_TRUE(read("*-1\r\n").view().is_nil());
}

TEST(RedisReply, has_parts_that_have_parts) {
  const OwnedReply reply = read("*3\r\n:1\r\n*2\r\n$1\r\nx\r\n$-1\r\n$0\r\n\r\n");
  const Reply view = reply.view();
  ASSERT_TRUE(view.is_array());
  ASSERT_EQ(view.size(), 3U);
  EXPECT_EQ(view[0].integer(), 1);
  EXPECT_EQ(view[1].size(), 2U);
  EXPECT_EQ(view[1][0].text(), "x");
  EXPECT_TRUE(view[1][1].is_nil());
  EXPECT_TRUE(view[2].is_text());
  EXPECT_EQ(view[2].text(), "");
}

TEST(RedisReply, gives_nothing_of_what_it_is_not) {
  const Reply none;
  EXPECT_TRUE(none.is_nil());
  EXPECT_FALSE(none.is_error() || none.is_text() || none.is_integer() || none.is_array());
  EXPECT_EQ(none.text(), "");
  EXPECT_EQ(none.integer(), 0);
  EXPECT_EQ(none.size(), 0U);
  EXPECT_TRUE(none[0].is_nil());
  const OwnedReply number = read(":5\r\n");
  EXPECT_EQ(number.view().text(), "");
  EXPECT_EQ(number.view().size(), 0U);
  EXPECT_TRUE(number.view()[3].is_nil());
  const OwnedReply text = read("$1\r\n7\r\n");
  EXPECT_EQ(text.view().integer(), 0);
}

}  // namespace
}  // namespace holdfast::stores::redis::reply_test
