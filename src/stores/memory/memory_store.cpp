#include "stores/memory/memory_store.hpp"

#include <algorithm>
#include <tuple>

#include "core/utf8.hpp"

namespace holdfast::stores {

using core::State;
using ports::Change;
using ports::TaskRecord;

namespace {

bool is_waiting(State state) {
  return state == State::pending || state == State::retrying;
}

bool has_group(State state) {
  return state == State::failed || state == State::dead;
}

// As every store keeps times: to the microsecond.
WallTime kept(WallTime time) {
  const auto whole = std::chrono::floor<std::chrono::microseconds>(time);
  if (whole <= std::chrono::floor<std::chrono::microseconds>(WallTime::min())) {
    return WallTime::min();
  }
  if (whole >= std::chrono::floor<std::chrono::microseconds>(WallTime::max())) {
    return WallTime::max();
  }
  return whole;
}

std::optional<WallTime> kept(std::optional<WallTime> time) {
  if (time) time = kept(*time);
  return time;
}

std::optional<Failure> kept(std::optional<Failure> failure) {
  if (failure) failure->message = utf8_prefix(failure->message, ports::kKeptMessageBytes);
  return failure;
}

bool has_same_body(const TaskRecord& record, const ports::NewTask& task) {
  return record.type == task.type && record.queue == task.queue && record.payload == task.payload;
}

// What Claim tells: all but what only Find does.
TaskRecord for_claim(TaskRecord record) {
  record.key.clear();
  record.result.reset();
  record.attempts.clear();
  return record;
}

TaskRecord for_overdue(TaskRecord record) {
  record.payload.clear();
  return for_claim(std::move(record));
}

bool holds(const TaskRecord& record, core::Token token) {
  return record.task.state == State::running && record.task.token == token;
}

// The attempt that ends when the running task `record` is moved at `ended`.
void remember_attempt(TaskRecord& record, const core::Transition& transition, WallTime ended) {
  record.attempts.push_back({.token = record.task.token,
                             .event = transition.event,
                             .started = record.changed,
                             .ended = ended,
                             .owner = record.owner,
                             .failure = transition.failure});
  if (record.attempts.size() > ports::kKeptAttempts) record.attempts.erase(record.attempts.begin());
}

// What is noted of a task that does not run. `by`: who decided it, or nobody.
void remember_note(TaskRecord& record, const core::Transition& transition, WallTime moved,
                   std::string_view by) {
  record.attempts.push_back({.token = transition.token,
                             .event = transition.event,
                             .started = moved,
                             .ended = moved,
                             .owner = std::string(utf8_prefix(by, ports::kKeptMessageBytes)),
                             .failure = transition.failure});
  if (record.attempts.size() > ports::kKeptAttempts) record.attempts.erase(record.attempts.begin());
}

// What a claim has beside its token.
MemoryStore::Had had_by(const TaskRecord& record) {
  return {.owner = record.owner, .lease_end = record.lease_end};
}

}  // namespace

void MemoryStore::carry_out(std::span<ports::Request> batch) {
  for (ports::Request& request : batch) {
    std::visit([this](auto& asked) { asked.answer = run(asked.verb); }, request);
  }
}

bool MemoryStore::damage(const TaskId& id, const std::function<void(TaskRecord&)>& how) {
  const auto found = tasks_.find(id);
  if (found == tasks_.end()) return false;
  how(found->second.record);
  return true;
}

Result<ports::Submit::Answer> MemoryStore::run(const ports::Submit& verb) {
  ports::Submit::Answer answers;
  for (const ports::NewTask& task : verb.tasks)
    answers.push_back(accept(task));
  return answers;
}

Result<ports::Submit::Accepted> MemoryStore::accept(const ports::NewTask& task) {
  if (const auto key = keys_.find(task.key); key != keys_.end()) {
    const TaskRecord& earlier = tasks_.at(key->second).record;
    if (has_same_body(earlier, task)) return ports::Submit::Accepted{earlier.id, true};
    return fail(ErrorCode::conflict, "submit",
                "the key \"" + task.key + "\" belongs to task " + earlier.id.text() +
                    ", which has another type, queue or payload");
  }
  if (const auto same_id = tasks_.find(task.id); same_id != tasks_.end()) {
    const TaskRecord& earlier = same_id->second.record;
    if (has_same_body(earlier, task) && earlier.key == task.key) {
      return ports::Submit::Accepted{earlier.id, true};
    }
    return fail(ErrorCode::conflict, "submit",
                "task " + task.id.text() + " exists with another type, queue, payload or key");
  }
  if (!task.delivered && is_full(task.queue)) {
    return fail(ErrorCode::overloaded, "submit",
                "as many tasks wait in queue \"" + task.queue + "\" as its backlog allows (" +
                    std::to_string(settings_.at(task.queue).backlog) + "): try again later");
  }
  TaskRecord record;
  record.id = task.id;
  record.type = task.type;
  record.queue = task.queue;
  record.payload = task.payload;
  record.priority = task.priority;
  record.key = task.key;
  record.limits = task.limits;
  record.trace = task.trace;
  record.retry_on_failure = task.retry_on_failure;
  record.task.created = kept(task.created);
  record.task.due = kept(task.due);
  record.task.deadline = kept(task.deadline);
  record.task.spent.attempts = std::max(task.attempts, 0);
  record.changed = record.task.created;
  if (!task.key.empty()) keys_.emplace(task.key, task.id);
  Kept kept{std::move(record), static_cast<std::int64_t>(++accepted_)};
  if (task.carried) kept.carried = core::Token();
  tasks_.emplace(task.id, std::move(kept));
  return ports::Submit::Accepted{task.id, false};
}

Result<ports::Claim::Answer> MemoryStore::run(const ports::Claim& verb) {
  if (verb.only) return claim_only(verb);
  const WallTime now = kept(verb.now);
  using Place = std::tuple<int, WallTime, std::int64_t>;  // in the order of claims
  std::map<Place, TaskRecord*> waiting;
  for (auto& [id, task] : tasks_) {
    TaskRecord& record = task.record;
    if (record.queue != verb.queue || !is_waiting(record.task.state)) continue;
    if (record.task.due > now) continue;
    waiting.emplace(Place{-record.priority, record.task.due, task.number}, &record);
  }

  ports::Claim::Answer answer;
  for (auto& [place, record] : waiting) {
    if (answer.tasks.size() == verb.max || is_blocked(verb.queue)) break;
    auto claimed = claim_one(verb, *record);
    if (!claimed) return std::unexpected(claimed.error());
    answer.tasks.push_back(*std::move(claimed));
  }
  answer.next_due = next_due(verb.queue);
  answer.blocked = is_blocked(verb.queue);
  return answer;
}

Result<TaskRecord> MemoryStore::claim_one(const ports::Claim& verb, TaskRecord& record) {
  const WallTime now = kept(verb.now);
  auto transition = core::claim(record.task, now);
  if (!transition) return std::unexpected(transition.error());
  const WallTime was_due = record.task.due;
  core::apply(*transition, record.task);
  record.changed = now;
  record.owner = verb.owner;
  record.lease_end = kept(saturating_add(now, verb.lease));
  TaskRecord claimed = for_claim(record);
  claimed.waited_as = transition->from;
  claimed.was_due = was_due;
  return claimed;
}

Result<ports::Claim::Answer> MemoryStore::claim_only(const ports::Claim& verb) {
  ports::Claim::Answer answer;
  for (const TaskId& id : *verb.only) {
    const auto found = tasks_.find(id);
    if (found == tasks_.end() || found->second.record.queue != verb.queue) {
      answer.left.push_back({.id = id});
      continue;
    }
    TaskRecord& record = found->second.record;
    const bool waits = is_waiting(record.task.state);
    const bool has_room = answer.tasks.size() < verb.max && !is_blocked(verb.queue);
    if (waits && record.task.due <= kept(verb.now) && has_room) {
      auto claimed = claim_one(verb, record);
      if (!claimed) return std::unexpected(claimed.error());
      answer.tasks.push_back(*std::move(claimed));
      continue;
    }
    answer.left.push_back({.id = id,
                           .state = record.task.state,
                           .token = record.task.token,
                           .due = waits ? record.task.due : WallTime{},
                           .carried = found->second.carried == record.task.token});
  }
  answer.blocked = is_blocked(verb.queue);
  return answer;
}

bool MemoryStore::is_blocked(const std::string& queue) const {
  const auto found = settings_.find(queue);
  if (found == settings_.end()) return false;
  if (found->second.paused) return true;
  if (found->second.concurrency == 0) return false;
  const auto running = std::ranges::count_if(tasks_, [&](const auto& task) {
    const TaskRecord& record = task.second.record;
    return record.queue == queue && record.task.state == State::running;
  });
  return running >= found->second.concurrency;
}

bool MemoryStore::is_full(const std::string& queue) const {
  const auto found = settings_.find(queue);
  if (found == settings_.end() || found->second.backlog == 0) return false;
  const auto waiting = std::ranges::count_if(tasks_, [&](const auto& task) {
    const TaskRecord& record = task.second.record;
    return record.queue == queue && is_waiting(record.task.state);
  });
  return waiting >= found->second.backlog;
}

std::optional<WallTime> MemoryStore::next_due(const std::string& queue) const {
  std::optional<WallTime> earliest;
  for (const auto& [id, task] : tasks_) {
    const TaskRecord& record = task.record;
    if (record.queue != queue || !is_waiting(record.task.state)) continue;
    earliest = std::min(earliest.value_or(record.task.due), record.task.due);
  }
  return earliest;
}

Result<ports::Renew::Answer> MemoryStore::run(const ports::Renew& verb) {
  ports::Renew::Answer answers;
  for (const ports::Held& claim : verb.claims) {
    const auto found = tasks_.find(claim.id);
    const bool is_held = found != tasks_.end() && holds(found->second.record, claim.token);
    if (is_held) found->second.record.lease_end = kept(verb.lease_end);
    answers.push_back(is_held);
  }
  return answers;
}

Result<Change::Answer> MemoryStore::run(const Change& verb) {
  for (const Change::One& one : verb.changes) {
    if (one.transition.to != State::running) continue;
    return fail(ErrorCode::invalid_argument, "change",
                "task " + one.id.text() +
                    " cannot be made running by a change: it would have no "
                    "owner and no lease. Claim it");
  }
  Change::Answer answers;
  std::vector<Had> had;  // by each, before
  for (const Change::One& one : verb.changes) {
    const auto found = tasks_.find(one.id);
    had.push_back(found == tasks_.end() ? Had() : had_by(found->second.record));
    answers.push_back(change(one));
  }
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const Change::One& one = verb.changes[i];
    if (answers[i] != Change::Done::applied || !is_to_be_claimed_again(one)) continue;
    if (claim_again(tasks_.at(one.id).record, had[i])) answers[i] = Change::Done::again;
  }
  return answers;
}

bool MemoryStore::claim_again(TaskRecord& record, const Had& had) {
  if (is_blocked(record.queue)) return false;
  const auto transition = core::claim(record.task, record.changed);
  if (!transition) return false;
  core::apply(*transition, record.task);
  record.owner = had.owner;
  record.lease_end = had.lease_end;
  return true;
}

Change::Done MemoryStore::change(const Change::One& one) {
  const auto found = tasks_.find(one.id);
  if (found == tasks_.end()) return Change::Done::unknown_task;
  TaskRecord& record = found->second.record;
  if (record.task.state != one.transition.from || record.task.token != one.token) {
    return Change::Done::moved_on;
  }

  core::Transition transition = one.transition;
  const WallTime moved = kept(transition.due - transition.wait);
  transition.due = kept(transition.due);
  transition.deadline = kept(transition.deadline);
  transition.failure = kept(transition.failure);

  if (has_group(record.task.state)) leave_group(record);
  if (record.task.state == State::running) {
    remember_attempt(record, transition, moved);
  } else if (transition.failure || (!one.by.empty() && transition.token != record.task.token)) {
    remember_note(record, transition, moved, one.by);
  }
  core::apply(transition, record.task);
  record.changed = moved;
  record.owner.clear();
  record.lease_end = {};
  record.result.reset();
  if (transition.to == State::succeeded) record.result = one.result;
  record.fingerprint = has_group(transition.to) ? one.fingerprint : Fingerprint();
  if (has_group(transition.to)) {
    enter_group(record, transition);
  }
  return Change::Done::applied;
}

Result<ports::Overdue::Answer> MemoryStore::run(const ports::Overdue& verb) {
  ports::Overdue::Answer overdue;
  for (const auto& [id, task] : tasks_) {
    const TaskRecord& record = task.record;
    if (record.task.state != State::running) continue;
    const bool is_orphan = !verb.sole_owner.empty() && record.owner != verb.sole_owner &&
                           !record.owner.starts_with(ports::kAway);
    if (record.lease_end >= kept(verb.now) && !is_orphan) continue;
    if (overdue.size() == verb.max) break;
    overdue.push_back(for_overdue(record));
  }
  return overdue;
}

Result<ports::Purge::Answer> MemoryStore::run(const ports::Purge& verb) {
  if (!core::is_terminal(verb.state)) {
    return fail(ErrorCode::invalid_argument, "purge",
                "tasks that are " + std::string(to_string(verb.state)) + " have not ended");
  }
  std::map<std::pair<WallTime, std::int64_t>, TaskId> oldest_first;
  for (const auto& [id, task] : tasks_) {
    const TaskRecord& record = task.record;
    if (record.task.state != verb.state || record.changed >= kept(verb.ended_before)) continue;
    oldest_first.emplace(std::pair(record.changed, task.number), id);
  }

  std::size_t purged = 0;
  for (const auto& [place, id] : oldest_first) {
    if (purged == verb.max) break;
    const TaskRecord& record = tasks_.at(id).record;
    if (has_group(verb.state)) leave_group(record);
    keys_.erase(record.key);
    tasks_.erase(id);
    ++removed_[static_cast<std::size_t>(verb.state)];
    ++purged;
  }
  return purged;
}

Result<ports::Configure::Answer> MemoryStore::run(const ports::Configure& verb) {
  if (verb.concurrency && *verb.concurrency < 0) {
    return fail(ErrorCode::invalid_argument, "configure",
                "the concurrency of queue \"" + verb.queue + "\" cannot be " +
                    std::to_string(*verb.concurrency) + ": at least 0, which is no limit");
  }
  if (verb.backlog && *verb.backlog < 0) {
    return fail(ErrorCode::invalid_argument, "configure",
                "the backlog of queue \"" + verb.queue + "\" cannot be " +
                    std::to_string(*verb.backlog) + ": at least 0, which is no limit");
  }

  Settings& settings = settings_[verb.queue];
  settings.paused = verb.paused.value_or(settings.paused);
  settings.concurrency = verb.concurrency.value_or(settings.concurrency);
  settings.backlog = verb.backlog.value_or(settings.backlog);
  if (settings == Settings()) settings_.erase(verb.queue);
  return ports::Configure::Answer();
}

Result<ports::Carried::Answer> MemoryStore::run(const ports::Carried& verb) {
  std::size_t said = 0;
  for (const ports::Held& held : verb.tasks) {
    const auto found = tasks_.find(held.id);
    if (found == tasks_.end()) continue;
    const core::Task& task = found->second.record.task;
    if (task.token != held.token || !(is_waiting(task.state) || task.state == State::dead))
      continue;
    found->second.carried = held.token;
    ++said;
  }
  return said;
}

Result<ports::Withdraw::Answer> MemoryStore::run(const ports::Withdraw& verb) {
  ports::Withdraw::Answer answers;
  for (const TaskId& id : verb.tasks) {
    const auto found = tasks_.find(id);
    const bool can = found != tasks_.end() && !found->second.carried &&
                     found->second.record.task.state == State::pending &&
                     found->second.record.task.token == core::Token();
    answers.push_back(can);
    if (!can) continue;
    if (!found->second.record.key.empty()) keys_.erase(found->second.record.key);
    ++removed_[static_cast<std::size_t>(State::pending)];
    tasks_.erase(found);
  }
  return answers;
}

}  // namespace holdfast::stores
