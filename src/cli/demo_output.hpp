#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/task.hpp>

#include "cli/state_counts.hpp"
#include "ports/records.hpp"

// How `holdfast demo` looks: from what the store says to text of at most 80 columns.
namespace holdfast::cli {

// Where all tasks stand at one moment.
struct DemoMoment {
  double seconds = 0;         // since the beginning
  std::uint64_t planned = 0;  // tasks that will have been handed in
  StateCounts by_state = {};

  [[nodiscard]] std::uint64_t accepted() const;
  [[nodiscard]] std::uint64_t count(TaskState state) const {
    return by_state[static_cast<std::size_t>(state)];
  }
  [[nodiscard]] bool all_ended() const;
};

// What became of the tasks of one type.
struct DemoRow {
  std::string type = {};
  std::uint64_t tasks = 0;
  std::uint64_t at_once = 0;    // succeeded at the first attempt
  std::uint64_t recovered = 0;  // succeeded after failures
  std::uint64_t given_up = 0;
  std::uint64_t dead = 0;
  std::uint64_t quarantined = 0;  // of those: only a person who insists brings them back
  std::string path = {};          // how one of them went: "timeout ×3"

  void add(const TaskInfo& task);
};
[[nodiscard]] DemoRow sum_of(const std::vector<DemoRow>& rows);

struct DemoSummary {
  double seconds = 0;
  std::uint64_t answered = 0;             // tasks that the server said it has accepted
  std::vector<DemoRow> before = {};       // the repair
  std::vector<FailureGroup> groups = {};  // likewise
  std::string replayed_group = {};
  std::uint64_t replayed = 0;
  std::vector<DemoRow> after = {};
  ports::AuditReport audit = {};

  // Whether every task that was answered for is in the file, and nothing in it is odd.
  [[nodiscard]] bool nothing_lost() const;
};

// "error ×2, success": the ends of all attempts.
[[nodiscard]] std::string path_of(const TaskInfo& task);

// Two lines for a terminal that takes colours; bar and numbers.
[[nodiscard]] std::string live_lines(const DemoMoment& moment);
// The same numbers as one plain line.
[[nodiscard]] std::string plain_line(const DemoMoment& moment);

[[nodiscard]] std::string kinds_table();
[[nodiscard]] std::string rows_table(const std::vector<DemoRow>& rows, bool colour);
[[nodiscard]] std::string groups_table(const std::vector<FailureGroup>& groups, bool colour);
[[nodiscard]] std::string proof(const DemoSummary& summary, bool colour);

[[nodiscard]] std::string demo_json(const DemoSummary& summary);  // one line

}  // namespace holdfast::cli
