#pragma once

#include <holdfast/clock.hpp>

#include "cli/io.hpp"

namespace holdfast::cli {

struct DemoOptions {
  bool json = false;  // nothing but the summary, as one JSON object
  bool fast = false;  // no waits but those that are needed
};

// The story of a bad day, told by a server in this process. Returns an exit code: kDone only if the
// file accounts for every task that was accepted.
[[nodiscard]] int run_demo(Io& io, const DemoOptions& options, Clock& clock);

}  // namespace holdfast::cli
