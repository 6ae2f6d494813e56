#pragma once

#include <optional>
#include <string>
#include <vector>

#include <holdfast/client.hpp>
#include <holdfast/result.hpp>

#include "cli/connect.hpp"
#include "cli/decide.hpp"

namespace CLI {
class App;
}

// The parts of `holdfast dead`, which stand in files of their own.
namespace holdfast::cli {

struct DeadOptions {
  Target target;
  ListOptions list;
  std::vector<std::string> ids;
  bool all = false;
  bool dry_run = false;
  bool yes = false;
  bool insist = false;
  bool json = false;
  std::string rate;
  bool canary = false;
  std::string stop_at;
  bool keep_attempts = false;
  bool detach = false;
  std::string reason;
  std::string file;
  bool force = false;    // export: replace the file
  bool discard = false;  // export: discard what is in the file by then
  std::string payload;   // edit: in place of an editor
  std::string to_queue;  // edit: where to, in place of where it was
  std::string to_type;   // edit: likewise
  bool raw = false;      // edit: need not be JSON though it was
};

// What one says of which dead letters: ids, a filter, or all.
[[nodiscard]] bool says_which(const DeadOptions& options);
[[nodiscard]] Result<std::vector<TaskId>> find_dead(Client& client, const DeadOptions& options,
                                                    Io& io);
// Tasks a second; nothing: as fast as it goes. "50", "50/s", "600/m".
[[nodiscard]] Result<std::optional<double>> parse_rate(const std::string& text);

// From 0 to 1; "10%", "0.1".
[[nodiscard]] Result<std::optional<double>> parse_share(const std::string& text);

int decide_dead(const DeadOptions& options, Io& io, Fate fate);
int export_dead(const DeadOptions& options, Io& io);
int import_dead(const DeadOptions& options, Io& io);
int edit_dead(const DeadOptions& options, Io& io);

}  // namespace holdfast::cli
