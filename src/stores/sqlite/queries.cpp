#include "stores/sqlite/queries.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "stores/sqlite/query_statements.hpp"
#include "stores/sqlite/tally.hpp"

namespace holdfast::stores::sqlite {

using core::State;
using ports::Count;
using ports::Find;
using ports::PastAttempt;
using ports::QueueCounts;
using ports::TaskRecord;

TaskId task_id(std::string_view bytes) noexcept {
  Uuid::Bytes uuid{};
  std::memcpy(uuid.data(), bytes.data(), std::min(bytes.size(), uuid.size()));
  return TaskId(Uuid(uuid));
}

std::optional<Failure> failure_of(const Row& row, int first_column) {
  if (row.is_null(first_column + 5)) return std::nullopt;
  const auto small = [&](int column) -> std::optional<int> {
    if (row.is_null(column)) return std::nullopt;
    return row.small(column);
  };
  Failure failure;
  failure.kind = static_cast<FailureKind>(row.integer(first_column));
  failure.http_status = small(first_column + 1);
  failure.exit_code = small(first_column + 2);
  failure.os_error = small(first_column + 3);
  if (const auto wait = row.maybe_integer(first_column + 4)) failure.retry_after = Duration(*wait);
  failure.message = row.string(first_column + 5);
  return failure;
}

Queries::Queries(Database& database, Names& names)
    : names_(names), statements_(std::make_unique<Statements>(database)) {}

Queries::~Queries() = default;

TaskRecord Queries::record(const Row& row) {
  TaskRecord record;
  record.id = task_id(row.bytes(1));
  record.queue = names_.text(row.integer(2));
  record.type = names_.text(row.integer(3));
  record.priority = row.small(4);
  core::Task& task = record.task;
  task.created = row.time(5);
  task.state = static_cast<State>(row.integer(6));
  task.token = {static_cast<std::uint64_t>(row.integer(7))};
  task.due = row.time(8);
  record.changed = row.time(9);
  task.spent = {.attempts = row.small(10),
                .crashes = row.small(11),
                .deferrals = row.small(12),
                .replays = row.small(13)};
  task.previous_wait = Duration(row.integer(14));
  if (const auto deadline = row.maybe_integer(15)) task.deadline = from_us(*deadline);
  if (const auto attempts = row.maybe_integer(16)) {
    record.limits.attempts = static_cast<int>(*attempts);
  }
  if (const auto timeout = row.maybe_integer(17)) record.limits.timeout = Duration(*timeout);
  return record;
}

std::optional<Failure> Queries::last_failure(std::int64_t seq) {
  std::optional<Failure> failure;
  statements_->last_failure.first([&](Row row) { failure = failure_of(row, 0); }, seq);
  return failure;
}

Find::Answer Queries::answer(const Find& verb) {
  Find::Answer found;
  std::int64_t seq = 0;
  statements_->by_id.first(
      [&](Row row) {
        seq = row.integer(0);
        found = record(row);
        found->payload = row.string(18);
        if (!row.is_null(19)) found->key = row.string(19);
        if (!row.is_null(20)) found->trace = row.string(20);
        found->retry_on_failure = row.maybe_integer(21).value_or(0) != 0;
      },
      Blob{id_bytes(verb.id)});
  if (!found) return found;
  place(seq, *found);
  found->attempts = attempts(seq);
  statements_->succeeded.first(
      [&](Row row) {
        found->result = row.string(5);
        found->attempts.push_back({.token = found->task.token,
                                   .event = static_cast<core::Event>(row.integer(4)),
                                   .started = row.time(2),
                                   .ended = row.time(3),
                                   .owner = names_.text(row.integer(1))});
      },
      seq);
  return found;
}

void Queries::place(std::int64_t seq, TaskRecord& record) {
  if (!place_running(seq, record)) place_ended(seq, record);
  if (record.task.token.value > 0) record.task.last_failure = last_failure(seq);
}

bool Queries::place_running(std::int64_t seq, TaskRecord& record) {
  return statements_->running.first(
      [&](Row row) {
        record.task.state = State::running;
        record.task.token = {static_cast<std::uint64_t>(row.integer(0))};
        record.owner = names_.text(row.integer(1));
        record.changed = record.task.due = row.time(2);
        record.lease_end = row.time(3);
      },
      seq);
}

bool Queries::place_ended(std::int64_t seq, TaskRecord& record) {
  const bool succeeded = statements_->succeeded.first(
      [&](Row row) {
        record.task.state = State::succeeded;
        record.task.token = {static_cast<std::uint64_t>(row.integer(0))};
        record.changed = record.task.due = row.time(3);
      },
      seq);
  if (succeeded) return true;
  return statements_->parked.first(
      [&](Row row) {
        record.task.state = static_cast<State>(row.integer(0));
        record.task.token = {static_cast<std::uint64_t>(row.integer(1))};
        record.changed = record.task.due = row.time(2);
        if (const auto reason = row.maybe_integer(3)) {
          record.task.dead_reason = static_cast<core::DeadReason>(*reason);
        }
        record.fingerprint =
            Fingerprint(static_cast<std::uint64_t>(row.maybe_integer(4).value_or(0)));
      },
      seq);
}

std::vector<PastAttempt> Queries::attempts(std::int64_t seq) {
  std::vector<PastAttempt> past;
  statements_->attempts.each(
      [&](Row row) {
        past.push_back({.token = {static_cast<std::uint64_t>(row.integer(0))},
                        .event = static_cast<core::Event>(row.integer(1)),
                        .started = row.time(2),
                        .ended = row.time(3),
                        .owner = names_.text(row.integer(4)),
                        .failure = failure_of(row, 5)});
      },
      seq);
  return past;
}

Count::Answer Queries::answer(const Count&) {
  Count::Answer counts;
  statements_->queues.each([&](Row row) {
    const Names::Id queue = row.integer(0);
    QueueCounts entry;
    entry.queue = names_.text(queue);
    entry.paused = row.integer(1) != 0;
    entry.concurrency = row.small(2);
    entry.backlog = row.small(3);
    statements_->tally.each(
        [&](Row tally) {
          entry.by_state.at(static_cast<std::size_t>(tally.integer(0))) =
              static_cast<std::uint64_t>(std::max<std::int64_t>(tally.integer(1), 0));
        },
        queue);
    const bool empty = std::ranges::all_of(entry.by_state, [](auto count) { return count == 0; });
    const bool is_set = entry.paused || entry.concurrency != 0 || entry.backlog != 0;
    if (empty && !is_set) return;  // nothing to tell of it
    entry.oldest_due = oldest_due(queue);
    counts.push_back(std::move(entry));
  });
  std::ranges::sort(counts, {}, &QueueCounts::queue);
  return counts;
}

std::optional<WallTime> Queries::oldest_due(Names::Id queue) {
  std::optional<WallTime> oldest;
  std::int64_t rank = std::numeric_limits<std::int64_t>::min();
  const auto level = [&](Row row) {
    rank = row.integer(0);
    if (!oldest || row.time(1) < *oldest) oldest = row.time(1);
  };
  while (statements_->next_rank.first(level, queue, rank)) {
  }
  return oldest;
}

}  // namespace holdfast::stores::sqlite
