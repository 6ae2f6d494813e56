#include "cli/task_output.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <ostream>
#include <utility>

#include <fmt/format.h>

#include "cli/text_columns.hpp"
#include "core/time_text.hpp"
#include "core/units.hpp"
#include "core/utf8.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kGap = 2;
constexpr std::size_t kFieldIndent = 12;
constexpr std::size_t kShownPayloadBytes = 4096;
constexpr std::size_t kBarColumns = 30;

// In its two largest units at most: nobody reads "3d4h12m7s" at 3 a.m.
std::string rough(Duration span) {
  using std::chrono::duration_cast;
  if (span < 1s) return fmt::format("{}ms", duration_cast<std::chrono::milliseconds>(span).count());
  const auto seconds = duration_cast<std::chrono::seconds>(span).count();
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3600) return fmt::format("{}m", seconds / 60);
  if (seconds < 86400) {
    const auto minutes = seconds % 3600 / 60;
    return minutes == 0 ? fmt::format("{}h", seconds / 3600)
                        : fmt::format("{}h{}m", seconds / 3600, minutes);
  }
  return fmt::format("{}d", seconds / 86400);
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  std::string wrapped;
  append_wrapped(wrapped, visible(value), kFieldIndent);
  wrapped.replace(0, std::min(name.size(), kFieldIndent), name);
  out += wrapped;
}

std::string failure_text(const Failure& failure) {
  std::string text = failure.message;
  if (failure.http_status) text += fmt::format(" (HTTP {})", *failure.http_status);
  if (failure.exit_code) text += fmt::format(" (exit code {})", *failure.exit_code);
  if (failure.kind == FailureKind::crash) text += " (crash)";
  return text;
}

std::string spent_text(const TaskInfo& task) {
  std::string text = fmt::format("{} attempts", task.attempts);
  if (task.crashes > 0) text += fmt::format(", {} crashes", task.crashes);
  if (task.deferrals > 0) text += fmt::format(", put off {} times", task.deferrals);
  if (task.replays > 0) text += fmt::format(", brought back {} times", task.replays);
  return text;
}

std::string bytes_for_people(std::string_view bytes) {
  if (bytes.empty()) return "none\n";
  if (!is_utf8(bytes)) return fmt::format("{} bytes that are no text\n", bytes.size());
  std::string out;
  std::string_view left = utf8_prefix(bytes, kShownPayloadBytes);
  while (!left.empty()) {
    const std::size_t end = left.find('\n');
    out += std::string(4, ' ') + visible(left.substr(0, end)) + '\n';
    left.remove_prefix(end == left.npos ? left.size() : end + 1);
  }
  if (bytes.size() > kShownPayloadBytes) {
    out += fmt::format("    … {} bytes in all; --json shows the rest\n", bytes.size());
  }
  return "\n" + out;
}

void append_history(std::string& out, const TaskInfo& task, WallTime now, bool colour) {
  if (task.history.empty()) return;
  out += "\nAttempts, oldest first:\n";
  for (const TaskAttempt& attempt : task.history) {
    const bool good = attempt.event == "success" || attempt.event == "already done";
    const std::string event = toned(fmt::format("{:<12}", attempt.event),
                                    good              ? Tone::good
                                    : attempt.failure ? Tone::bad
                                                      : Tone::plain,
                                    colour);
    out += fmt::format("  {}{}, took {}, token {}\n", event, relative_time(attempt.started, now),
                       rough(std::max(attempt.ended - attempt.started, Duration::zero())),
                       attempt.token);
    if (attempt.failure) append_wrapped(out, visible(failure_text(*attempt.failure)), 14);
    append_wrapped(out, "by " + visible(attempt.owner), 14);
  }
}

}  // namespace

std::string relative_time(WallTime time, WallTime now) {
  if (time > now) {
    return time - now < 1s ? "now" : "in " + rough(time - now);
  }
  return now - time < 1s ? "now" : rough(now - time) + " ago";
}

std::string full_time(WallTime time, WallTime now) {
  std::string text;
  append_rfc3339(text, time);
  return fmt::format("{} {} UTC ({})", text.substr(0, 10), text.substr(11, 8),
                     relative_time(time, now));
}

Tone tone_of(TaskState state) {
  switch (state) {
    case TaskState::succeeded: return Tone::good;
    case TaskState::failed:
    case TaskState::dead: return Tone::bad;
    case TaskState::retrying: return Tone::waiting;
    case TaskState::canceled: return Tone::faint;
    default: return Tone::plain;
  }
}

std::string toned(std::string_view text, Tone tone, bool colour) {
  constexpr std::array<std::string_view, 5> kCodes = {"", "\x1b[32m", "\x1b[31m", "\x1b[33m",
                                                      "\x1b[2m"};
  if (!colour || tone == Tone::plain) return std::string(text);
  return fmt::format("{}{}\x1b[0m", kCodes[static_cast<std::size_t>(tone)], text);
}

Table::Table(std::vector<std::string> headings) : headings_(std::move(headings)) {}

void Table::add(std::vector<Cell> row) {
  for (Cell& cell : row)
    cell.text = visible(cell.text);
  rows_.push_back(std::move(row));
}

std::string Table::text(bool colour) const {
  std::vector<std::size_t> widths;
  for (std::size_t at = 0; at < headings_.size(); ++at) {
    std::size_t width = columns_of(headings_[at]);
    for (const auto& row : rows_)
      width = std::max(width, columns_of(row[at].text));
    widths.push_back(width);
  }
  // Names may be long: what comes last is worth as much.
  constexpr std::size_t kWidest = 36;
  std::size_t left = kColumns;
  for (std::size_t at = 0; at < widths.size(); ++at) {
    const bool is_last = at + 1 == widths.size();
    widths[at] = is_last ? left : std::min(widths[at], kWidest);
    left -= std::min(left, widths[at] + kGap);
  }
  std::string out;
  const auto add = [&](std::string_view text, std::size_t at, Tone tone) {
    const bool is_last = at + 1 == widths.size();
    const std::string shown = cut(text, std::max<std::size_t>(widths[at], 1));
    out += toned(shown, tone, colour);
    if (!is_last) out.append(widths[at] + kGap - columns_of(shown), ' ');
  };
  const auto end_line = [&] {
    while (out.ends_with(' '))
      out.pop_back();
    out += '\n';
  };
  for (std::size_t at = 0; at < headings_.size(); ++at)
    add(headings_[at], at, Tone::faint);
  end_line();
  for (const auto& row : rows_) {
    for (std::size_t at = 0; at < row.size(); ++at)
      add(row[at].text, at, row[at].tone);
    end_line();
  }
  return out;
}

std::string tasks_for_people(const std::vector<TaskInfo>& tasks, WallTime now, bool colour) {
  Table table({"ID", "STATE", "TYPE", "SINCE", "WHY"});
  for (const TaskInfo& task : tasks) {
    const bool waits =
        task.state == TaskState::retrying || (task.state == TaskState::pending && task.due > now);
    table.add({{task.id.text()},
               {std::string(to_string(task.state)), tone_of(task.state)},
               {cut(task.type, 14)},
               {waits ? relative_time(task.due, now) : relative_time(task.changed, now)},
               {task.last_failure ? task.last_failure->message : ""}});
  }
  return table.text(colour);
}

std::string task_for_people(const TaskInfo& task, WallTime now, bool colour) {
  std::string out = task.id.text() + "\n";
  std::string state(to_string(task.state));
  if (task.dead_reason) state += fmt::format(": {}", to_string(*task.dead_reason));
  append_field(out, "state", state);
  if (colour) {
    const std::size_t at = out.rfind(state);
    if (at != out.npos) out.replace(at, state.size(), toned(state, tone_of(task.state), true));
  }
  append_field(out, "type", task.type);
  append_field(out, "queue", task.queue);
  if (task.priority != 0) append_field(out, "priority", std::to_string(task.priority));
  if (!task.key.empty()) append_field(out, "key", task.key);
  append_field(out, "handed in", full_time(task.created, now));
  append_field(out, "since", full_time(task.changed, now));
  const bool waits = task.state == TaskState::retrying || task.state == TaskState::pending;
  if (waits && task.due > now) append_field(out, "next", full_time(task.due, now));
  if (task.deadline) append_field(out, "deadline", full_time(*task.deadline, now));
  append_field(out, "spent", spent_text(task));
  if (!task.trace.empty()) append_field(out, "trace", task.trace);
  if (task.retry_on_failure)
    append_field(out, "when dead", "to be brought back (retry_on_failure)");
  if (!task.group.empty()) append_field(out, "group", task.group);
  if (task.last_failure) append_field(out, "last error", failure_text(*task.last_failure));
  out += "\nPayload: " + bytes_for_people(task.payload);
  if (task.result) out += "\nResult: " + bytes_for_people(*task.result);
  append_history(out, task, now, colour);
  return out;
}

std::string json_line(const std::function<void(wire::JsonWriter&)>& write) {
  std::string line;
  wire::JsonWriter writer(line);
  write(writer);
  return line + '\n';
}

std::optional<TaskState> state_named(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(TaskState::canceled); ++i) {
    const auto state = static_cast<TaskState>(i);
    if (to_string(state) == name) return state;
  }
  return std::nullopt;
}

void Progress::show(std::string_view what, std::uint64_t done, std::uint64_t total) {
  if (!io_.err_is_terminal) return;
  std::string line = fmt::format("{} {}", what, grouped(done));
  if (total > 0) {
    const std::size_t full = std::min<std::size_t>(done * kBarColumns / total, kBarColumns);
    line = fmt::format("{} [{}{}] {} of {}", what, std::string(full, '#'),
                       std::string(kBarColumns - full, ' '), grouped(done), grouped(total));
  }
  wipe();
  io_.err << line << std::flush;
  shown_ = true;
}

void Progress::wipe() {
  if (shown_) io_.err << "\r\x1b[K" << std::flush;
  shown_ = false;
}

}  // namespace holdfast::cli
