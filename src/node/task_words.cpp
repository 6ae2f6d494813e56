#include "node/task_words.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "core/json_text.hpp"
#include "core/traceparent.hpp"

namespace holdfast::node {
namespace {

[[nodiscard]] std::unexpected<Error> submit_error(std::string message) {
  return fail(ErrorCode::invalid_argument, "submit", std::move(message));
}

[[nodiscard]] TaskAttempt to_attempt(ports::PastAttempt past) {
  return {.token = past.token.value,
          .event = std::string(core::to_string(past.event)),
          .started = past.started,
          .ended = past.ended,
          .owner = std::move(past.owner),
          .failure = std::move(past.failure)};
}

constexpr std::string_view kEditKey = "edit-of-";
constexpr std::string_view kEditedAs = ": edited as ";
constexpr std::size_t kIdBytes = 36;

[[nodiscard]] std::optional<TaskId> id_behind(std::string_view text, std::size_t at) {
  const auto id = TaskId::parse(text.substr(std::min(at, text.size()), kIdBytes));
  return id ? std::optional(*id) : std::nullopt;
}

void note_edits(TaskInfo& info) {
  if (info.key.starts_with(kEditKey)) info.edited_from = id_behind(info.key, kEditKey.size());
  for (const TaskAttempt& past : info.history) {
    const std::size_t at = past.owner.find(kEditedAs);
    if (past.event == core::to_string(core::Event::discard) && at != std::string::npos) {
      info.edited_as = id_behind(past.owner, at + kEditedAs.size());
    }
  }
}

void add_to(std::vector<FailureGroup::Part>& parts, const std::string& name, std::uint64_t count) {
  const auto found = std::ranges::find(parts, name, &FailureGroup::Part::name);
  if (found == parts.end()) {
    parts.push_back({.name = name, .count = count});
  } else {
    found->count += count;
  }
}

void sort_by_count(std::vector<FailureGroup::Part>& parts) {
  std::ranges::sort(parts, [](const auto& a, const auto& b) {
    return a.count != b.count ? a.count > b.count : a.name < b.name;
  });
}

}  // namespace

Result<ports::NewTask> to_new_task(Submission submission, WallTime now) {
  if (submission.type.empty())
    return submit_error("type is empty: it says which handler runs the task");
  if (submission.queue.empty()) return submit_error("queue is empty: leave it out for \"default\"");
  if (submission.payload.size() > ports::kMostPayloadBytes) {
    return submit_error(
        fmt::format("payload has {} bytes: at most {}; keep large data elsewhere, and "
                    "hand in where it is",
                    submission.payload.size(), ports::kMostPayloadBytes));
  }
  if (submission.priority < ports::kLowestPriority ||
      submission.priority > ports::kHighestPriority) {
    return submit_error(fmt::format("priority is {}: it goes from {} to {}", submission.priority,
                                    ports::kLowestPriority, ports::kHighestPriority));
  }
  if (submission.delay < Duration::zero()) return submit_error("delay is negative");
  if (submission.due && submission.delay > Duration::zero()) {
    return submit_error("delay and due are both given: one of them says when");
  }
  if (submission.attempts && *submission.attempts < 1) {
    return submit_error(fmt::format("attempts is {}: at least 1 is made", *submission.attempts));
  }
  if (submission.timeout && *submission.timeout < Duration::zero()) {
    return submit_error("timeout is negative: zero is none at all");
  }
  if (!submission.trace.empty() && !is_traceparent(submission.trace)) {
    return submit_error(
        fmt::format("trace is {}: it is no W3C traceparent", holdfast::quoted(submission.trace)));
  }
  return ports::NewTask{
      .id = {},
      .type = std::move(submission.type),
      .queue = std::move(submission.queue),
      .payload = std::move(submission.payload),
      .priority = submission.priority,
      .created = now,
      .due = submission.due ? *submission.due : saturating_add(now, submission.delay),
      .deadline = submission.deadline,
      .key = std::move(submission.key),
      .limits = {.attempts = submission.attempts, .timeout = submission.timeout},
      .trace = std::move(submission.trace),
      .retry_on_failure = submission.retry_on_failure};
}

Result<ports::List> to_list(TaskFilter filter) {
  std::optional<Fingerprint> group;
  if (!filter.group.empty()) {
    group = Fingerprint::parse(filter.group);
    if (!group) {
      return fail(ErrorCode::invalid_argument, "list",
                  fmt::format("group {} is no name of a group: 16 hexadecimal digits",
                              holdfast::quoted(filter.group)));
    }
  }
  return ports::List{.filter = {.state = filter.state,
                                .queue = std::move(filter.queue),
                                .type = std::move(filter.type),
                                .group = group},
                     .cursor = std::move(filter.cursor),
                     .limit = filter.limit};
}

TaskInfo to_info(ports::TaskRecord record) {
  core::Task& task = record.task;
  const bool in_group = task.state == TaskState::failed || task.state == TaskState::dead;
  TaskInfo info{.id = record.id,
                .type = std::move(record.type),
                .queue = std::move(record.queue),
                .payload = std::move(record.payload),
                .key = std::move(record.key),
                .priority = record.priority,
                .state = task.state,
                .dead_reason = task.dead_reason,
                .created = task.created,
                .due = task.due,
                .changed = record.changed,
                .deadline = task.deadline,
                .trace = std::move(record.trace),
                .retry_on_failure = record.retry_on_failure,
                .attempts = task.spent.attempts,
                .crashes = task.spent.crashes,
                .deferrals = task.spent.deferrals,
                .replays = task.spent.replays,
                .result = std::move(record.result),
                .last_failure = std::move(task.last_failure),
                .group = in_group ? record.fingerprint.text() : ""};
  for (ports::PastAttempt& past : record.attempts)
    info.history.push_back(to_attempt(std::move(past)));
  note_edits(info);
  return info;
}

QueueInfo to_info(ports::QueueCounts counts) {
  return {.name = std::move(counts.queue),
          .by_state = counts.by_state,
          .paused = counts.paused,
          .concurrency = counts.concurrency,
          .backlog = counts.backlog,
          .oldest_due = counts.oldest_due};
}

FailureGroup to_info(ports::Group group, WallTime now) {
  constexpr int kHours = 24;
  FailureGroup info{.id = group.fingerprint.text(),
                    .state = group.state,
                    .count = group.count,
                    .first_seen = group.first_seen,
                    .last_seen = group.last_seen,
                    .example = std::move(group.example),
                    .came_by = group.came_by,
                    .trend = std::vector<std::uint64_t>(kHours)};
  for (const ports::Group::Part& part : group.parts) {
    add_to(info.types, part.type, part.count);
    add_to(info.queues, part.queue, part.count);
  }
  sort_by_count(info.types);
  sort_by_count(info.queues);
  const auto this_hour = std::chrono::floor<std::chrono::hours>(now);
  for (const ports::Group::Arrivals& slot : group.trend) {
    const auto hours_ago = (this_hour - std::chrono::floor<std::chrono::hours>(slot.slot)).count();
    if (hours_ago < 0 || hours_ago >= kHours) continue;
    info.trend[static_cast<std::size_t>(kHours - 1 - hours_ago)] += slot.count;
    info.last_day += slot.count;
    // A slot counts as long as its end is within the hour.
    if (now - slot.slot < std::chrono::hours(1) + ports::Group::kSlot) info.last_hour += slot.count;
  }
  return info;
}

GroupPage to_page(ports::Groups::Answer found, WallTime now) {
  GroupPage page{.next = std::move(found.next)};
  for (ports::Group& group : found.groups)
    page.groups.push_back(to_info(std::move(group), now));
  return page;
}

TaskPage to_page(std::vector<ports::TaskRecord> records, std::string next) {
  TaskPage page{.next = std::move(next)};
  for (ports::TaskRecord& record : records)
    page.tasks.push_back(to_info(std::move(record)));
  return page;
}

Result<triage::Query> to_query(const TaskFilter& filter, WallTime now) {
  std::string text = filter.query;
  const auto add = [&](std::string_view name, std::string_view value) {
    if (value.empty()) return;
    text += fmt::format(" {}:\"", name);
    for (const char c : value) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    text += '"';
  };
  if (filter.state) add("state", to_string(*filter.state));
  add("queue", filter.queue);
  add("type", filter.type);
  add("group", filter.group);
  return triage::Query::parse(text, now);
}

std::string edit_key(const TaskId& original, const ports::NewTask& copy) {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  const auto add = [&](std::string_view bytes) {
    for (const char c : bytes) {
      hash ^= static_cast<unsigned char>(c);
      hash *= 0x100000001b3U;
    }
  };
  add(copy.payload);
  add(copy.queue);
  add(copy.type);
  return fmt::format("{}{}-{:016x}", kEditKey, original.text(), hash);
}

std::string edit_signature(std::string_view who, const TaskId& copy) {
  return fmt::format("{}{}{}", who, kEditedAs, copy.text());
}

}  // namespace holdfast::node
