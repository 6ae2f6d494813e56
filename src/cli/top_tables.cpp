// The lists of top_lines.hpp.
#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "cli/text_columns.hpp"
#include "cli/top_lines.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
using wire::GroupNow;
using wire::OperationNow;
using wire::QueueNow;

constexpr std::size_t kMostOperationsShown = 5;
// With fewer columns than this, or as many, some of them are left out, or there is room for more.
constexpr std::size_t kNarrow = 72;
constexpr std::size_t kWide = 104;

Look bad_if(bool is_bad) {
  return is_bad ? Look::bad : Look::faint;
}

std::string about_list(std::size_t shown, std::size_t all, std::string_view sort) {
  const std::string count =
      shown == all ? grouped(all) : fmt::format("{} of {}", grouped(shown), grouped(all));
  return sort.empty() ? count : fmt::format("{}, by {}", count, sort);
}

// Which columns a table of queues has room for.
struct QueueColumns {
  std::size_t name = 0;
  std::size_t share = 8;
  bool has_rates = false;
  bool has_more = false;  // retrying, failed, and how many die a second

  explicit QueueColumns(std::size_t columns)
      : has_rates(columns >= kNarrow), has_more(columns >= kWide) {
    const std::size_t numbers =
        2 + 10 + 9 + (has_rates ? 8 + 9 : 0) + 9 + 8 + (has_more ? 10 + 9 + 8 : 0);
    const std::size_t left = columns > numbers + share ? columns - numbers - share : 0;
    name = std::clamp<std::size_t>(left, 8, 40);
    if (left > 40) share += std::min<std::size_t>(left - 40, 22);
  }
};

Line queue_heads(const QueueColumns& at, std::size_t columns) {
  LineBuilder line(columns);
  line.add("  ")
      .left("NAME", at.name, Look::faint)
      .left("", at.share)
      .right("WAITING", 10, Look::faint);
  if (at.has_more) line.right("RETRYING", 10, Look::faint);
  line.right("RUNNING", 9, Look::faint);
  if (at.has_rates) line.right("DONE/S", 8, Look::faint).right("RETRY/S", 9, Look::faint);
  if (at.has_more) line.right("DEAD/S", 8, Look::faint).right("FAILED", 9, Look::faint);
  return line.right("DEAD", 9, Look::faint).right("OLDEST", 8, Look::faint).line();
}

Line queue_line(const QueueNow& queue, std::uint64_t most, const QueueColumns& at,
                std::size_t columns, bool is_selected) {
  LineBuilder line(columns);
  const auto number = [&](std::uint64_t count, std::size_t width, Look look) {
    line.right(short_number(count, width - 1), width, count > 0 ? look : Look::faint);
  };
  const auto rate = [&](double wire::RatesNow::* member, std::size_t width, Look look) {
    if (!queue.rates) return (void)line.right("–", width, Look::faint);
    const double value = *queue.rates.*member;
    line.right(short_rate(value), width, value > 0 ? look : Look::faint);
  };
  line.add(is_selected ? "▸ " : "  ", Look::accent);
  line.left(cut(visible(queue.name), at.name - 1), at.name,
            queue.paused ? Look::waiting : Look::plain);
  if (queue.paused) {
    line.left("paused", at.share, Look::waiting);
  } else {
    const double share =
        most > 0 ? static_cast<double>(queue.waiting()) / static_cast<double>(most) : 0;
    line.left(bar(share, at.share), at.share, Look::accent);
  }
  number(queue.waiting(), 10, Look::plain);
  if (at.has_more) number(queue.count(TaskState::retrying), 10, Look::waiting);
  number(queue.count(TaskState::running), 9, Look::good);
  if (at.has_rates) {
    rate(&wire::RatesNow::succeeded, 8, Look::good);
    rate(&wire::RatesNow::retried, 9, Look::waiting);
  }
  if (at.has_more) {
    rate(&wire::RatesNow::dead, 8, Look::bad);
    number(queue.count(TaskState::failed), 9, Look::bad);
  }
  number(queue.count(TaskState::dead), 9, Look::bad);
  const bool waits = queue.oldest_due_age > Duration::zero();
  line.right(waits ? short_age(queue.oldest_due_age) : "–", 8,
             waits && queue.oldest_due_age >= 10min ? Look::bad
             : waits                                ? Look::plain
                                                    : Look::faint);
  return line.line(is_selected);
}

struct GroupColumns {
  std::size_t share = 6;
  std::size_t trend = 0;
  bool has_id = false;

  GroupColumns(std::size_t columns, bool has_trend) : has_id(columns >= kWide) {
    if (columns >= kWide) share = 10;
    if (has_trend) trend = columns >= kWide ? 24 : 12;
  }
};

Line group_heads(const GroupColumns& at, std::size_t columns) {
  LineBuilder line(columns);
  line.right("COUNT", 11, Look::faint).left("", at.share + 1).left(" STATE", 8, Look::faint);
  line.right("LATEST", 7, Look::faint).add("  ");
  if (at.trend > 0) line.left(fmt::format("LAST {} H", at.trend), at.trend + 2, Look::faint);
  if (at.has_id) line.left("GROUP", 18, Look::faint);
  return line.add("ERROR", Look::faint).line();
}

Line group_line(const GroupNow& group, std::uint64_t most, const GroupColumns& at,
                const Snapshot& snapshot, std::size_t columns, bool is_selected) {
  LineBuilder line(columns);
  const double share = most > 0 ? static_cast<double>(group.count) / static_cast<double>(most) : 0;
  line.add(is_selected ? "▸ " : "  ", Look::accent);
  line.right(short_number(group.count, 9), 9, Look::bad).add(" ");
  line.left(bar(share, at.share), at.share + 1, Look::bad);
  line.left(to_string(group.state), 7, group.state == TaskState::dead ? Look::bad : Look::waiting);
  const Duration ago = std::max<Duration>(snapshot.time - group.last_seen, 0s);
  line.right(ago < 1s ? "now" : short_age(ago), 7, ago < 10min ? Look::bad : Look::plain).add("  ");
  if (at.trend > 0) {
    const std::vector<double> trend(group.trend.begin(), group.trend.end());
    line.left(sparkline(trend, at.trend), at.trend + 2, Look::accent);
  }
  if (at.has_id) line.left(visible(group.id), 18, Look::faint);
  return line.add(visible(group.example)).line(is_selected);
}

Look look_of_operation(std::string_view state) {
  if (state == "running" || state == "done") return Look::good;
  if (state == "stopped" || state == "failed") return Look::bad;
  return Look::waiting;
}

Line operation_line(const OperationNow& operation, std::size_t columns) {
  const OperationNow::Progress& progress = operation.progress;
  const std::uint64_t done = progress.done + progress.refused;
  const double share =
      progress.total > 0 ? static_cast<double>(done) / static_cast<double>(progress.total) : 0;
  const std::size_t width = columns >= kWide ? 24 : 10;
  LineBuilder line(columns);
  line.add("  ").left(visible(operation.action), 8, Look::plain);
  line.left(visible(operation.state), 9, look_of_operation(operation.state));
  line.add("▕", Look::faint).left(bar(share, width), width, Look::good).add("▏", Look::faint);
  line.right(fmt::format("{:.0f}%", std::min(share, 1.0) * 100), 4);
  line.right(fmt::format("{}/{}", short_number(done, 7), short_number(progress.total, 7)), 16);
  line.add("  ✓ ", Look::good).add(short_number(progress.succeeded, 7), Look::good);
  line.add("  ✗ ", bad_if(progress.failed > 0));
  line.add(short_number(progress.failed, 7), bad_if(progress.failed > 0)).add("  ");
  return line.add(visible(operation.why.empty() ? operation.query : operation.why), Look::faint)
      .line();
}

// Rows of a list of `size` around the selected one.
struct Window {
  std::size_t first = 0;
  std::size_t count = 0;

  Window(std::size_t size, std::size_t selected, std::size_t rows) : count(std::min(size, rows)) {
    const std::size_t before = count / 2;
    first = std::min(selected > before ? selected - before : 0, size - count);
  }
};

}  // namespace

Frame queue_lines(const View& view, const Snapshot& snapshot, std::size_t columns, std::size_t rows,
                  bool keys) {
  Frame lines;
  const auto shown = shown_queues(view, snapshot);
  const std::size_t selected = selected_queue(view, shown);
  const bool is_focused = keys && view.pane == Pane::queues;
  lines.push_back(section_line(
      "QUEUES", about_list(shown.size(), snapshot.stats.queues.size(), to_string(view.queue_sort)),
      is_focused, columns));
  if (shown.empty()) {
    lines.push_back(LineBuilder(columns)
                        .add(snapshot.stats.queues.empty() ? "  No queue has a task."
                                                           : "  None has such a name.",
                             Look::faint)
                        .line());
    return lines;
  }
  const QueueColumns at(columns);
  lines.push_back(queue_heads(at, columns));
  std::uint64_t most = 0;
  for (const QueueNow* queue : shown)
    most = std::max(most, queue->waiting());
  const Window window(shown.size(), selected, rows);
  for (std::size_t i = window.first; i < window.first + window.count; ++i)
    lines.push_back(queue_line(*shown[i], most, at, columns, is_focused && i == selected));
  return lines;
}

Frame group_lines(const View& view, const Snapshot& snapshot, std::size_t columns, std::size_t rows,
                  bool keys) {
  Frame lines;
  const auto shown = shown_groups(view, snapshot);
  const std::size_t selected = selected_group(view, shown);
  const bool is_focused = keys && view.pane == Pane::groups;
  lines.push_back(section_line("DEAD LETTERS",
                               shown.empty() && snapshot.groups.empty()
                                   ? ""
                                   : "groups: " + about_list(shown.size(), snapshot.groups.size(),
                                                             to_string(view.group_sort)),
                               is_focused, columns));
  if (shown.empty()) {
    lines.push_back(LineBuilder(columns)
                        .add(snapshot.groups.empty() ? "  None. Nothing is dead or failed."
                                                     : "  None has that in its error.",
                             snapshot.groups.empty() ? Look::good : Look::faint)
                        .line());
    return lines;
  }
  const bool has_trend =
      std::ranges::any_of(shown, [](const GroupNow* group) { return !group->trend.empty(); });
  const GroupColumns at(columns, has_trend);
  lines.push_back(group_heads(at, columns));
  std::uint64_t most = 0;
  for (const GroupNow* group : shown)
    most = std::max(most, group->count);
  const Window window(shown.size(), selected, rows);
  for (std::size_t i = window.first; i < window.first + window.count; ++i) {
    lines.push_back(
        group_line(*shown[i], most, at, snapshot, columns, is_focused && i == selected));
  }
  return lines;
}

Frame operation_lines(const Snapshot& snapshot, std::size_t columns) {
  Frame lines;
  if (!snapshot.operations) return lines;
  for (const OperationNow& operation : *snapshot.operations) {
    if (!operation.has_ended() && lines.size() < kMostOperationsShown)
      lines.push_back(operation_line(operation, columns));
  }
  if (!lines.empty()) lines.insert(lines.begin(), section_line("OPERATIONS", "", false, columns));
  return lines;
}

}  // namespace holdfast::cli
