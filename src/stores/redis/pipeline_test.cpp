#include "stores/redis/pipeline.hpp"

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace holdfast::stores::redis::pipeline_test {
namespace {

using namespace std::string_view_literals;

TEST(RedisPipeline, writes_commands_as_they_go_over_the_wire) {
  Pipeline pipeline;
  EXPECT_TRUE(pipeline.empty());
  pipeline.add(std::array{"SET"sv, "k"sv, "a\r\n\0b"sv});
  pipeline.add(std::array{"PING"sv});
  EXPECT_EQ(pipeline.size(), 2U);
  EXPECT_EQ(pipeline.bytes_of(0), "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\na\r\n\0b\r\n"sv);
  EXPECT_EQ(pipeline.bytes_of(1), "*1\r\n$4\r\nPING\r\n");
}

TEST(RedisPipeline, writes_empty_words_too) {
  Pipeline pipeline;
  pipeline.add(std::array{"ECHO"sv, ""sv});
  EXPECT_EQ(pipeline.bytes_of(0), "*2\r\n$4\r\nECHO\r\n$0\r\n\r\n");
}

TEST(RedisPipeline, calls_a_script_by_its_sha_with_one_key) {
  const Script script("one", "return 1");
  Pipeline pipeline;
  pipeline.call(script, "{hf}", std::array{"a"sv, "bc"sv});
  EXPECT_EQ(pipeline.bytes_of(0),
            "*6\r\n$7\r\nEVALSHA\r\n$40\r\ne0e1f9fabfc9d4800c877a703b823ac0578ff8db\r\n"
            "$1\r\n1\r\n$4\r\n{hf}\r\n$1\r\na\r\n$2\r\nbc\r\n");
}

TEST(RedisPipeline, gives_the_rest_from_any_of_them_on) {
  Pipeline pipeline;
  pipeline.add(std::array{"A"sv});
  pipeline.add(std::array{"B"sv});
  pipeline.add(std::array{"C"sv});
  EXPECT_EQ(pipeline.bytes_from(0), "*1\r\n$1\r\nA\r\n*1\r\n$1\r\nB\r\n*1\r\n$1\r\nC\r\n");
  EXPECT_EQ(pipeline.bytes_from(1), "*1\r\n$1\r\nB\r\n*1\r\n$1\r\nC\r\n");
  EXPECT_EQ(pipeline.bytes_from(2), pipeline.bytes_of(2));
  EXPECT_EQ(pipeline.bytes_from(3), "");
  EXPECT_EQ(pipeline.bytes_of(3), "");
}

TEST(RedisPipeline, is_empty_again_once_cleared) {
  Pipeline pipeline;
  pipeline.add(std::array{"A"sv});
  pipeline.clear();
  EXPECT_TRUE(pipeline.empty());
  EXPECT_EQ(pipeline.bytes_from(0), "");
  pipeline.add(std::array{"B"sv});
  EXPECT_EQ(pipeline.bytes_of(0), "*1\r\n$1\r\nB\r\n");
}

TEST(RedisPipeline, is_as_good_after_a_large_one) {
  Pipeline pipeline;
  pipeline.add(std::array{"SET"sv, "k"sv, std::string_view(std::string(5'000'000, 'x'))});
  pipeline.clear();
  pipeline.add(std::array{"B"sv});
  EXPECT_EQ(pipeline.bytes_from(0), "*1\r\n$1\r\nB\r\n");
}

}  // namespace
}  // namespace holdfast::stores::redis::pipeline_test
