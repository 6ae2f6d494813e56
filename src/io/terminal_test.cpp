#include "io/terminal.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace holdfast::io::terminal_test {
namespace {

// What it does to one is tested in a real one: tests/system/top_test.py.
TEST(Terminal, says_where_there_is_none) {
  // Wherever the test itself runs.
  const int before = ::dup(STDIN_FILENO);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::dup2(nothing, STDIN_FILENO), STDIN_FILENO);
  const auto terminal = Terminal::open();
  ASSERT_EQ(::dup2(before, STDIN_FILENO), STDIN_FILENO);
  ::close(before);
  ::close(nothing);
  ASSERT_FALSE(terminal);
  EXPECT_EQ(terminal.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(terminal.error().text(), "open terminal: this is no terminal");
}

}  // namespace
}  // namespace holdfast::io::terminal_test
