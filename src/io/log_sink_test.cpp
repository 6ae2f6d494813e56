#include "io/log_sink.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <span>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include <holdfast/log.hpp>

namespace holdfast::log_sink_test {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kTime{1772368496789ms};  // 2026-03-01T12:34:56.789Z

LogRecord record_of(std::string_view message, std::span<const Field> fields = {}) {
  return {kTime, Level::warning, "retry.wait", message, fields};
}

std::string json_line(std::string_view message) {
  return R"({"time":"2026-03-01T12:34:56.789Z","level":"warning","event":"retry.wait","message":")" +
         std::string(message) + "\"}\n";
}

std::string read_some(int fd) {
  std::array<char, 65536> buffer{};
  const ssize_t size = ::read(fd, buffer.data(), buffer.size());
  return size > 0 ? std::string(buffer.data(), static_cast<std::size_t>(size)) : std::string();
}

class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe2(ends_.data(), O_CLOEXEC), 0); }
  ~Pipe() {
    close_reader();
    ::close(ends_[1]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  [[nodiscard]] int reader() const { return ends_[0]; }
  [[nodiscard]] int writer() const { return ends_[1]; }
  void close_reader() {
    if (ends_[0] >= 0) ::close(ends_[0]);
    ends_[0] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

// A terminal whose other side the test reads, byte for byte.
class Terminal {
 public:
  Terminal() : master_(::posix_openpt(O_RDWR | O_NOCTTY)) {
    EXPECT_GE(master_, 0);
    EXPECT_EQ(::grantpt(master_), 0);
    EXPECT_EQ(::unlockpt(master_), 0);
    std::array<char, 128> name{};
    EXPECT_EQ(::ptsname_r(master_, name.data(), name.size()), 0);
    slave_ = ::open(name.data(), O_RDWR | O_NOCTTY);
    EXPECT_GE(slave_, 0);
    termios settings{};
    EXPECT_EQ(::tcgetattr(slave_, &settings), 0);
    ::cfmakeraw(&settings);  // "\n" stays "\n"
    EXPECT_EQ(::tcsetattr(slave_, TCSANOW, &settings), 0);
  }
  ~Terminal() {
    ::close(slave_);
    ::close(master_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  [[nodiscard]] int fd() const { return slave_; }
  [[nodiscard]] std::string read() const { return read_some(master_); }

 private:
  int master_;
  int slave_ = -1;
};

// Sets (or, with null, unsets) an environment variable until the end of the test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = ::getenv(name)) before_ = before;
    value ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(LogStyle, is_json_unless_on_a_terminal_and_coloured_unless_unwanted) {
  EXPECT_EQ(choose_log_style(false, nullptr, "xterm"), LogStyle::json);
  EXPECT_EQ(choose_log_style(true, nullptr, "xterm"), LogStyle::colour_console);
  EXPECT_EQ(choose_log_style(true, "", "xterm"), LogStyle::colour_console);
  EXPECT_EQ(choose_log_style(true, "1", "xterm"), LogStyle::console);
  EXPECT_EQ(choose_log_style(true, nullptr, "dumb"), LogStyle::console);
  EXPECT_EQ(choose_log_style(true, nullptr, nullptr), LogStyle::console);
}

TEST(FdSink, writes_json_lines_into_a_pipe) {
  const Pipe pipe;
  FdSink sink(pipe.writer());
  EXPECT_EQ(sink.style(), LogStyle::json);
  sink.write(record_of("one"));
  sink.write(record_of("two"));
  EXPECT_EQ(read_some(pipe.reader()), json_line("one") + json_line("two"));
  EXPECT_EQ(sink.dropped(), 0U);
}

TEST(FdSink, writes_coloured_columns_on_a_terminal) {
  const Variable no_color("NO_COLOR", nullptr);
  const Variable term("TERM", "xterm");
  const Terminal terminal;
  FdSink sink(terminal.fd());
  sink.write(record_of("one"));
  EXPECT_EQ(terminal.read(),
            "\x1b[2m12:34:56.789\x1b[0m \x1b[33mwarning\x1b[0m  "
            "\x1b[36mretry.wait\x1b[0m           one\n");
}

TEST(FdSink, honours_no_color) {
  const Variable no_color("NO_COLOR", "1");
  const Variable term("TERM", "xterm");
  const Terminal terminal;
  FdSink sink(terminal.fd());
  sink.write(record_of("one"));
  EXPECT_EQ(terminal.read(), "12:34:56.789 warning  retry.wait           one\n");
}

TEST(FdSink, a_message_cannot_drive_the_terminal) {
  const Variable no_color("NO_COLOR", "1");
  const Terminal terminal;
  FdSink sink(terminal.fd());
  sink.write(record_of("\x1b[2J\nforged line"));
  EXPECT_EQ(terminal.read(),
            "12:34:56.789 warning  retry.wait           \\u001b[2J\\nforged line\n");
}

TEST(FdSink, drops_and_counts_what_cannot_be_written_and_keeps_errno) {
  FdSink closed(-1, LogStyle::json);
  errno = ENOENT;
  closed.write(record_of("lost"));
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(closed.dropped(), 1U);
}

TEST(FdSink, a_pipe_that_nobody_reads_any_more_costs_only_the_record) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  pipe.close_reader();
  FdSink sink(pipe.writer());
  sink.write(record_of("lost"));
  EXPECT_EQ(sink.dropped(), 1U);
  (void)std::signal(SIGPIPE, before);
}

TEST(FdSink, a_line_cut_short_does_not_swallow_the_next_one) {
  const Pipe pipe;
  ASSERT_EQ(::fcntl(pipe.writer(), F_SETFL, O_NONBLOCK), 0);
  ASSERT_GT(::fcntl(pipe.writer(), F_SETPIPE_SZ, 4096), 0);
  FdSink sink(pipe.writer(), LogStyle::json, 0ms);
  const std::string large(8000, 'x');  // more than the pipe holds, and nobody reads
  sink.write(record_of(large));
  EXPECT_EQ(sink.dropped(), 1U);
  const std::string torn = read_some(pipe.reader());
  EXPECT_EQ(torn, json_line(large).substr(0, torn.size()));
  sink.write(record_of("whole"));
  EXPECT_EQ(read_some(pipe.reader()), "\n" + json_line("whole"));
  EXPECT_EQ(sink.dropped(), 1U);
}

TEST(StderrLog, is_one_sink_that_a_logger_can_use) {
  EXPECT_EQ(&stderr_log(), &stderr_log());
  ::testing::internal::CaptureStderr();
  const Logger logger(stderr_log());
  logger.log(Level::info, "test.event", "Hello", {{"n", 1}});
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("test.event"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::log_sink_test
