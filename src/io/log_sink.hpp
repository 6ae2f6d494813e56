#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string_view>

#include <holdfast/log.hpp>

namespace holdfast {

enum class LogStyle : std::uint8_t { json, console, colour_console };

// JSON lines unless `fd` is a terminal. Colour unless NO_COLOR is set and not empty, or TERM is
// "dumb" or missing. Reads the environment: call it at start, before other threads may change it.
[[nodiscard]] LogStyle log_style_for(int fd) noexcept;

// The same decision, of plain facts. A null pointer is a variable that is not set.
[[nodiscard]] LogStyle choose_log_style(bool is_terminal, const char* no_color,
                                        const char* term) noexcept;

// Writes each record to a file descriptor, which it does not own: one write(2) a record where the
// system takes it whole, so that lines stay whole even where several processes share a pipe or a
// file opened for appending.
//
// Never throws and never fails the caller: a record that cannot be written is dropped and counted.
// After a line was cut short, the next one begins on a line of its own. A descriptor that is
// non-blocking and full is waited for, `full_wait` at most. A closed pipe raises SIGPIPE as for any
// write; a program that does not want this ignores the signal, and the record counts as dropped.
//
// Threads: any, at once; lines never mix.
class FdSink final : public LogSink {
 public:
  static constexpr std::chrono::milliseconds kFullWait{100};

  FdSink(int fd, LogStyle style, std::chrono::milliseconds full_wait = kFullWait) noexcept
      : fd_(fd), style_(style), full_wait_(full_wait) {}
  explicit FdSink(int fd) noexcept : FdSink(fd, log_style_for(fd)) {}

  FdSink(const FdSink&) = delete;
  FdSink& operator=(const FdSink&) = delete;

  void write(const LogRecord& record) noexcept override;

  [[nodiscard]] LogStyle style() const noexcept { return style_; }
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }

 private:
  [[nodiscard]] bool write_line(std::string_view line) noexcept;
  // How many bytes of `text` went out; fewer than all of them only after an error.
  [[nodiscard]] std::size_t write_all(std::string_view text) noexcept;

  const int fd_;
  const LogStyle style_;
  const std::chrono::milliseconds full_wait_;
  std::atomic<std::uint64_t> dropped_{0};

  std::mutex mutex_;   // held over the writes of one line, in case the system takes it in parts
  bool torn_ = false;  // the last line was cut short
};

}  // namespace holdfast
