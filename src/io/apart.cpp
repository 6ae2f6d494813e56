#include "io/apart.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <string>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/os_error.hpp"
#include "io/unique_fd.hpp"

namespace holdfast::io {
namespace {

constexpr const char* kRunApartOperation = "run apart";

std::unexpected<Error> system_error(const char* what) {
  return fail_os(kRunApartOperation, what, errno);
}

void write_all(int file, const void* data, std::size_t size) {
  const char* place = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(file, place, size);
    if (written <= 0) return;
    place += written;
    size -= static_cast<std::size_t>(written);
  }
}

// A byte that says whether it went well; then the numbers, or the error's text.
[[noreturn]] void be_the_child(int out, const std::function<Result<std::vector<double>>()>& work) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const auto result = work();
  const char good = result ? 1 : 0;
  write_all(out, &good, 1);
  if (result) {
    write_all(out, result->data(), result->size() * sizeof(double));
  } else {
    const std::string text = result.error().text();
    write_all(out, text.data(), text.size());
  }
  ::_exit(0);
}

// All that the child says; nothing if `stop` can be read from first.
std::optional<std::string> read_all(int file, int stop) {
  std::string text;
  char part[4096];
  while (true) {
    pollfd both[] = {{.fd = file, .events = POLLIN, .revents = 0},
                     {.fd = stop, .events = POLLIN, .revents = 0}};
    if (::poll(both, 2, -1) < 0 && errno != EINTR) return text;
    if ((both[1].revents & POLLIN) != 0) return std::nullopt;
    if (both[0].revents == 0) continue;
    const ssize_t size = ::read(file, part, sizeof part);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return text;
    text.append(part, static_cast<std::size_t>(size));
  }
}

}  // namespace

Result<std::vector<double>> run_apart(const std::function<Result<std::vector<double>>()>& work,
                                      const HeldSignals* held) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("pipe");
  const UniqueFd in(ends[0]);
  UniqueFd out(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return system_error("fork");
  if (child == 0) be_the_child(out.get(), work);
  out.reset();
  const std::optional<std::string> told = read_all(in.get(), held ? held->file() : -1);
  if (!told) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!told) return fail(ErrorCode::canceled, kRunApartOperation, "stopped by a signal");
  if (told->empty() || !WIFEXITED(status)) {
    return fail(ErrorCode::internal, kRunApartOperation,
                "the process ended before it had a result");
  }
  if (told->front() == 0) return fail(ErrorCode::internal, kRunApartOperation, told->substr(1));
  std::vector<double> numbers((told->size() - 1) / sizeof(double));
  if (numbers.empty()) return numbers;
  std::memcpy(numbers.data(), told->data() + 1, numbers.size() * sizeof(double));
  return numbers;
}

}  // namespace holdfast::io
