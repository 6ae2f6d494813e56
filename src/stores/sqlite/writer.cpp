#include "stores/sqlite/writer.hpp"

#include <utility>

#include "stores/sqlite/audit.hpp"
#include "stores/sqlite/statements.hpp"

namespace holdfast::stores::sqlite {

using ports::Asked;
using ports::Audit;
using ports::Configure;
using ports::Held;
using ports::Overdue;
using ports::Purge;
using ports::Renew;
using ports::Request;
using ports::TaskRecord;

Writer::Writer(Database database, Logger log, int checkpoint_pages)
    : log_(log),
      checkpoint_pages_(checkpoint_pages),
      database_(std::move(database)),
      statements_(std::make_unique<Statements>(database_)),
      names_(database_),
      tally_(database_),
      groups_(database_),
      queries_(database_, names_) {
  load();
}

Writer::~Writer() = default;

std::string Writer::operation() const {
  return "store " + database_.path();
}

void Writer::load() {
  names_.forget();
  tally_.load();
  groups_.forget();
  claimed_.clear();
  statements_->all_running.each([&](Row row) {
    claimed_.emplace(task_id(row.bytes(0)),
                     Claimed{.seq = row.integer(2),
                             .queue = row.integer(1),
                             .type = row.integer(7),
                             .rank = row.integer(6),
                             .token = {static_cast<std::uint64_t>(row.integer(3))},
                             .owner = row.integer(4),
                             .started = row.integer(5)});
  });
  queues_.clear();
  statements_->all_queues.each([&](Row row) {
    queues_[row.integer(0)] = {
        .paused = row.integer(1) != 0, .concurrency = row.integer(2), .backlog = row.integer(3)};
  });
  last_seq_ = database_.number("select max(seq) from task");
}

void Writer::carry_out(std::span<Request> batch) {
  if (broken_) return refuse(batch, *broken_);
  try {
    transact(batch);
  } catch (const SqlError& error) {
    if (error.is_fatal()) broken_ = error.error(operation());
    return take_back(batch, error.error(operation()));
  } catch (const std::exception& error) {
    return take_back(batch, {ErrorCode::internal, operation(), error.what()});
  }
  checkpoint_when_due();
}

// No answer of the failed transaction may be left: what they tell of has not happened.
void Writer::take_back(std::span<Request> batch, const Error& error) {
  roll_back();
  if (broken_) {
    log_.log(Level::critical, "store.broken",
             "the disk cannot be trusted any more: everything is refused until a restart",
             {{"path", database_.path()}, {"error", broken_->message}});
    return refuse(batch, *broken_);
  }
  refuse(batch, error);
  if (batch.size() == 1) return;
  for (Request& request : batch)
    carry_out({&request, 1});
}

void Writer::transact(std::span<Request> requests) {
  statements_->begin.run();
  for (Request& request : requests) {
    std::visit(
        [&]<class Verb>(Asked<Verb>& asked) {
          if (ports::is_query(request)) write_counters();  // queries read them
          if constexpr (std::is_same_v<Verb, Audit>) {
            write_counters();  // the audit looks at the file
            asked.answer = audit(database_, {.repair = asked.verb.repair});
            if (asked.verb.repair) load();
          } else if constexpr (requires { queries_.answer(asked.verb); }) {
            asked.answer = queries_.answer(asked.verb);
          } else {
            asked.answer = answer(asked.verb);
          }
        },
        request);
  }
  write_counters();
  statements_->commit.run();
}

void Writer::write_counters() {
  tally_.write();
  groups_.write();
}

void Writer::roll_back() noexcept {
  try {
    if (database_.in_transaction()) database_.execute("rollback");
    load();
  } catch (const std::exception& error) {
    // Memory no longer says what the file says, and cannot be made to.
    if (!broken_)
      broken_ = Error{ErrorCode::corrupt, "roll back " + database_.path(), error.what()};
  }
}

void Writer::refuse(std::span<Request> requests, const Error& error) {
  for (Request& request : requests) {
    std::visit([&](auto& asked) { asked.answer = std::unexpected(error); }, request);
  }
}

void Writer::checkpoint_when_due() {
  if (database_.wal_pages() < checkpoint_pages_) return;
  try {
    database_.checkpoint();
  } catch (const SqlError& error) {
    // The batch is durable in the log, and so is answered well; what follows is not.
    if (error.is_fatal()) broken_ = error.error("checkpoint " + database_.path());
    log_.log(error.is_fatal() ? Level::critical : Level::warning, "store.checkpoint",
             "what the log holds could not be moved into the file",
             {{"path", database_.path()}, {"error", error.what()}});
  }
}

Renew::Answer Writer::answer(const Renew& verb) {
  Renew::Answer held;
  held.reserve(verb.claims.size());
  for (const Held& claim : verb.claims) {
    const auto found = claimed_.find(claim.id);
    held.push_back(found != claimed_.end() && found->second.token == claim.token);
    if (held.back()) statements_->renew.run(found->second.seq, verb.lease_end);
  }
  return held;
}

Overdue::Answer Writer::answer(const Overdue& verb) {
  constexpr Names::Id kNobody = -1;
  std::optional<Names::Id> good;
  if (!verb.sole_owner.empty()) good = names_.find(verb.sole_owner).value_or(kNobody);
  Overdue::Answer records;
  statements_->overdue.each(
      [&](Row row) {
        TaskRecord& record = records.emplace_back(queries_.record(row));
        record.task.state = core::State::running;
        record.task.token = {static_cast<std::uint64_t>(row.integer(18))};
        record.owner = names_.text(row.integer(19));
        record.changed = record.task.due = row.time(20);
        record.lease_end = row.time(21);
        if (!row.is_null(22)) record.trace = row.string(22);
        record.retry_on_failure = row.maybe_integer(23).value_or(0) != 0;
        record.task.last_failure = queries_.last_failure(row.integer(0));
      },
      verb.now, good, verb.max);
  return records;
}

Result<Purge::Answer> Writer::answer(const Purge& verb) {
  if (!core::is_terminal(verb.state)) {
    return fail(ErrorCode::invalid_argument, "purge",
                "tasks that are " + std::string(to_string(verb.state)) + " are still wanted");
  }
  std::vector<std::int64_t> seqs;
  const auto collect = [&](Row row) { seqs.push_back(row.integer(0)); };
  const bool succeeded = verb.state == core::State::succeeded;
  if (succeeded) {
    statements_->old_succeeded.each(collect, verb.ended_before, verb.max);
  } else {
    statements_->old_parked.each(collect, verb.ended_before, verb.max,
                                 static_cast<int>(verb.state));
  }
  for (const std::int64_t seq : seqs) {
    statements_->purge_info.first(
        [&](Row row) {
          tally_.remove(row.integer(0), verb.state);
          if (!row.is_null(1)) statements_->delete_key.run(row.bytes(1), seq);
          if (row.is_null(2)) return;
          groups_.leave({.state = verb.state,
                         .fingerprint = row.integer(2),
                         .queue = row.integer(0),
                         .type = row.integer(3)});
        },
        seq);
    (succeeded ? statements_->delete_succeeded : statements_->unpark).run(seq);
    statements_->delete_attempts.run(seq);
    statements_->delete_carried.run(seq);
    statements_->delete_task.run(seq);
  }
  return seqs.size();
}

Result<Configure::Answer> Writer::answer(const Configure& verb) {
  const auto refuse = [&](const std::string& what, int value) {
    return fail(ErrorCode::invalid_argument, "configure",
                "queue '" + verb.queue + "' cannot have a " + what + " of " +
                    std::to_string(value) + "; 0 means no limit");
  };
  if (verb.concurrency && *verb.concurrency < 0) return refuse("concurrency", *verb.concurrency);
  if (verb.backlog && *verb.backlog < 0) return refuse("backlog", *verb.backlog);
  if (!verb.paused && !verb.concurrency && !verb.backlog) return Configure::Answer{};
  const Names::Id queue = names_.intern(verb.queue);
  QueueSettings& settings = queues_[queue];
  if (verb.paused) settings.paused = *verb.paused;
  if (verb.concurrency) settings.concurrency = *verb.concurrency;
  if (verb.backlog) settings.backlog = *verb.backlog;
  statements_->configure.run(queue, settings.paused, settings.concurrency, settings.backlog);
  return Configure::Answer{};
}

}  // namespace holdfast::stores::sqlite
