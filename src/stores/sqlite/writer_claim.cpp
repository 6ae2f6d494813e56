#include <limits>

#include "stores/sqlite/statements.hpp"

namespace holdfast::stores::sqlite {

using namespace ports;

namespace {

constexpr std::int64_t kBeforeAnyRank = std::numeric_limits<std::int64_t>::min();

}  // namespace

Claim::Answer Writer::answer(const Claim& verb) {
  Claim::Answer answer;
  const auto queue = names_.find(verb.queue);
  if (!queue) return answer;
  const QueueSettings settings = queues_.contains(*queue) ? queues_[*queue] : QueueSettings();
  std::size_t room = settings.paused ? 0 : verb.max;
  std::optional<std::size_t> free;  // under its limit of concurrency
  if (settings.concurrency > 0) {
    const std::int64_t running = tally_.count(*queue, core::State::running);
    free = static_cast<std::size_t>(std::max<std::int64_t>(settings.concurrency - running, 0));
    room = std::min(room, *free);
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
        TaskRecord& record = answer.tasks.emplace_back(queries_.record(row));
        const bool ran_before = record.task.token.value > 0;
        record.payload = row.string(18);
        if (!row.is_null(19)) record.trace = row.string(19);
        record.task.state = core::State::running;
        ++record.task.token.value;
        record.was_due = record.task.due;
        record.changed = record.task.due = from_us(now);
        record.owner = verb.owner;
        record.lease_end = from_us(to_us(saturating_add(verb.now, verb.lease)));
        claimed_.insert_or_assign(record.id, Claimed{.seq = last_seq,
                                                     .queue = queue,
                                                     .rank = rank,
                                                     .token = record.task.token,
                                                     .owner = owner,
                                                     .started = now});
        if (ran_before) record.task.last_failure = queries_.last_failure(last_seq);
        const bool retrying = row.integer(6) == static_cast<int>(core::State::retrying);
        record.waited_as = retrying ? core::State::retrying : core::State::pending;
        tally_.move(queue, record.waited_as, core::State::running);
      },
      queue, rank, now, most);
  if (answer.tasks.size() == before) return;
  statements_->begin_running.run(queue, rank, last_due, last_seq, owner, now,
                                 saturating_add(verb.now, verb.lease));
  statements_->end_waiting.run(queue, rank, last_due, last_seq);
}

}  // namespace holdfast::stores::sqlite
