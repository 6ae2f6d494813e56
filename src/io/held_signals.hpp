#pragma once

#include <csignal>

#include "io/unique_fd.hpp"

namespace holdfast::io {

// Holds SIGINT and SIGTERM back for as long as it lives, for a program that has to clear something
// away before it ends. Afterwards a signal that came does what it would have done. One that the
// process ignores is not held.
//
// Threads: made and destroyed on one, and before any other has started: they inherit it.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  // Ready to be read, for poll(), once a signal has come. Not to be read: it would be lost.
  [[nodiscard]] int file() const noexcept { return file_.get(); }

 private:
  sigset_t before_{};
  UniqueFd file_;
};

}  // namespace holdfast::io
