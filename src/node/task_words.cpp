#include "node/task_words.hpp"

#include <charconv>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "core/json_text.hpp"
#include "core/traceparent.hpp"

namespace holdfast::node {
namespace {

[[nodiscard]] std::unexpected<Error> refuse(std::string message) {
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

// 16 hexadecimal digits, as Fingerprint::text() writes them.
[[nodiscard]] std::optional<Fingerprint> parse_group(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size() || text.size() != 16) {
    return std::nullopt;
  }
  return Fingerprint(value);
}

}  // namespace

Result<ports::NewTask> to_new_task(Submission submission, WallTime now) {
  if (submission.type.empty()) return refuse("type is empty: it says which handler runs the task");
  if (submission.queue.empty()) return refuse("queue is empty: leave it out for \"default\"");
  if (submission.payload.size() > ports::kMostPayloadBytes) {
    return refuse(
        fmt::format("payload has {} bytes: at most {}; keep large data elsewhere, and "
                    "hand in where it is",
                    submission.payload.size(), ports::kMostPayloadBytes));
  }
  if (submission.priority < ports::kLowestPriority ||
      submission.priority > ports::kHighestPriority) {
    return refuse(fmt::format("priority is {}: it goes from {} to {}", submission.priority,
                              ports::kLowestPriority, ports::kHighestPriority));
  }
  if (submission.delay < Duration::zero()) return refuse("delay is negative");
  if (submission.due && submission.delay > Duration::zero()) {
    return refuse("delay and due are both given: one of them says when");
  }
  if (submission.attempts && *submission.attempts < 1) {
    return refuse(fmt::format("attempts is {}: at least 1 is made", *submission.attempts));
  }
  if (submission.timeout && *submission.timeout < Duration::zero()) {
    return refuse("timeout is negative: zero is none at all");
  }
  if (!submission.trace.empty() && !is_traceparent(submission.trace)) {
    return refuse(fmt::format("trace is {}: it is no W3C traceparent", quoted(submission.trace)));
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
    group = parse_group(filter.group);
    if (!group) {
      return fail(ErrorCode::invalid_argument, "list",
                  fmt::format("group {} is no name of a group: 16 hexadecimal digits",
                              quoted(filter.group)));
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

FailureGroup to_info(ports::Group group) {
  return {.id = group.fingerprint.text(),
          .state = group.state,
          .count = group.count,
          .first_seen = group.first_seen,
          .last_seen = group.last_seen,
          .example = std::move(group.example)};
}

}  // namespace holdfast::node
