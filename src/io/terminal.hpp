#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

namespace holdfast::io {

// The terminal that standard input and output are, as a program has it that fills the screen: keys
// come as they are pressed and are not shown, the screen is one of its own, and there is no cursor.
// All of that is undone when this is destroyed, and when the process crashes or is told to end: by
// a signal, or by Ctrl-C, which is one. Ctrl-Z gives it back to the shell until the program is
// continued.
//
// One at a time in a process. Threads: one; but wake().
class Terminal {
 public:
  // Fails with invalid_argument where the two are no terminal.
  [[nodiscard]] static Result<Terminal> open();
  ~Terminal();
  Terminal(Terminal&& other) noexcept;
  Terminal& operator=(Terminal&&) = delete;

  // Gives it back now.
  void close();

  struct Size {
    int columns = 80;
    int rows = 24;

    bool operator==(const Size&) const = default;
  };
  [[nodiscard]] Size size() const;

  // In one write, so that nothing can be seen half done. Sequences of the terminal may be in it.
  void write(std::string_view bytes);

  // What has come since the last time, or comes within `most`.
  struct Input {
    std::string keys = {};  // bytes, as the terminal sends them
    bool resized = false;   // draw everything anew; after a stop, too
    bool ended = false;     // SIGINT, SIGTERM, SIGHUP; or nobody is there any more
    bool woken = false;
  };
  [[nodiscard]] Input wait(Duration most);

  // Ends a wait(). Threads: any.
  void wake() noexcept;

 private:
  Terminal() = default;
  void suspend();

  bool is_open_ = false;
};

}  // namespace holdfast::io
