#include "io/terminal.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "io/os_error.hpp"
#include "io/unique_fd.hpp"

namespace holdfast::io {
namespace {

// The alternate screen, no cursor, no wrapping at the right edge; and all of it undone. The order
// matters to none of them.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J\x1b[H";
constexpr std::string_view kLeave = "\x1b[?2026l\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

constexpr std::array kTerminalSignals = {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH};
constexpr std::array kCrashes = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGQUIT};

constexpr std::size_t kMostKeys = 4096;

// Handlers of signals reach nothing else. It lives as long as the process, as they may.
struct Shared {
  termios before{};
  std::atomic<bool> is_raw = false;
  std::atomic<int> told = -1;  // the end of a pipe that is written to
  UniqueFd hears;              // and the other
  UniqueFd tells;
  std::array<struct sigaction, kTerminalSignals.size()> heard_before{};
  std::array<struct sigaction, kCrashes.size()> crashes_before{};
};
Shared& shared() {
  static Shared shared;
  return shared;
}
Shared* of_handlers = nullptr;

// Safe within a handler, as is what it calls.
void write_all(std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t size = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (size < 0 && errno == EAGAIN) {
      pollfd out{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
      ::poll(&out, 1, -1);
      continue;
    }
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
}

void leave() noexcept {
  if (!of_handlers || !of_handlers->is_raw.exchange(false)) return;
  write_all(kLeave);
  ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &of_handlers->before);
}

void enter() noexcept {
  termios raw = of_handlers->before;
  raw.c_iflag &= ~static_cast<tcflag_t>(ICRNL | IXON | INLCR | ISTRIP);
  raw.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | IEXTEN);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  of_handlers->is_raw = true;
  ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
  write_all(kEnter);
}

void tell(char what) noexcept {
  const int kept = errno;
  // A pipe that is full has enough to tell.
  [[maybe_unused]] const ssize_t size = ::write(of_handlers->told, &what, 1);
  errno = kept;
}

void on_signal(int signal) {
  tell(static_cast<char>(signal));
}

// The disposition is the default one again by now, and the signal is held until this returns.
void on_crash(int signal) {
  leave();
  ::raise(signal);
}

void hear() {
  Shared& all = shared();
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < kTerminalSignals.size(); ++i)
    ::sigaction(kTerminalSignals[i], &action, &all.heard_before[i]);
  action.sa_handler = on_crash;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (std::size_t i = 0; i < kCrashes.size(); ++i)
    ::sigaction(kCrashes[i], &action, &all.crashes_before[i]);
}

void hear_no_more() {
  const Shared& all = shared();
  for (std::size_t i = 0; i < kTerminalSignals.size(); ++i)
    ::sigaction(kTerminalSignals[i], &all.heard_before[i], nullptr);
  for (std::size_t i = 0; i < kCrashes.size(); ++i)
    ::sigaction(kCrashes[i], &all.crashes_before[i], nullptr);
}

}  // namespace

Result<Terminal> Terminal::open() {
  Shared& all = shared();
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0 ||
      ::tcgetattr(STDIN_FILENO, &all.before) != 0) {
    return fail(ErrorCode::invalid_argument, "open terminal", "this is no terminal");
  }
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    return fail_os("open terminal", "pipe", errno);
  }
  all.hears = UniqueFd(ends[0]);
  all.tells = UniqueFd(ends[1]);
  all.told = ends[1];
  of_handlers = &all;
  Terminal terminal;
  terminal.is_open_ = true;
  hear();
  enter();
  return terminal;
}

Terminal::Terminal(Terminal&& other) noexcept : is_open_(std::exchange(other.is_open_, false)) {}

Terminal::~Terminal() {
  close();
}

void Terminal::close() {
  if (!std::exchange(is_open_, false)) return;
  leave();
  hear_no_more();
}

Terminal::Size Terminal::size() const {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
    return {};
  }
  return {.columns = size.ws_col, .rows = size.ws_row};
}

void Terminal::write(std::string_view bytes) {
  write_all(bytes);
}

void Terminal::wake() noexcept {
  tell(0);
}

// As the shell expects it of a program that is stopped.
void Terminal::suspend() {
  leave();
  struct sigaction usual{};
  usual.sa_handler = SIG_DFL;
  struct sigaction ours{};
  ::sigaction(SIGTSTP, &usual, &ours);
  ::raise(SIGTSTP);  // goes on here when it is continued
  ::sigaction(SIGTSTP, &ours, nullptr);
  enter();
}

Terminal::Input Terminal::wait(Duration most) {
  Input input;
  std::array<pollfd, 2> watched = {{{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                                    {.fd = shared().hears.get(), .events = POLLIN, .revents = 0}}};
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(most);
  const int ready = ::poll(watched.data(), watched.size(), static_cast<int>(wait.count()));
  if (ready <= 0) return input;
  if (watched[0].revents != 0) {
    std::array<char, kMostKeys> keys{};
    const ssize_t size = ::read(STDIN_FILENO, keys.data(), keys.size());
    if (size > 0) input.keys.assign(keys.data(), static_cast<std::size_t>(size));
    const bool gone = size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR);
    if (gone || (watched[0].revents & (POLLHUP | POLLERR)) != 0) input.ended = true;
  }
  if (watched[1].revents == 0) return input;
  std::array<unsigned char, 64> told{};
  const ssize_t size = ::read(shared().hears.get(), told.data(), told.size());
  for (ssize_t i = 0; i < size; ++i) {
    const int signal = told[static_cast<std::size_t>(i)];
    if (signal == SIGTSTP) suspend();
    input.resized = input.resized || signal == SIGWINCH || signal == SIGTSTP;
    input.ended = input.ended || signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
    input.woken = input.woken || signal == 0;
  }
  return input;
}

}  // namespace holdfast::io
