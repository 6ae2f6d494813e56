#include "stores/redis/script.hpp"

#include <gtest/gtest.h>

namespace holdfast::stores::redis::script_test {
namespace {

TEST(RedisScript, is_called_by_what_the_server_calls_it) {
  const Script script("one", "return 1");
  EXPECT_EQ(script.name(), "one");
  EXPECT_EQ(script.text(), "return 1");
  EXPECT_EQ(script.sha(), "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
}

}  // namespace
}  // namespace holdfast::stores::redis::script_test
