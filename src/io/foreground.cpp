#include "io/foreground.hpp"

#include <cerrno>
#include <vector>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/os_error.hpp"

namespace holdfast::io {

Result<int> run_in_foreground(std::span<const std::string> words) {
  if (words.empty()) return fail(ErrorCode::invalid_argument, "run", "no program is named");
  std::vector<std::string> copies(words.begin(), words.end());
  std::vector<char*> arguments;
  arguments.reserve(copies.size() + 1);
  for (std::string& word : copies)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, arguments[0], nullptr, nullptr, arguments.data(), environ);
  if (error != 0) return fail_os("run", copies[0], error);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return fail_os("run", copies[0], errno);
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace holdfast::io
