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
  std::string file;
  bool force = false;    // export: replace the file
  bool discard = false;  // export: discard what is in the file by then
  std::string payload;   // edit: in place of an editor
};

// What one says of which dead letters: ids, a filter, or all.
[[nodiscard]] bool says_which(const DeadOptions& options);
[[nodiscard]] Result<std::vector<TaskId>> find_dead(Client& client, const DeadOptions& options,
                                                    Io& io);
// Tasks a second; nothing: as fast as it goes. "50", "50/s", "600/m".
[[nodiscard]] Result<std::optional<double>> parse_rate(const std::string& text);

int decide_dead(const DeadOptions& options, Io& io, Fate fate);
int export_dead(const DeadOptions& options, Io& io);
int import_dead(const DeadOptions& options, Io& io);
int edit_dead(const DeadOptions& options, Io& io);

}  // namespace holdfast::cli
