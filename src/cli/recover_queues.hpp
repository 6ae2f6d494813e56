#pragma once

#include <string>
#include <vector>

#include <holdfast/result.hpp>

#include "cli/io.hpp"
#include "server/recover.hpp"

namespace holdfast::cli {

// Whether the URLs are of several queues: more than one of them, or a pattern. Fails with
// invalid_argument.
[[nodiscard]] Result<bool> are_several(const std::vector<std::string>& urls);

struct SeveralQueues {
  std::vector<std::string> urls;          // of queues, and patterns
  server::RecoverSettings settings = {};  // of each, all but its URL
  bool json = false;
};

// Recovers queues, one after the other, each as if it were the only one; what becomes of one does
// not stop the others. A time limit and a limit of messages are those of all of them together.
// Returns the exit code, which is the worst of all.
[[nodiscard]] int recover_queues(SeveralQueues asked, Io& io);

// The exit code of a run that has ended.
[[nodiscard]] int exit_code_of(const recovery::Summary& summary);

}  // namespace holdfast::cli
