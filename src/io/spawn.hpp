#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include <holdfast/result.hpp>

#include "io/unique_fd.hpp"

namespace holdfast::io {

// Our ends of what connects us to a process that was started. They do not block.
struct Spawned {
  pid_t pid = 0;
  UniqueFd pidfd;
  UniqueFd output;  // to read
  UniqueFd error;   // to read
};

struct SpawnPlan {
  std::span<const std::string> arguments;
  std::span<const std::string> environment;
  const std::string& folder;
  // Its standard input. It is there whole before the program starts: if we die, the program may run
  // for a moment before it is killed, and must not take the part that it got for the whole.
  std::string_view input;
};

// Starts a program as ChildProcess promises it. It must be waited for.
[[nodiscard]] Result<Spawned> spawn(const SpawnPlan& plan);

// The file of a program without a slash in its name: the first in the PATH of `environment` that
// can be executed. An empty part of the PATH is no place to look in. The errno of the best reason
// if there is none: EACCES if one is there that we may not execute, or ENOENT.
[[nodiscard]] std::expected<std::string, int> find_program(
    const std::string& name, std::span<const std::string> environment);

}  // namespace holdfast::io
