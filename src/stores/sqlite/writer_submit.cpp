#include "stores/sqlite/statements.hpp"

namespace holdfast::stores::sqlite {

using ports::NewTask;
using ports::Submit;

Submit::Answer Writer::answer(const Submit& verb) {
  const std::int64_t before = last_seq_;
  Submit::Answer answers;
  answers.reserve(verb.tasks.size());
  for (const NewTask& task : verb.tasks)
    answers.push_back(accept(task));
  // All new ones at once, read back from their wide rows: cheaper than a statement for each.
  if (last_seq_ > before) statements_->wait_new.run(before);
  return answers;
}

Result<Submit::Accepted> Writer::accept(const NewTask& task) {
  if (task.payload.size() > ports::kMostPayloadBytes) {
    return fail(ErrorCode::invalid_argument, "submit",
                "a payload of " + std::to_string(task.payload.size()) + " bytes: at most " +
                    std::to_string(ports::kMostPayloadBytes));
  }
  std::optional<std::int64_t> same;
  const auto found = [&](Row row) { same = row.integer(0); };
  if (!task.key.empty() && statements_->seq_by_key.first(found, task.key)) {
    return same_as(*same, task);
  }
  const Names::Id queue = names_.intern(task.queue);
  if (auto refusal = task.delivered ? std::nullopt : refusal_of(queue)) {
    // What exists already adds nothing to the backlog.
    if (!statements_->seq_by_id.first(found, Blob{id_bytes(task.id)})) {
      return std::unexpected(*std::move(refusal));
    }
    return same_as(*same, task);
  }
  const std::int64_t seq = last_seq_ + 1;
  const auto nanoseconds = [](Duration span) { return span.count(); };
  std::optional<std::int64_t> timeout;
  if (task.limits.timeout) timeout = nanoseconds(*task.limits.timeout);
  std::optional<std::string_view> key;
  if (!task.key.empty()) key = task.key;
  std::optional<std::string_view> trace;
  if (!task.trace.empty()) trace = task.trace;
  statements_->insert_task.run(
      seq, Blob{id_bytes(task.id)}, queue, names_.intern(task.type), task.priority, task.created,
      static_cast<int>(core::State::pending), task.due, task.deadline, task.limits.attempts,
      timeout, key, Blob{task.payload}, trace, std::max(task.attempts, 0), task.retry_on_failure);
  if (database_.changes() == 0) {
    statements_->seq_by_id.first(found, Blob{id_bytes(task.id)});
    return same_as(same.value(), task);
  }
  last_seq_ = seq;
  if (key) statements_->insert_key.run(*key, seq);
  if (task.carried) statements_->carry.run(seq, 0);
  tally_.accept(queue);
  return Submit::Accepted{.id = task.id, .existed = false};
}

std::optional<Error> Writer::refusal_of(Names::Id queue) {
  const auto found = queues_.find(queue);
  if (found == queues_.end() || found->second.backlog == 0) return std::nullopt;
  const std::int64_t waiting =
      tally_.count(queue, core::State::pending) + tally_.count(queue, core::State::retrying);
  if (waiting < found->second.backlog) return std::nullopt;
  return Error{ErrorCode::overloaded, "submit",
               "as many tasks wait in queue '" + names_.text(queue) + "' as its backlog allows (" +
                   std::to_string(found->second.backlog) + "): try again later"};
}

Result<Submit::Accepted> Writer::same_as(std::int64_t seq, const NewTask& task) {
  TaskId id;
  bool same = false;
  std::string key;
  statements_->same_task.first(
      [&](Row row) {
        id = task_id(row.bytes(0));
        same = names_.text(row.integer(1)) == task.queue &&
               names_.text(row.integer(2)) == task.type && row.bytes(3) == task.payload;
        if (!row.is_null(4)) key = row.string(4);
      },
      seq);
  if (same && key == task.key) return Submit::Accepted{.id = id, .existed = true};
  const std::string by = id == task.id ? "the id " + id.text() : "the key '" + task.key + "'";
  return fail(
      ErrorCode::conflict, "submit",
      by + " belongs to task " + id.text() + ", which has another type, queue, payload or key");
}

}  // namespace holdfast::stores::sqlite
