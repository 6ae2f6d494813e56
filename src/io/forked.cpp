#include "io/forked.hpp"

#include <cerrno>
#include <csignal>

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/file_limit.hpp"
#include "io/os_error.hpp"

namespace holdfast::io {
namespace {

constexpr const char* kForkOperation = "fork";

std::unexpected<Error> has_died() {
  return fail(ErrorCode::internal, kForkOperation, "the other process has died");
}

// `move(at, left)` as send() and recv() answer.
bool move_all(std::size_t size, auto move) {
  std::size_t at = 0;
  while (at < size) {
    const ssize_t moved = move(at, size - at);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return false;
    at += static_cast<std::size_t>(moved);
  }
  return true;
}

}  // namespace

bool send_all(int channel, const void* data, std::size_t size) {
  const char* const from = static_cast<const char*>(data);
  return move_all(size, [&](std::size_t at, std::size_t left) {
    return ::send(channel, from + at, left, MSG_NOSIGNAL);
  });
}

bool receive_all(int channel, void* data, std::size_t size) {
  char* const to = static_cast<char*>(data);
  return move_all(
      size, [&](std::size_t at, std::size_t left) { return ::recv(channel, to + at, left, 0); });
}

Result<Forked> Forked::start(const std::function<void(int channel)>& work) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail_os(kForkOperation, "socketpair", errno);
  }
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return fail_os(kForkOperation, "fork", errno);
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ours.reset();
    raise_file_limit();
    work(theirs.get());
    ::_exit(0);
  }
  return Forked(pid, std::move(ours));
}

Forked::~Forked() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  join();
}

void Forked::join() {
  if (pid_ < 0) return;
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

Result<void> Forked::hear(void* to, std::size_t size) const {
  if (receive_all(channel_.get(), to, size)) return {};
  return has_died();
}

Result<void> Forked::tell(const void* from, std::size_t size) const {
  if (send_all(channel_.get(), from, size)) return {};
  return has_died();
}

}  // namespace holdfast::io
