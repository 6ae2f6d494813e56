#include "io/spawn.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/file_limit.hpp"
#include "io/os_error.hpp"

namespace holdfast::io {
namespace {

constexpr const char* kStartProgramOperation = "start program";
constexpr std::size_t kUsualPipe = std::size_t{1} << 16U;  // bytes that a new pipe takes

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

// Moves it above the three standard ones, which a process may have closed: the child's dup2 would
// otherwise overwrite one pipe with another. False: errno says why.
bool move_above_standard(UniqueFd& fd) noexcept {
  if (fd.get() > STDERR_FILENO) return true;
  const int moved = ::fcntl(fd.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (moved < 0) return false;
  fd.reset(moved);
  return true;
}

std::expected<Pipe, int> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::unexpected(errno);
  Pipe pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
  if (!move_above_standard(pipe.read) || !move_above_standard(pipe.write))
    return std::unexpected(errno);
  return pipe;
}

bool does_not_block(const UniqueFd& fd) noexcept {
  return ::fcntl(fd.get(), F_SETFL, O_NONBLOCK) == 0;
}

// A file in memory that nobody needs to execute: where vm.memfd_noexec is 2, the kernel makes no
// other. Before Linux 6.3 it does not know the flag.
UniqueFd make_memory_file() noexcept {
  constexpr unsigned kNotExecutable = 8;  // MFD_NOEXEC_SEAL
  UniqueFd file(::memfd_create("holdfast-input", MFD_CLOEXEC | kNotExecutable));
  if (!file && errno == EINVAL) file.reset(::memfd_create("holdfast-input", MFD_CLOEXEC));
  return file;
}

// A file in memory, to be read from its beginning.
std::expected<UniqueFd, int> make_file(std::string_view text) {
  UniqueFd file = make_memory_file();
  if (!file || !move_above_standard(file)) return std::unexpected(errno);
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return std::unexpected(written < 0 ? errno : EIO);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::lseek(file.get(), 0, SEEK_SET) != 0) return std::unexpected(errno);
  return file;
}

// Something that gives this text and then its end: a pipe if it can be made large enough to take
// all of it at once, as most can up to 1 MiB (/proc/sys/fs/pipe-max-size), else a file in memory.
std::expected<UniqueFd, int> make_input(std::string_view text) {
  auto pipe = make_pipe();
  if (!pipe) return std::unexpected(pipe.error());
  if (text.empty()) return std::move(pipe->read);
  if (!does_not_block(pipe->write)) return std::unexpected(errno);
  if (text.size() > kUsualPipe && text.size() <= INT_MAX) {
    // If it is not allowed, the write below takes a part.
    (void)::fcntl(pipe->write.get(), F_SETPIPE_SZ, static_cast<int>(text.size()));
  }
  const ssize_t written = ::write(pipe->write.get(), text.data(), text.size());
  if (written >= 0 && static_cast<std::size_t>(written) == text.size())
    return std::move(pipe->read);
  return make_file(text);
}

// Everything the child needs between vfork and exec, made before: it shares our memory, and may
// neither allocate nor change anything.
struct Plan {
  const char* file;
  char* const* arguments;
  char* const* environment;
  const char* folder;  // null: ours
  int input;
  int output;
  int error;
  int report;  // gets the Report of what fails; closed by the exec
  pid_t parent;
};

// What the kernel takes, which is not what sigaction takes. All zero: the default action.
struct KernelSigaction {
  void (*handler)(int) = nullptr;
  unsigned long flags = 0;
  void (*restorer)() = nullptr;
  unsigned long mask = 0;
};

// By the system call itself: the C library refuses to touch the two signals that it keeps for
// itself, and whoever was started by its posix_spawn has these ignored.
void default_signals() noexcept {
  const KernelSigaction plain{};
  for (int signal = 1; signal < NSIG; ++signal)
    ::syscall(SYS_rt_sigaction, signal, &plain, nullptr, sizeof plain.mask);
}

void close_others() noexcept {
  // Marked only, so that the report still gets out.
  if (::syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 1U << 2 /* CLOSE_RANGE_CLOEXEC */) == 0)
    return;
  // A kernel before 5.11.
  const long most = ::sysconf(_SC_OPEN_MAX);
  for (int fd = STDERR_FILENO + 1; fd < (most < 0 ? 65536 : most); ++fd)
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

struct Report {
  int error = 0;  // errno; 0: none
  bool of_folder = false;
};

// Returns only if something failed. Only async-signal-safe calls.
Report become(const Plan& plan) noexcept {
  if (::setpgid(0, 0) != 0) return {errno};
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return {errno};
  if (::getppid() != plan.parent) ::_exit(127);  // it died before that, so nobody will tell us
  if (::dup2(plan.input, STDIN_FILENO) < 0 || ::dup2(plan.output, STDOUT_FILENO) < 0 ||
      ::dup2(plan.error, STDERR_FILENO) < 0)
    return {errno};
  close_others();
  if (plan.folder && ::chdir(plan.folder) != 0) return {errno, true};
  restore_file_limit();
  default_signals();
  sigset_t none;
  ::sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  ::execve(plan.file, plan.arguments, plan.environment);
  return {errno};
}

// vfork: fork would copy the page tables of a large process for nothing. The parent stands still
// until the child has become the program or has ended. No signal may come in between: its handler
// would run in the child, on our memory.
pid_t start(const Plan& plan) noexcept {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  // NOLINTBEGIN(clang-analyzer-*,bugprone-unsafe-functions): posix_spawn cannot set the signal
  // that comes when the parent dies; what the child calls is safe, since it changes no memory.
  const pid_t pid = ::vfork();
  if (pid == 0) {
    const Report report = become(plan);
    [[maybe_unused]] const ssize_t told = ::write(plan.report, &report, sizeof report);
    ::_exit(127);
  }
  // NOLINTEND(clang-analyzer-*,bugprone-unsafe-functions)
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

std::vector<char*> pointers(std::span<const std::string> texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (const std::string& text : texts)
    all.push_back(const_cast<char*>(text.c_str()));  // exec does not change them
  all.push_back(nullptr);
  return all;
}

// What the child could not do; no error: it has become the program.
Report read_report(int fd) noexcept {
  Report report;
  ssize_t size = 0;
  do {
    size = ::read(fd, &report, sizeof report);
  } while (size < 0 && errno == EINTR);
  return size == sizeof report ? report : Report{};
}

Result<std::string> file_of(std::span<const std::string> arguments,
                            std::span<const std::string> environment) {
  if (arguments.empty() || arguments[0].empty())
    return fail(ErrorCode::invalid_argument, kStartProgramOperation, "no program is named");
  for (const auto& texts : {arguments, environment}) {
    for (const std::string& text : texts) {
      if (text.find('\0') != std::string::npos) {
        return fail(ErrorCode::invalid_argument, kStartProgramOperation,
                    arguments[0] + ": an argument or a variable has a zero byte in it");
      }
    }
  }
  if (arguments[0].contains('/')) return arguments[0];
  auto found = find_program(arguments[0], environment);
  if (!found) return fail_os(kStartProgramOperation, arguments[0], found.error());
  return *std::move(found);
}

}  // namespace

std::expected<std::string, int> find_program(const std::string& name,
                                             std::span<const std::string> environment) {
  constexpr std::string_view kPath = "PATH=";
  std::string_view path;
  for (const std::string& variable : environment)
    if (variable.starts_with(kPath)) path = std::string_view(variable).substr(kPath.size());
  int reason = ENOENT;
  while (!path.empty()) {
    const std::string_view folder = path.substr(0, path.find(':'));
    path.remove_prefix(std::min(folder.size() + 1, path.size()));
    if (folder.empty()) continue;
    std::string file = std::string(folder) + "/" + name;
    struct stat found{};
    if (::stat(file.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) continue;
    if (::access(file.c_str(), X_OK) == 0) return file;
    reason = EACCES;
  }
  return std::unexpected(reason);
}

Result<Spawned> spawn(const SpawnPlan& plan) {
  const auto file = file_of(plan.arguments, plan.environment);
  if (!file) return std::unexpected(file.error());
  const std::string& program = plan.arguments[0];

  auto input = make_input(plan.input);
  if (!input) return fail_os(kStartProgramOperation, program, input.error());
  std::array<Pipe, 3> pipes;
  for (Pipe& pipe : pipes) {
    auto made = make_pipe();
    if (!made) return fail_os(kStartProgramOperation, program, made.error());
    pipe = std::move(*made);
  }
  auto& [output, error, report] = pipes;
  const auto argument_pointers = pointers(plan.arguments);
  const auto environment_pointers = pointers(plan.environment);
  const pid_t pid = start({.file = file->c_str(),
                           .arguments = argument_pointers.data(),
                           .environment = environment_pointers.data(),
                           .folder = plan.folder.empty() ? nullptr : plan.folder.c_str(),
                           .input = input->get(),
                           .output = output.write.get(),
                           .error = error.write.get(),
                           .report = report.write.get(),
                           .parent = ::getpid()});
  if (pid < 0) return fail_os(kStartProgramOperation, program, errno);

  report.write.reset();
  const Report told = read_report(report.read.get());
  int failed = told.error;
  UniqueFd pidfd(failed != 0 ? -1 : static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (failed == 0 && !pidfd) failed = errno;
  if (failed == 0 && !(does_not_block(output.read) && does_not_block(error.read))) failed = errno;
  if (failed != 0) {
    ::kill(pid, SIGKILL);  // it is ending, or we cannot watch it
    ::waitpid(pid, nullptr, 0);
    return fail_os(kStartProgramOperation,
                   told.of_folder ? program + ": in " + plan.folder : program, failed);
  }
  return Spawned{pid, std::move(pidfd), std::move(output.read), std::move(error.read)};
}

}  // namespace holdfast::io
