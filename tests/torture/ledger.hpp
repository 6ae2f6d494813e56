#pragma once

#include <string>
#include <string_view>

namespace holdfast::torture {

// What a thread of the victim says outside of the system under test: lines of a file, each one on
// the disk before line() returns. Threads: one at a time.
class Ledger {
 public:
  // Ends the process if the file cannot be made: a run without ledgers proves nothing.
  explicit Ledger(const std::string& path);
  ~Ledger();
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  // "<steady nanoseconds> <text>". Uses write and fsync, which SQLite does not use for its files:
  // so strace can be told to strike the store alone.
  void line(std::string_view text);
  // Several, synced once.
  Ledger& add(std::string_view text);
  void sync();

 private:
  int file_ = -1;
  std::string unwritten_;
};

}  // namespace holdfast::torture
