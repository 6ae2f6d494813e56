#include "conformance/record_text.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace holdfast::conformance {
namespace {

using conformance::text_of;  // those of the header, beside these

// Binary is shown by its size and a sum, so that a megabyte does not fill the screen.
std::string text_of(const std::string& bytes) {
  constexpr std::size_t kShown = 60;
  const bool is_plain = std::ranges::all_of(bytes, [](unsigned char c) { return c >= ' '; });
  if (is_plain && bytes.size() <= kShown) return fmt::format("\"{}\"", bytes);
  return fmt::format("{} bytes, hash {:x}", bytes.size(), std::hash<std::string>()(bytes));
}

std::string text_of(Duration span) {
  return fmt::format("{}us", std::chrono::floor<std::chrono::microseconds>(span).count());
}

template <class Number>
  requires std::is_arithmetic_v<Number>
std::string text_of(Number number) {
  return std::to_string(number);
}

template <class T>
std::string maybe(const std::optional<T>& value) {
  return value ? text_of(*value) : "none";
}

std::string text_of(const core::Spent& spent) {
  return fmt::format("{} attempts, {} crashes, {} deferrals, {} replays", spent.attempts,
                     spent.crashes, spent.deferrals, spent.replays);
}

}  // namespace

std::string text_of(WallTime time) {
  return fmt::format(
      "@{}", std::chrono::floor<std::chrono::microseconds>(time.time_since_epoch()).count());
}

std::string text_of(const Failure& failure) {
  return fmt::format("{} {} http {} exit {} errno {} retry after {}", to_string(failure.kind),
                     text_of(failure.message), maybe(failure.http_status), maybe(failure.exit_code),
                     maybe(failure.os_error), maybe(failure.retry_after));
}

std::string text_of(const ports::PastAttempt& attempt) {
  return fmt::format("token {}: {} from {} to {} by {}, {}", attempt.token.value,
                     to_string(attempt.event), text_of(attempt.started), text_of(attempt.ended),
                     text_of(attempt.owner), maybe(attempt.failure));
}

std::string text_of(const ports::TaskRecord& record) {
  const core::Task& task = record.task;
  std::string text = fmt::format(
      "{} {} token {}\n  type {} queue {} priority {} payload {} key {} trace {}{}\n"
      "  limits: attempts {} timeout {}\n  spent: {}\n"
      "  created {} due {} deadline {} changed {} previous wait {}\n"
      "  dead reason {} last failure {}\n  owner {} lease end {}\n  result {} fingerprint {}\n",
      record.id.text(), to_string(task.state), task.token.value, text_of(record.type),
      text_of(record.queue), record.priority, text_of(record.payload), text_of(record.key),
      text_of(record.trace), record.retry_on_failure ? " retry on failure" : "",
      maybe(record.limits.attempts), maybe(record.limits.timeout), text_of(task.spent),
      text_of(task.created), text_of(task.due), maybe(task.deadline), text_of(record.changed),
      text_of(task.previous_wait), task.dead_reason ? to_string(*task.dead_reason) : "none",
      maybe(task.last_failure), text_of(record.owner), text_of(record.lease_end),
      maybe(record.result), record.fingerprint.text());
  for (const auto& attempt : record.attempts)
    text += "  attempt " + text_of(attempt) + "\n";
  return text;
}

std::string text_of(const ports::QueueCounts& counts) {
  return fmt::format("{}: {} paused {} concurrency {} backlog {} oldest due {}\n",
                     text_of(counts.queue), fmt::join(counts.by_state, " "), counts.paused,
                     counts.concurrency, counts.backlog, maybe(counts.oldest_due));
}

std::string text_of(const ports::Group& group) {
  std::string text = fmt::format("{} {}: {} from {} to {}, {}; errors, timeouts, crashes: {}\n",
                                 to_string(group.state), group.fingerprint.text(), group.count,
                                 text_of(group.first_seen), text_of(group.last_seen),
                                 text_of(group.example), fmt::join(group.came_by, " "));
  for (const auto& part : group.parts) {
    text +=
        fmt::format("    part {} {}: {}\n", text_of(part.queue), text_of(part.type), part.count);
  }
  for (const auto& arrivals : group.trend)
    text += fmt::format("    slot {}: {}\n", text_of(arrivals.slot), arrivals.count);
  return text;
}

std::string text_of(const ports::Note& note) {
  return fmt::format("{} version {}: {}\n", text_of(note.key), note.version, text_of(note.text));
}

}  // namespace holdfast::conformance
