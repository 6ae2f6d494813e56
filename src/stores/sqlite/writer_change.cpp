#include "core/utf8.hpp"
#include "stores/sqlite/statements.hpp"

namespace holdfast::stores::sqlite {

using core::State;
using core::Transition;
using ports::Change;

namespace {

// When the task moved: a transition says when it is due, and how long it waits until then.
WallTime time_of(const Transition& transition) {
  return transition.due - transition.wait;
}

std::optional<int> number(const std::optional<core::DeadReason>& reason) {
  if (!reason) return std::nullopt;
  return static_cast<int>(*reason);
}

std::string_view kept(std::string_view message) {
  return utf8_prefix(message, ports::kKeptMessageBytes);
}

bool is_waiting(State state) {
  return state == State::pending || state == State::retrying;
}

bool has_group(State state) {
  return state == State::failed || state == State::dead;
}

}  // namespace

Result<Change::Answer> Writer::answer(const Change& verb) {
  for (const Change::One& change : verb.changes) {
    if (change.transition.to == State::running) {
      return fail(ErrorCode::invalid_argument, "change",
                  "task " + change.id.text() + " cannot be made to run but by a claim");
    }
  }
  Change::Answer answers;
  answers.reserve(verb.changes.size());
  std::vector<Again> again;
  for (const Change::One& change : verb.changes) {
    const bool from_running = change.transition.from == State::running;
    if (ports::is_to_be_claimed_again(change)) {
      answers.push_back(put_by(change, again));
      if (answers.back() == Change::Done::applied) again.back().place = answers.size() - 1;
    } else {
      answers.push_back(from_running ? change_running(change) : change_other(change));
    }
  }
  for (const Again& one : again) {
    if (claim_again(verb.changes[one.place], one.claim)) {
      answers[one.place] = Change::Done::again;
    }
  }
  return answers;
}

// What is to be claimed again: settled but for where it goes.
Change::Done Writer::put_by(const Change::One& change, std::vector<Again>& again) {
  const auto found = claimed_.find(change.id);
  if (found == claimed_.end()) {
    return known(change.id) ? Change::Done::moved_on : Change::Done::unknown_task;
  }
  if (found->second.token != change.token) return Change::Done::moved_on;
  again.push_back({.claim = found->second});
  claimed_.erase(found);
  tally_.move(again.back().claim.queue, State::running, change.transition.to);
  remember_attempt(again.back().claim, change.transition);
  wait_again(again.back().claim.seq, change.transition);
  return Change::Done::applied;
}

bool Writer::claim_again(const Change::One& change, Claimed claim) {
  const Transition& transition = change.transition;
  if (is_blocked(claim.queue)) {
    statements_->end_running.run(claim.seq);
    join_waiting(claim, transition);
    return false;
  }
  claim.token = {transition.token.value + 1};
  claim.started = to_us(time_of(transition));
  statements_->run_again.run(claim.seq, claim.token.value, claim.started);
  claimed_.insert_or_assign(change.id, claim);
  tally_.move(claim.queue, transition.to, State::running);
  return true;
}

bool Writer::is_blocked(Names::Id queue) const {
  const auto found = queues_.find(queue);
  if (found == queues_.end()) return false;
  const QueueSettings& settings = found->second;
  return settings.paused ||
         (settings.concurrency > 0 && tally_.count(queue, State::running) >= settings.concurrency);
}

void Writer::wait_again(std::int64_t seq, const Transition& transition) {
  const core::Spent& spent = transition.spent;
  statements_->wait_again.run(seq, static_cast<int>(transition.to), transition.token.value,
                              transition.due, time_of(transition), spent.attempts, spent.crashes,
                              spent.deferrals, spent.replays, transition.previous_wait.count(),
                              transition.deadline);
}

void Writer::put_to_wait(const auto& task, const Transition& transition) {
  wait_again(task.seq, transition);
  join_waiting(task, transition);
}

void Writer::join_waiting(const auto& task, const Transition& transition) {
  statements_->join_waiting.run(task.queue, task.rank, transition.due, task.seq,
                                static_cast<int>(transition.to), transition.token.value);
}

Change::Done Writer::change_running(const Change::One& change) {
  const auto found = claimed_.find(change.id);
  if (found == claimed_.end()) {
    return known(change.id) ? Change::Done::moved_on : Change::Done::unknown_task;
  }
  if (found->second.token != change.token) return Change::Done::moved_on;
  const Claimed claim = found->second;
  claimed_.erase(found);

  const Transition& transition = change.transition;
  statements_->end_running.run(claim.seq);
  tally_.move(claim.queue, State::running, transition.to);
  if (transition.to == State::succeeded) {
    std::optional<Blob> result;
    if (!change.result.empty()) result = Blob{change.result};
    statements_->succeed.run(claim.seq, transition.token.value, claim.owner, claim.started,
                             time_of(transition), static_cast<int>(transition.event), result);
    return Change::Done::applied;
  }
  remember_attempt(claim, transition);
  if (is_waiting(transition.to)) {
    put_to_wait(claim, transition);
  } else {
    put_aside(claim, change);
  }
  return Change::Done::applied;
}

Change::Done Writer::change_other(const Change::One& change) {
  const std::optional<Known> task = known(change.id);
  if (!task) return Change::Done::unknown_task;
  const Transition& transition = change.transition;
  if (task->state != transition.from || task->token != change.token) {
    return Change::Done::moved_on;
  }
  if (is_waiting(task->state)) {
    statements_->leave_waiting.run(task->queue, task->rank, task->due, task->seq);
  } else {
    statements_->unpark.run(task->seq);
    if (task->fingerprint) {
      groups_.leave({.state = task->state,
                     .fingerprint = *task->fingerprint,
                     .queue = task->queue,
                     .type = task->type});
    }
  }
  tally_.move(task->queue, transition.from, transition.to);
  const bool is_signed = !change.by.empty() && transition.token != change.token;
  if (transition.failure || is_signed) remember_note(task->seq, change);
  if (is_waiting(transition.to)) {
    put_to_wait(*task, transition);
  } else {
    put_aside(*task, change);
  }
  return Change::Done::applied;
}

// All that a transition says, also where it was made from a task of the same id that was purged
// since, and so may differ in more than it means to change.
void Writer::put_aside(const auto& task, const Change::One& change) {
  const Transition& transition = change.transition;
  statements_->spend.run(task.seq, transition.spent.attempts, transition.spent.crashes,
                         transition.spent.deferrals, transition.spent.replays,
                         transition.previous_wait.count(), transition.deadline);
  park(task, change);
}

std::optional<Writer::Known> Writer::known(const TaskId& id) {
  std::optional<Known> task;
  statements_->find_known.first(
      [&](Row row) {
        task = Known{.seq = row.integer(0),
                     .queue = row.integer(1),
                     .type = row.integer(10),
                     .state = static_cast<State>(row.integer(4)),
                     .token = {static_cast<std::uint64_t>(row.integer(5))},
                     .rank = row.integer(2),
                     .due = row.integer(3),
                     .fingerprint = row.maybe_integer(9)};
        if (!row.is_null(6)) {
          task->state = State::succeeded;
          task->token = {static_cast<std::uint64_t>(row.integer(6))};
        } else if (!row.is_null(7)) {
          task->state = static_cast<State>(row.integer(7));
          task->token = {static_cast<std::uint64_t>(row.integer(8))};
        }
      },
      Blob{id_bytes(id)});
  if (const auto claim = claimed_.find(id); claim != claimed_.end()) {
    task->state = State::running;
    task->token = claim->second.token;
  }
  return task;
}

void Writer::park(const auto& task, const Change::One& change) {
  const Transition& transition = change.transition;
  std::optional<std::int64_t> group;
  if (has_group(transition.to)) {
    group = static_cast<std::int64_t>(change.fingerprint.value());
    const std::string_view reason =
        transition.dead_reason ? to_string(*transition.dead_reason) : std::string_view();
    const std::string_view example =
        transition.failure ? kept(transition.failure->message) : reason;
    groups_.enter(
        {.state = transition.to, .fingerprint = *group, .queue = task.queue, .type = task.type},
        time_of(transition), ports::came_by(transition), example);
  }
  statements_->park.run(task.seq, static_cast<int>(transition.to), transition.token.value,
                        time_of(transition), number(transition.dead_reason), group);
}

void Writer::remember_attempt(const Claimed& claim, const Transition& transition) {
  remember(claim.seq, claim.token, claim.started, claim.owner, transition);
}

// What is noted of a task that does not run.
void Writer::remember_note(std::int64_t seq, const Change::One& change) {
  const Transition& transition = change.transition;
  remember(seq, transition.token, to_us(time_of(transition)), names_.intern(kept(change.by)),
           transition);
}

void Writer::remember(std::int64_t seq, core::Token token, std::int64_t started, Names::Id owner,
                      const Transition& transition) {
  std::optional<int> kind;
  std::optional<int> http_status;
  std::optional<int> exit_code;
  std::optional<int> os_error;
  std::optional<std::int64_t> retry_after;
  std::optional<std::string_view> message;
  if (const auto& failure = transition.failure) {
    kind = static_cast<int>(failure->kind);
    http_status = failure->http_status;
    exit_code = failure->exit_code;
    os_error = failure->os_error;
    if (failure->retry_after) retry_after = failure->retry_after->count();
    message = kept(failure->message);
  }
  statements_->insert_attempt.run(seq, token.value, static_cast<int>(transition.event), started,
                                  time_of(transition), owner, kind, http_status, exit_code,
                                  os_error, retry_after, message);
  if (token.value > ports::kKeptAttempts)
    statements_->prune_attempts.run(seq, ports::kKeptAttempts);
}

}  // namespace holdfast::stores::sqlite
