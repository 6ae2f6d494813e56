#include "cli/demo_output.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "cli/demo_story.hpp"
#include "cli/text_columns.hpp"
#include "core/json_text.hpp"
#include "wire/json_writer.hpp"

namespace holdfast::cli {
namespace {

constexpr std::size_t kBarCells = 60;

struct StateLook {
  TaskState state;
  std::string_view colour;
  std::string_view cell;
};
// As the bar fills: what has ended, what is under way, what waits.
constexpr std::array<StateLook, 6> kLooks{{
    {TaskState::succeeded, "\x1b[32m", "█"},
    {TaskState::failed, "\x1b[35m", "█"},
    {TaskState::dead, "\x1b[31m", "█"},
    {TaskState::retrying, "\x1b[33m", "▓"},
    {TaskState::running, "\x1b[36m", "▓"},
    {TaskState::pending, "\x1b[37m", "▒"},
}};
constexpr std::string_view kOff = "\x1b[0m";
constexpr std::string_view kDim = "\x1b[2m";

std::string_view colour_of(TaskState state) {
  const auto* look = std::ranges::find(kLooks, state, &StateLook::state);
  return look == kLooks.end() ? std::string_view() : look->colour;
}

// Each part is as long as its share; rounded where they meet, so that all together are the whole.
std::string state_bar(const DemoMoment& moment) {
  const std::uint64_t whole = std::max<std::uint64_t>({moment.planned, moment.accepted(), 1});
  std::string out;
  std::uint64_t so_far = 0;
  std::size_t filled = 0;
  for (const StateLook& look : kLooks) {
    so_far += moment.count(look.state);
    const std::size_t end = so_far * kBarCells / whole;
    out += look.colour;
    for (; filled < end; ++filled)
      out += look.cell;
  }
  out += kOff;
  out += kDim;
  for (; filled < kBarCells; ++filled)
    out += "░";
  out += kOff;
  return out;
}

std::string numbers(const DemoMoment& moment, bool colour) {
  std::string out;
  for (const StateLook& look : kLooks) {
    const std::string text = fmt::format("{} {}", to_string(look.state), moment.count(look.state));
    if (!out.empty()) out += "  ";
    out += moment.count(look.state) == 0 ? coloured(text, kDim, colour)
                                         : coloured(text, look.colour, colour);
  }
  return out;
}

std::string row_text(const DemoRow& row) {
  return fmt::format("   {:<14}{:>6}{:>9}{:>11}{:>10}{:>6}", row.type, row.tasks, row.at_once,
                     row.recovered, row.given_up, row.dead);
}

std::string word_of(const TaskAttempt& attempt) {
  if (attempt.event == "error" && attempt.failure) {
    return std::string(to_string(attempt.failure->kind));
  }
  return attempt.event;
}

void write_rows(wire::JsonWriter& writer, const std::vector<DemoRow>& rows) {
  writer.begin_array();
  for (const DemoRow& row : rows) {
    writer.begin_object().key("type").text(row.type).key("tasks").number(row.tasks);
    writer.key("at_once").number(row.at_once).key("recovered").number(row.recovered);
    writer.key("given_up").number(row.given_up).key("dead").number(row.dead);
    writer.key("quarantined").number(row.quarantined);
    writer.key("path").text(row.path).end_object();
  }
  writer.end_array();
}

void write_counts(wire::JsonWriter& writer, const StateCounts& counts) {
  writer.begin_object();
  for (std::size_t at = 0; at < counts.size(); ++at)
    writer.key(to_string(static_cast<TaskState>(at))).number(counts[at]);
  writer.end_object();
}

}  // namespace

std::uint64_t DemoMoment::accepted() const {
  return sum(by_state);
}

bool DemoMoment::all_ended() const {
  return accepted() == planned && count(TaskState::pending) == 0 &&
         count(TaskState::running) == 0 && count(TaskState::retrying) == 0;
}

void DemoRow::add(const TaskInfo& task) {
  ++tasks;
  if (task.state == TaskState::succeeded)
    ++(task.attempts + task.crashes == 0 ? at_once : recovered);
  if (task.state == TaskState::failed) ++given_up;
  if (task.state == TaskState::dead) ++dead;
  if (task.dead_reason && needs_person(*task.dead_reason)) ++quarantined;
}

DemoRow sum_of(const std::vector<DemoRow>& rows) {
  DemoRow all{.type = "together"};
  for (const DemoRow& row : rows) {
    all.tasks += row.tasks;
    all.at_once += row.at_once;
    all.recovered += row.recovered;
    all.given_up += row.given_up;
    all.dead += row.dead;
    all.quarantined += row.quarantined;
  }
  return all;
}

bool DemoSummary::nothing_lost() const {
  return audit.readable && audit.clean() && audit.accepted == answered &&
         audit.accepted == sum(audit.present) + sum(audit.removed);
}

std::string path_of(const TaskInfo& task) {
  std::vector<std::pair<std::string, int>> steps;
  for (const TaskAttempt& attempt : task.history) {
    const std::string word = word_of(attempt);
    if (steps.empty() || steps.back().first != word) steps.emplace_back(word, 0);
    ++steps.back().second;
  }
  std::string out;
  for (const auto& [word, times] : steps) {
    out += out.empty() ? "" : ", ";
    out += times == 1 ? word : fmt::format("{} ×{}", word, times);
  }
  return out;
}

std::string live_lines(const DemoMoment& moment) {
  return fmt::format("   {} {:>5.1f}s\n   {}\n", state_bar(moment), moment.seconds,
                     numbers(moment, true));
}

std::string plain_line(const DemoMoment& moment) {
  return fmt::format("{:>6.1f}s  {}\n", moment.seconds, numbers(moment, false));
}

std::string kinds_table() {
  std::string out;
  for (const DemoKind& kind : demo_kinds())
    out += fmt::format("   {:<14}{:>6}  {}\n", kind.type, kind.count, kind.fate);
  return out;
}

std::string rows_table(const std::vector<DemoRow>& rows, bool colour) {
  std::string out = coloured(fmt::format("   {:<14}{:>6}{:>9}{:>11}{:>10}{:>6}  {}", "", "tasks",
                                         "at once", "recovered", "given up", "dead", "one of them"),
                             kDim, colour) +
                    '\n';
  for (const DemoRow& row : rows)
    out += fmt::format("{}  {}\n", row_text(row), cut(row.path, kColumns - 61));
  return out + row_text(sum_of(rows)) + '\n';
}

std::string groups_table(const std::vector<FailureGroup>& groups, bool colour) {
  std::string out;
  for (const FailureGroup& group : groups) {
    std::string example;
    append_visible(example, group.example);
    out += fmt::format(
        "   {:>6}  {}  {}\n", group.count,
        coloured(fmt::format("{:<6}", to_string(group.state)), colour_of(group.state), colour),
        cut(example, kColumns - 19));
  }
  return out;
}

std::string proof(const DemoSummary& summary, bool colour) {
  const StateCounts& present = summary.audit.present;
  std::string parts;
  for (const StateLook& look : kLooks) {
    const std::uint64_t count = present[static_cast<std::size_t>(look.state)];
    if (count == 0) continue;
    parts += fmt::format("{}{} {}", parts.empty() ? "" : " + ", count, to_string(look.state));
  }
  const bool equal = summary.audit.accepted == sum(present) + sum(summary.audit.removed);
  std::string out = fmt::format("   {} accepted {} {}\n", summary.audit.accepted, equal ? "=" : "≠",
                                parts.empty() ? "none" : parts);
  if (summary.nothing_lost())
    return out + "   " + coloured("Nothing was lost.", "\x1b[1;32m", colour) + '\n';
  out += fmt::format("   {} were answered for, and the audit has {} findings.\n", summary.answered,
                     summary.audit.found);
  return out + "   " + coloured("This must not be: something was lost.", "\x1b[1;31m", colour) +
         '\n';
}

std::string demo_json(const DemoSummary& summary) {
  std::string out;
  wire::JsonWriter writer(out);
  writer.begin_object().key("seconds").number(summary.seconds);
  writer.key("answered").number(summary.answered).key("types");
  write_rows(writer, summary.before);
  writer.key("groups").begin_array();
  for (const FailureGroup& group : summary.groups) {
    writer.begin_object().key("id").text(group.id).key("state").word(to_string(group.state));
    writer.key("count").number(group.count).key("example").text(group.example).end_object();
  }
  writer.end_array().key("replayed").begin_object();
  writer.key("group").text(summary.replayed_group).key("tasks").number(summary.replayed);
  writer.end_object().key("types_after");
  write_rows(writer, summary.after);
  writer.key("verify").begin_object().key("accepted").number(summary.audit.accepted);
  writer.key("present");
  write_counts(writer, summary.audit.present);
  writer.key("removed");
  write_counts(writer, summary.audit.removed);
  writer.key("findings").number(summary.audit.found).end_object();
  writer.key("nothing_lost").boolean(summary.nothing_lost()).end_object();
  return out + '\n';
}

}  // namespace holdfast::cli
