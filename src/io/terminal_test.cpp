#include "io/terminal.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace holdfast::io {
namespace {

// What it does to one is tested in a real one: tests/system/top_test.py.
TEST(Terminal, says_where_there_is_none) {
  if (::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1) {
    GTEST_SKIP() << "this is a terminal";
  }
  const auto terminal = Terminal::open();
  ASSERT_FALSE(terminal);
  EXPECT_EQ(terminal.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(terminal.error().text(), "open terminal: this is no terminal");
}

}  // namespace
}  // namespace holdfast::io
