#include "cli/recovery_output.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include <fmt/format.h>

#include <holdfast/clock.hpp>

#include "cli/task_output.hpp"
#include "cli/text_columns.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
using wire::Recovery;
using wire::RecoveryState;

constexpr Duration kAskAgainAfter = 300ms;
constexpr std::size_t kMostRowsShown = 40;

Tone tone_of_recovery(const Recovery& recovery) {
  switch (recovery.state) {
    case RecoveryState::running: return Tone::plain;
    case RecoveryState::done: return recovery.complete ? Tone::good : Tone::waiting;
    case RecoveryState::failed:
    case RecoveryState::interrupted: return Tone::bad;
    case RecoveryState::canceled: return Tone::faint;
  }
  return Tone::plain;
}

std::string where_to(const wire::RecoveryRequest& request) {
  if (!request.to.empty()) return "into queue " + request.to;
  if (request.to_origin == "queue") return "into the queues where they first died";
  if (request.to_origin == "exchange") return "to the exchanges of their first deaths";
  if (!request.map.empty()) return fmt::format("by a map of {} types", request.map.size());
  return "all of them, as they are, into " + request.park;
}

void append_rows(std::string& out, const std::vector<wire::RecoveryCount>& counts) {
  for (const wire::RecoveryCount& row : counts)
    out += fmt::format("{:>16}  {}\n", grouped(row.count), cut(visible(row.name), kColumns - 18));
}

void append_count(std::string& out, std::string_view label, std::uint64_t count) {
  out += fmt::format("{:>12}  {}\n", grouped(count), label);
}

std::string recovery_plan(const Recovery& recovery, bool colour) {
  if (recovery.plan.empty()) return {};
  Table table({"MESSAGES", "TYPE", "WHERE TO", "DIED OF"});
  std::size_t shown = 0;
  for (const wire::RecoveryPlanRow& row : recovery.plan) {
    if (shown++ == kMostRowsShown) break;
    std::string where = row.to;
    if (row.what == "keep") where = "kept: " + row.why;
    if (row.what == "leave") where = "left: not chosen";
    if (row.target_missing) where += " (is not there)";
    const Tone tone = row.what == "keep" || row.target_missing ? Tone::bad : Tone::plain;
    table.add({{grouped(row.count)}, {cut(row.type, 24)}, {cut(where, 36), tone}, {row.reason}});
  }
  return table.text(colour);
}

// "done, 7 left": of one that has ended before all was done.
std::string state_text(const Recovery& recovery) {
  std::string text(to_string(recovery.state));
  const wire::RecoveryProgress& progress = recovery.progress;
  const bool is_half_done = recovery.state == RecoveryState::done && !recovery.complete;
  if (!is_half_done || recovery.request.dry_run) return text;
  if (!progress.left) return text + ", some left";
  if (*progress.left > 0) return text + ", " + grouped(*progress.left) + " left";
  return text + ", " + grouped(progress.failed + progress.skipped) + " kept";
}

}  // namespace

std::string recovery_result(const Recovery& recovery, bool colour) {
  const wire::RecoveryProgress& progress = recovery.progress;
  std::string out = recovery_plan(recovery, colour);
  if (recovery.request.dry_run) {
    append_count(out, "would be recovered", progress.would_recover);
    append_count(out, "would fail: the target is not there", progress.would_fail);
    append_count(out, "would be kept", progress.skipped);
  } else {
    append_count(out, "recovered", progress.recovered);
    append_rows(out, recovery.targets);
    append_count(out, "failed (kept)", progress.failed);
    append_count(out, "skipped (kept)", progress.skipped);
    append_rows(out, recovery.kept);
    if (progress.parked > 0) append_count(out, "of these parked", progress.parked);
    if (progress.recognised > 0) append_count(out, "were there already", progress.recognised);
    if (progress.possible_duplicates > 0)
      append_count(out, "may be there twice", progress.possible_duplicates);
  }
  if (progress.not_chosen > 0) append_count(out, "not chosen", progress.not_chosen);
  if (progress.left)
    append_count(out, "still in " + visible(recovery.request.queue), *progress.left);
  std::string end = state_text(recovery);
  if (!recovery.why.empty()) end += ": " + recovery.why;
  if (!recovery.error.empty()) end += ": " + recovery.error;
  std::string wrapped;
  append_wrapped(wrapped, visible(end), 0);
  return out + toned(wrapped, tone_of_recovery(recovery), colour);
}

std::string recovery_for_people(const Recovery& recovery, WallTime now, bool colour) {
  const auto field = [](std::string_view name, std::string_view value) {
    std::string wrapped;
    append_wrapped(wrapped, visible(value), 12);
    return wrapped.replace(0, std::min<std::size_t>(name.size(), 12), name);
  };
  const wire::RecoveryRequest& request = recovery.request;
  std::string out = field("recovery", recovery.id);
  out += field("queue", request.queue + " at " + request.broker);
  out += field("messages", where_to(request));
  for (const std::string& filter : request.filter)
    out += field("filter", filter);
  if (request.limit) out += field("limit", grouped(*request.limit));
  if (request.dry_run) out += field("dry run", "nothing is sent");
  out += field("by", recovery.by);
  if (!request.reason.empty()) out += field("reason", request.reason);
  out += field("started", full_time(recovery.started, now));
  if (recovery.ended) out += field("ended", full_time(*recovery.ended, now));
  for (const std::string& warning : recovery.warnings)
    out += field("warning", warning);
  return out + '\n' + recovery_result(recovery, colour);
}

std::string recoveries_for_people(const std::vector<Recovery>& recoveries, WallTime now,
                                  bool colour) {
  constexpr std::size_t kGaps = 3 * 2;
  constexpr std::size_t kLeastOfId = 15;
  struct Row {
    std::string state, began, queue;
  };
  std::vector<Row> rows;
  std::array<std::size_t, 3> widths = {5, 5, 5};  // of their headings
  std::size_t id_width = 0;
  for (const Recovery& recovery : recoveries) {
    const std::string dry = recovery.request.dry_run ? " (dry)" : "";
    rows.push_back({state_text(recovery) + dry, relative_time(recovery.started, now),
                    visible(recovery.request.queue)});
    const Row& row = rows.back();
    widths = {std::max(widths[0], columns_of(row.state)),
              std::max(widths[1], columns_of(row.began)),
              std::max(widths[2], columns_of(row.queue))};
    id_width = std::max(id_width, columns_of(recovery.id));
  }
  // The queue is what people look for; ids are alike.
  const std::size_t others = widths[0] + widths[1] + widths[2] + kGaps;
  const std::size_t room = kColumns - std::min(others, kColumns);
  const std::size_t shown = std::min(id_width, std::max(room, kLeastOfId));
  Table table({"RECOVERY", "STATE", "BEGAN", "QUEUE"});
  for (std::size_t at = 0; at < rows.size(); ++at) {
    table.add({{cut(recoveries[at].id, shown)},
               {rows[at].state, tone_of_recovery(recoveries[at])},
               {rows[at].began},
               {rows[at].queue}});
  }
  std::string text = table.text(colour);
  if (shown < id_width) text += "Ids are cut: holdfast recoveries ls --json has them whole.\n";
  return text;
}

Result<Recovery> follow_recovery(Recovery seen, const std::function<Result<Recovery>()>& look,
                                 Io& io) {
  Progress progress(io);
  while (seen.state == RecoveryState::running) {
    progress.show(seen.request.dry_run ? "Looking" : "Recovering", seen.progress.handled(),
                  seen.progress.found.value_or(0));
    system_clock().sleep_for(kAskAgainAfter);
    auto next = look();
    if (!next) return next;
    seen = *std::move(next);
  }
  return seen;
}

int exit_code_of(const Recovery& recovery) {
  if (recovery.state == RecoveryState::failed) return kFailed;
  return recovery.state == RecoveryState::done && recovery.complete ? kDone : kKept;
}

}  // namespace holdfast::cli
