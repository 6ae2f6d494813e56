#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"

namespace holdfast::config {

// What is different between two configurations, in words for the log that have no secrets in them:
// `queue.mail.concurrency: 16 -> 32`, `task."scan.file": added`, `token.ci.secret: changed`.
struct Change {
  std::vector<std::string> reloaded = {};       // takes hold at once
  std::vector<std::string> needs_restart = {};  // does not until the server is started anew
  // The new configuration, but for what needs a restart, which is as it was: what holds from now
  // on, and what the next change is to be compared with.
  Config config = {};

  [[nodiscard]] bool is_empty() const { return reloaded.empty() && needs_restart.empty(); }
};

// For SIGHUP. The content of the certificate and its key is not looked at: read these files again
// whatever this says.
[[nodiscard]] Change diff(const Config& old, const Config& now);

}  // namespace holdfast::config
