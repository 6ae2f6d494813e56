#include "stores/sqlite/statements.hpp"

namespace holdfast::stores::sqlite {

using core::State;
using ports::Carried;
using ports::Held;
using ports::Withdraw;

std::optional<std::int64_t> Writer::carried_token(std::int64_t seq) {
  std::optional<std::int64_t> token;
  statements_->find_carried.first([&](Row row) { token = row.integer(0); }, seq);
  return token;
}

Carried::Answer Writer::answer(const Carried& verb) {
  std::size_t said = 0;
  for (const Held& held : verb.tasks) {
    const std::optional<Known> task = known(held.id);
    if (!task || task->token != held.token) continue;
    const bool has_message = task->state == State::pending || task->state == State::retrying ||
                             task->state == State::dead;
    if (!has_message) continue;
    statements_->carry.run(task->seq, held.token.value);
    ++said;
  }
  return said;
}

Withdraw::Answer Writer::answer(const Withdraw& verb) {
  Withdraw::Answer answers;
  answers.reserve(verb.tasks.size());
  for (const TaskId& id : verb.tasks) {
    const std::optional<Known> task = known(id);
    const bool can = task && task->state == State::pending && task->token == core::Token() &&
                     !carried_token(task->seq);
    answers.push_back(can);
    if (!can) continue;
    statements_->purge_info.first(
        [&](Row row) {
          if (!row.is_null(1)) statements_->delete_key.run(row.bytes(1), task->seq);
        },
        task->seq);
    statements_->leave_waiting.run(task->queue, task->rank, task->due, task->seq);
    statements_->delete_task.run(task->seq);
    tally_.remove(task->queue, State::pending);
  }
  return answers;
}

}  // namespace holdfast::stores::sqlite
