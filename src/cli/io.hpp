#pragma once

#include <iosfwd>

namespace holdfast::cli {

// What a verb reads and writes, so that tests run it without the program's own streams.
struct Io {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool in_is_terminal = false;
  bool colour = false;  // out is a terminal that takes colours
  bool err_is_terminal = false;
};

// Exit codes, the same for every verb.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;  // the work failed
inline constexpr int kUsage = 2;   // the command line is wrong
inline constexpr int kKept = 3;    // done, but something was kept or left

}  // namespace holdfast::cli
