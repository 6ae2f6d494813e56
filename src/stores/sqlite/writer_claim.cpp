#include <limits>

#include "stores/sqlite/statements.hpp"

namespace holdfast::stores::sqlite {

using ports::Claim;
using ports::TaskRecord;

namespace {

constexpr std::int64_t kBeforeAnyRank = std::numeric_limits<std::int64_t>::min();

}  // namespace

Claim::Answer Writer::answer(const Claim& verb) {
  Claim::Answer answer;
  const auto queue = names_.find(verb.queue);
  if (!queue) {
    for (const TaskId& id : verb.only.value_or(std::vector<TaskId>()))
      answer.left.push_back({.id = id});
    return answer;
  }
  const QueueSettings settings = queues_.contains(*queue) ? queues_[*queue] : QueueSettings();
  std::size_t room = settings.paused ? 0 : verb.max;
  std::optional<std::size_t> free;  // under its limit of concurrency
  if (settings.concurrency > 0) {
    const std::int64_t running = tally_.count(*queue, core::State::running);
    free = static_cast<std::size_t>(std::max<std::int64_t>(settings.concurrency - running, 0));
    room = std::min(room, *free);
  }
  if (verb.only) {
    answer = claim_only(verb, *queue, room);
    answer.blocked = settings.paused || (free && answer.tasks.size() == *free);
    return answer;
  }
  // Rank by rank; few are in use at once, and each costs one look.
  const auto level = [&](std::int64_t after, std::int64_t& rank, WallTime& due) {
    const auto take = [&](Row row) {
      rank = row.integer(0);
      due = row.time(1);
    };
    return statements_->next_rank.first(take, *queue, after);
  };
  std::int64_t rank = kBeforeAnyRank;
  WallTime due;
  while (answer.tasks.size() < room && level(rank, rank, due)) {
    if (due <= verb.now) claim_rank(verb, *queue, rank, room - answer.tasks.size(), answer);
  }
  answer.blocked = settings.paused || (free && answer.tasks.size() == *free);
  rank = kBeforeAnyRank;
  while (level(rank, rank, due)) {
    if (!answer.next_due || due < *answer.next_due) answer.next_due = due;
  }
  return answer;
}

void Writer::claim_rank(const Claim& verb, Names::Id queue, std::int64_t rank, std::size_t most,
                        Claim::Answer& answer) {
  const std::size_t before = answer.tasks.size();
  const Names::Id owner = names_.intern(verb.owner);
  const std::int64_t now = to_us(verb.now);
  std::int64_t last_due = 0;
  std::int64_t last_seq = 0;
  statements_->take.each(
      [&](Row row) {
        last_seq = row.integer(0);
        last_due = row.integer(8);
        answer.tasks.push_back(begin(row, verb, queue, rank, owner));
      },
      queue, rank, now, most);
  if (answer.tasks.size() == before) return;
  statements_->begin_running.run(queue, rank, last_due, last_seq, owner, now,
                                 saturating_add(verb.now, verb.lease));
  statements_->end_waiting.run(queue, rank, last_due, last_seq);
}

TaskRecord Writer::begin(const Row& row, const Claim& verb, Names::Id queue, std::int64_t rank,
                         Names::Id owner) {
  const std::int64_t now = to_us(verb.now);
  const std::int64_t seq = row.integer(0);
  TaskRecord record = queries_.record(row);
  const bool ran_before = record.task.token.value > 0;
  record.payload = row.string(18);
  if (!row.is_null(19)) record.trace = row.string(19);
  record.retry_on_failure = row.maybe_integer(20).value_or(0) != 0;
  record.task.state = core::State::running;
  ++record.task.token.value;
  record.was_due = record.task.due;
  record.changed = record.task.due = from_us(now);
  record.owner = verb.owner;
  record.lease_end = from_us(to_us(saturating_add(verb.now, verb.lease)));
  claimed_.insert_or_assign(record.id, Claimed{.seq = seq,
                                               .queue = queue,
                                               .type = row.integer(3),
                                               .rank = rank,
                                               .token = record.task.token,
                                               .owner = owner,
                                               .started = now});
  if (ran_before) record.task.last_failure = queries_.last_failure(seq);
  const bool retrying = row.integer(6) == static_cast<int>(core::State::retrying);
  record.waited_as = retrying ? core::State::retrying : core::State::pending;
  tally_.move(queue, record.waited_as, core::State::running);
  return record;
}

Claim::Answer Writer::claim_only(const Claim& verb, Names::Id queue, std::size_t room) {
  Claim::Answer answer;
  const Names::Id owner = names_.intern(verb.owner);
  const std::int64_t now = to_us(verb.now);
  for (const TaskId& id : *verb.only) {
    const std::optional<Known> task = known(id);
    if (!task || task->queue != queue) {
      answer.left.push_back({.id = id});
      continue;
    }
    const bool waits = task->state == core::State::pending || task->state == core::State::retrying;
    if (!waits || task->due > now || answer.tasks.size() >= room) {
      const auto carried = carried_token(task->seq);
      answer.left.push_back(
          {.id = id,
           .state = task->state,
           .token = task->token,
           .due = waits ? from_us(task->due) : WallTime{},
           .carried = carried && *carried == static_cast<std::int64_t>(task->token.value)});
      continue;
    }
    statements_->take_one.first(
        [&](Row row) { answer.tasks.push_back(begin(row, verb, queue, task->rank, owner)); },
        task->seq);
    statements_->begin_running_one.run(task->seq, answer.tasks.back().task.token.value, owner, now,
                                       saturating_add(verb.now, verb.lease));
    statements_->leave_waiting.run(queue, task->rank, task->due, task->seq);
  }
  return answer;
}

}  // namespace holdfast::stores::sqlite
