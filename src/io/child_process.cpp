#include "io/child_process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <tuple>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <poll.h>
#include <sys/wait.h>

#include "io/loop.hpp"
#include "io/os_error.hpp"
#include "io/spawn.hpp"

namespace asio = boost::asio;

namespace holdfast::io {
namespace {

using Descriptor = asio::posix::stream_descriptor;

// How long the end of a loop waits for children that it had to kill.
constexpr int kReapWaitMs = 1000;

bool is_for_later(int error) noexcept {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

// The end of what is added to it, at least `kept` bytes of it and less than twice that.
class Tail {
 public:
  explicit Tail(std::size_t kept) : kept_(kept) {}

  void add(std::string_view more) {
    text_.append(more);
    if (text_.size() > 2 * kept_) cut();
  }

  [[nodiscard]] std::string take() {
    if (text_.size() > kept_) cut();
    return std::move(text_);
  }
  [[nodiscard]] bool was_cut() const noexcept { return was_cut_; }

 private:
  void cut() {
    text_.erase(0, text_.size() - kept_);
    was_cut_ = true;
    // Not amid a character.
    std::size_t amid = 0;
    while (amid < 3 && amid < text_.size() && (text_[amid] & 0xC0) == 0x80)
      ++amid;
    text_.erase(0, amid);
  }

  const std::size_t kept_;
  std::string text_;
  bool was_cut_ = false;
};

}  // namespace

// Kept alive by what it waits for, until the child is reaped: also when nobody wants to know.
class ChildProcess::Running : public std::enable_shared_from_this<Running> {
 public:
  Running(Loop& loop, ChildCommand command, Done done)
      : loop_(loop),
        command_(std::move(command)),
        done_(std::move(done)),
        pidfd_(loop.context()),
        output_(loop.context()),
        error_(loop.context()),
        tail_(command_.kept_error_bytes) {}

  // Only when the loop itself is destroyed amid its run.
  ~Running() {
    if (pid_ == 0) return;
    signal_group(SIGKILL);
    pollfd ended{.fd = pidfd_.native_handle(), .events = POLLIN, .revents = 0};
    if (::poll(&ended, 1, kReapWaitMs) > 0) ::waitpid(pid_, nullptr, WNOHANG);
  }

  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  [[nodiscard]] Result<void> start() {
    auto spawned = spawn({.arguments = command_.arguments,
                          .environment = command_.environment,
                          .folder = command_.folder,
                          .input = command_.input});
    if (!spawned) return std::unexpected(std::move(spawned.error()));
    command_.input = std::string();
    boost::system::error_code error;
    take(pidfd_, spawned->pidfd, error);
    take(output_, spawned->output, error);
    take(error_, spawned->error, error);
    if (error) {
      ::kill(-spawned->pid, SIGKILL);
      ::waitpid(spawned->pid, nullptr, 0);
      return fail_os("start program", command_.arguments[0], error.value());
    }
    pid_ = spawned->pid;
    begin();
    return {};
  }

  void terminate() {
    if (pid_ == 0) return;
    was_stopped_ = true;
    end_softly();
  }

  void kill() {
    if (pid_ == 0) return;
    was_stopped_ = true;
    signal_group(SIGKILL);
  }

  void abandon() {
    done_ = nullptr;
    kill();
  }

  [[nodiscard]] int pid() const noexcept { return pid_; }

 private:
  static void take(Descriptor& into, UniqueFd& fd, boost::system::error_code& error) {
    if (error) return;
    // NOLINTNEXTLINE(bugprone-unused-return-value): Asio returns what it has written to `error`.
    into.assign(fd.get(), error);
    if (!error) std::ignore = fd.release();
  }

  void begin() {
    pidfd_.async_wait(Descriptor::wait_read,
                      [self = shared_from_this()](const boost::system::error_code& error) {
                        if (!error) self->exited();
                      });
    wait_for(output_, &Running::take_output);
    wait_for(error_, &Running::take_error);
  }

  // Safe only before the child is reaped: as long as its id is its own, so is that of its group.
  // The child by itself, too: it may have left its group.
  void signal_group(int signal) noexcept {
    ::kill(-pid_, signal);
    ::kill(pid_, signal);
  }

  void end_softly() {
    if (grace_) return;
    signal_group(SIGTERM);
    grace_ = loop_.after(command_.grace, [this] { signal_group(SIGKILL); });
  }

  void wait_for(Descriptor& from, void (Running::*take)(std::string_view)) {
    from.async_wait(Descriptor::wait_read, [self = shared_from_this(), &from,
                                            take](const boost::system::error_code& error) {
      if (!error && from.is_open()) self->read(from, take);
    });
  }

  // One piece, so that a child that never stops printing lets others have their turn.
  void read(Descriptor& from, void (Running::*take)(std::string_view)) {
    std::array<char, std::size_t{64} << 10> buffer;
    const ssize_t size = ::read(from.native_handle(), buffer.data(), buffer.size());
    if (size > 0) (this->*take)({buffer.data(), static_cast<std::size_t>(size)});
    if (size > 0 || (size < 0 && is_for_later(errno))) {
      wait_for(from, take);
      return;
    }
    from.close();
    finish_if_drained();
  }

  void take_output(std::string_view text) {
    const std::size_t room = command_.most_output_bytes - output_text_.size();
    output_text_.append(text.substr(0, room));
    if (text.size() <= room || output_was_too_long_) return;
    output_was_too_long_ = true;
    end_softly();
  }

  void take_error(std::string_view text) { tail_.add(text); }

  void exited() {
    has_exited_ = true;
    drain_ = loop_.after(command_.drain, [this] { finish(); });
    finish_if_drained();
  }

  void finish_if_drained() {
    if (has_exited_ && !output_.is_open() && !error_.is_open()) finish();
  }

  void finish() {
    const auto self = shared_from_this();  // what waits for us goes now
    signal_group(SIGKILL);
    ChildEnd end;
    reap(end);
    for (Descriptor* descriptor : {&pidfd_, &output_, &error_})
      if (descriptor->is_open()) descriptor->close();
    drain_.reset();
    grace_.reset();
    end.output = std::move(output_text_);
    end.error_tail = tail_.take();
    end.error_was_longer = tail_.was_cut();
    end.output_was_too_long = output_was_too_long_;
    end.was_stopped = was_stopped_;
    if (auto done = std::exchange(done_, nullptr)) done(std::move(end));
  }

  void reap(ChildEnd& end) {
    int status = 0;
    if (::waitpid(std::exchange(pid_, 0), &status, WNOHANG) <= 0) return;
    if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  }

  Loop& loop_;
  ChildCommand command_;
  Done done_;
  pid_t pid_ = 0;  // 0: not started, or reaped
  Descriptor pidfd_;
  Descriptor output_;
  Descriptor error_;
  std::string output_text_;
  Tail tail_;
  bool output_was_too_long_ = false;
  bool was_stopped_ = false;
  bool has_exited_ = false;
  std::unique_ptr<ports::Loop::Timer> grace_;
  std::unique_ptr<ports::Loop::Timer> drain_;
};

ChildProcess::ChildProcess(std::shared_ptr<Running> running) : running_(std::move(running)) {}

ChildProcess::~ChildProcess() {
  if (running_) running_->abandon();
}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(running_, other.running_);
  return *this;
}

Result<ChildProcess> ChildProcess::start(Loop& loop, ChildCommand command, Done done) {
  auto running = std::make_shared<Running>(loop, std::move(command), std::move(done));
  if (auto started = running->start(); !started) return std::unexpected(started.error());
  return ChildProcess(std::move(running));
}

void ChildProcess::terminate() {
  if (running_) running_->terminate();
}

void ChildProcess::kill() {
  if (running_) running_->kill();
}

int ChildProcess::pid() const noexcept {
  return running_ ? running_->pid() : 0;
}

}  // namespace holdfast::io
