#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/client.hpp>
#include <holdfast/result.hpp>

#include "cli/connect.hpp"
#include "cli/io.hpp"

namespace CLI {
class App;
}

// What the verbs that look for tasks and decide about them have in common.
namespace holdfast::cli {

struct ListOptions {
  std::string state = {};
  std::string queue = {};
  std::string type = {};
  std::string group = {};
  std::string where = {};  // a query
  std::size_t limit = 0;   // 0: what the verb holds for right
};

// Adds --where, --state, --queue, --type, --group and --limit.
void add_filter(CLI::App& verb, ListOptions& options, const std::string& states);

// A filter for each state that is looked through. Fails with invalid_argument.
[[nodiscard]] Result<std::vector<TaskFilter>> filters_of(const ListOptions& options,
                                                         std::vector<TaskState> unless_given);

// Calls `take(TaskInfo)` for each that matches, until it says false. Pages are asked for as needed.
template <class Take>
[[nodiscard]] Result<void> for_each_task(Client& client, std::span<const TaskFilter> filters,
                                         Take take) {
  for (TaskFilter filter : filters) {
    do {
      auto page = client.list(filter);
      if (!page) return std::unexpected(std::move(page).error());
      for (const TaskInfo& task : page->tasks) {
        if (!take(task)) return {};
      }
      filter.cursor = std::move(page->next);
    } while (!filter.cursor.empty());
  }
  return {};
}

// `unless_given`: the states to look through; none: all tasks.
int list_tasks(Io& io, const std::string& verb, const Target& target, const ListOptions& options,
               bool json, const std::vector<TaskState>& unless_given = {});

[[nodiscard]] Result<TaskId> parse_id(const std::string& text);
[[nodiscard]] Result<std::vector<TaskId>> parse_ids(std::span<const std::string> texts);

enum class Fate : std::uint8_t { cancel, replay, discard };

// What became of those that were decided about.
struct Tally {
  struct Kept {
    std::uint64_t count = 0;
    std::vector<TaskId> examples = {};
  };
  std::uint64_t done = 0;
  std::uint64_t kept = 0;
  std::map<std::string, Kept> reasons = {};
  std::vector<std::pair<TaskId, std::string>> each = {};  // that was kept; the first thousand

  void keep(TaskId id, const Error& error);
};

// Where there are more, they are carried out in parts.
inline constexpr std::size_t kDecisionsAtOnce = 500;

struct Decision {
  bool insist = false;      // of a replay
  std::string reason = {};  // of a discard
};
[[nodiscard]] Result<void> carry_out(Client& client, std::span<const TaskId> ids, Fate fate,
                                     const Decision& decision, Tally& tally);

// Says it and gives the exit code: 3 if something was kept as it is.
int report(Io& io, const Tally& tally, Fate fate, bool json);

}  // namespace holdfast::cli
