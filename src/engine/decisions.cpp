#include "engine/decisions.hpp"

#include <utility>

#include "engine/task_log.hpp"

namespace holdfast::engine {

void Decisions::cancel(TaskId id, Engine::Decided then, std::string by) {
  const auto rule = [this](const ports::TaskRecord& record) {
    return core::cancel(record.task, floor_.wall_now());
  };
  look({"cancel", id, rule, std::move(then), std::move(by)});
}

void Decisions::replay(TaskId id, core::ReplayOptions options, Engine::Decided then,
                       std::string by) {
  const auto rule = [this, options](const ports::TaskRecord& record) {
    return would_replay(record, options);
  };
  look({"replay", id, rule, std::move(then), std::move(by)});
}

void Decisions::discard(TaskId id, Engine::Decided then, std::string by) {
  const auto rule = [this](const ports::TaskRecord& record) {
    return core::discard(record.task, floor_.wall_now());
  };
  look({"discard", id, rule, std::move(then), std::move(by)});
}

Result<core::Transition> Decisions::would_replay(const ports::TaskRecord& record,
                                                 const core::ReplayOptions& options) const {
  const TaskType& type = floor_.type_or_default(record.type);
  return core::replay(record.task, options, type.policy_of(record.limits), floor_.wall_now());
}

void Decisions::look(Asking asking) {
  const TaskId id = asking.id;
  floor_.ask(floor_.parts.reader, ports::Find{id},
             [this, asking = std::move(asking)](ports::Asked<ports::Find>& asked) mutable {
               if (!asked.answer) return asking.then(std::unexpected(asked.answer.error()));
               if (!*asked.answer) {
                 return asking.then(fail(ErrorCode::not_found, asking.operation,
                                         "there is no task " + asking.id.text()));
               }
               carry_out(std::move(asking), std::move(**asked.answer));
             });
}

void Decisions::carry_out(Asking asking, ports::TaskRecord record) {
  auto transition = asking.rule(record);
  if (!transition) return asking.then(std::unexpected(std::move(transition.error())));
  ports::Change change;
  change.changes.push_back({.id = record.id,
                            .token = record.task.token,
                            .transition = std::move(*transition),
                            .by = asking.by});
  floor_.ask(floor_.parts.writer, std::move(change),
             [this, asking = std::move(asking),
              record = std::move(record)](const ports::Asked<ports::Change>& asked) mutable {
               carried_out(std::move(asking), record, asked);
             });
}

void Decisions::carried_out(Asking asking, const ports::TaskRecord& record,
                            const ports::Asked<ports::Change>& asked) {
  if (!asked.answer) return asking.then(std::unexpected(asked.answer.error()));
  const core::Transition& transition = asked.verb.changes.front().transition;
  switch (asked.answer->front()) {
    case ports::Change::Done::applied:
    case ports::Change::Done::again: break;
    case ports::Change::Done::unknown_task:
      return asking.then(
          fail(ErrorCode::not_found, asking.operation, "there is no task " + asking.id.text()));
    case ports::Change::Done::moved_on:
      if (--asking.tries_left > 0) return look(std::move(asking));
      return asking.then(fail(ErrorCode::conflict, asking.operation,
                              "task " + asking.id.text() + " keeps changing: ask again"));
  }
  log_task(floor_.parts.log, {Level::info, "task." + asking.operation, "by a person's hand"},
           record,
           {{"from", core::to_string(transition.from)}, {"to", core::to_string(transition.to)}});
  carried_(record, transition);
  asking.then(transition);
}

}  // namespace holdfast::engine
