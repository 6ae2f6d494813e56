#include "io/foreground.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace holdfast::io::foreground_test {
namespace {

TEST(Foreground, gives_the_exit_code) {
  EXPECT_EQ(run_in_foreground(std::vector<std::string>{"sh", "-c", "exit 7"}), 7);
  EXPECT_EQ(run_in_foreground(std::vector<std::string>{"true"}), 0);
  EXPECT_EQ(run_in_foreground(std::vector<std::string>{"sh", "-c", "kill -9 $$"}), 128 + 9);
}

TEST(Foreground, says_what_it_cannot_run) {
  const auto ran = run_in_foreground(std::vector<std::string>{"no-such-program-of-ours"});
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, ErrorCode::not_found);
  EXPECT_FALSE(run_in_foreground({}));
}

}  // namespace
}  // namespace holdfast::io::foreground_test
