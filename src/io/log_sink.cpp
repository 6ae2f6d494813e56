#include "io/log_sink.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>

#include <poll.h>
#include <unistd.h>

#include "core/log_format.hpp"

namespace holdfast {
namespace {

void append_line(std::string& out, const LogRecord& record, LogStyle style) {
  if (style == LogStyle::json) {
    append_json_line(out, record);
  } else {
    append_console_line(out, record, style == LogStyle::colour_console);
  }
}

// True if a full descriptor can take more now.
[[nodiscard]] bool wait_for_room(int fd, std::chrono::milliseconds wait) noexcept {
  pollfd waiting{.fd = fd, .events = POLLOUT, .revents = 0};
  int ready = -1;
  do {
    ready = ::poll(&waiting, 1, static_cast<int>(wait.count()));
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

}  // namespace

LogStyle choose_log_style(bool is_terminal, const char* no_color, const char* term) noexcept {
  if (!is_terminal) return LogStyle::json;
  const bool unwanted = no_color && *no_color != '\0';
  const bool impossible = !term || *term == '\0' || std::string_view(term) == "dumb";
  return unwanted || impossible ? LogStyle::console : LogStyle::colour_console;
}

LogStyle log_style_for(int fd) noexcept {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the header tells the caller when to call this.
  return choose_log_style(::isatty(fd) == 1, std::getenv("NO_COLOR"), std::getenv("TERM"));
}

void FdSink::write(const LogRecord& record) noexcept {
  const int errno_before = errno;  // whoever logs an error may still want to look at it
  bool written = false;
  try {
    std::string line;
    append_line(line, record, style_);
    written = write_line(line);
  } catch (const std::exception&) {
    // No memory, or no mutex: what could tell of it is this very sink.
    written = false;
  }
  if (!written) ++dropped_;
  errno = errno_before;
}

bool FdSink::write_line(std::string_view line) noexcept {
  const std::lock_guard lock(mutex_);
  if (torn_) {
    if (write_all("\n") == 0) return false;
    torn_ = false;
  }
  const std::size_t done = write_all(line);
  torn_ = done > 0 && done < line.size();
  return done == line.size();
}

std::size_t FdSink::write_all(std::string_view text) noexcept {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t taken = ::write(fd_, text.data() + done, text.size() - done);
    if (taken > 0) {
      done += static_cast<std::size_t>(taken);
      continue;
    }
    if (taken < 0 && errno == EINTR) continue;
    if (taken < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) && wait_for_room(fd_, full_wait_))
      continue;
    break;
  }
  return done;
}

LogSink& stderr_log() noexcept {
  // Never destroyed: what runs after main() may still log.
  alignas(FdSink) static std::byte storage[sizeof(FdSink)];
  static FdSink* const sink = std::construct_at(reinterpret_cast<FdSink*>(storage), STDERR_FILENO);
  return *sink;
}

}  // namespace holdfast
