// What the store holds, and what the moves that it was asked for may be.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "simulation/store_model.hpp"
#include "simulation/task_types.hpp"

namespace holdfast::simulation {

using core::Event;
using core::Spends;
using core::State;

namespace {

// What a move has counted, read off the counts. Nothing: more than one thing, or by more than one.
std::optional<Spends> spends_of(const core::Spent& before, const core::Transition& transition) {
  const core::Spent& after = transition.spent;
  if (transition.event == Event::replay) {
    if (after.replays == before.replays + 1) return Spends::replay;
    return std::nullopt;
  }
  if (after == before) return Spends::nothing;
  const auto grown = [&](int core::Spent::* count) {
    core::Spent expected = before;
    ++(expected.*count);
    return after == expected;
  };
  if (grown(&core::Spent::attempts)) return Spends::attempt;
  if (grown(&core::Spent::crashes)) return Spends::crash;
  if (grown(&core::Spent::deferrals)) return Spends::deferral;
  return std::nullopt;
}

core::TaskPolicy policy_of(const KnownTask& known) {
  core::TaskPolicy policy = task_type(known.asked.type).policy;
  policy.attempts = known.asked.limits.attempts.value_or(policy.attempts);
  return policy;
}

}  // namespace

void StoreModel::check_move(const KnownTask& known, const ports::Change::One& one) {
  const core::Transition& transition = one.transition;
  const auto spends = spends_of(known.task.spent, transition);
  if (!spends) {
    broken(known, fmt::format("event {} counts wrongly", to_string(transition.event)));
    return;
  }
  const core::Move move{transition.from, transition.event, transition.to, *spends,
                        transition.dead_reason};
  const auto row = std::ranges::find(core::kMoves, move);
  if (row == core::kMoves.end()) {
    broken(known, "made a move that there is not: " + to_text(move));
    return;
  }
  ++parts_.stats->moves[static_cast<std::size_t>(row - core::kMoves.begin())];
  const bool grows = transition.from != State::running;
  const std::uint64_t next = known.task.token.value + (grows ? 1 : 0);
  if (transition.token.value != next) broken(known, "its token did not grow as it should");
  if (transition.to == State::retrying) check_wait(known, transition);
  if (transition.event == Event::expire && !known.task.deadline) {
    broken(known, "expired without a deadline");
  }
}

// The due time is as far off as the policy says, whoever decided.
void StoreModel::check_wait(const KnownTask& known, const core::Transition& transition) {
  const TaskType& type = task_type(known.asked.type);
  if (transition.wait < Duration::zero() || transition.wait > type.policy.longest_wait) {
    broken(known, "its wait is out of bounds");
  }
  int retry = 0;
  if (transition.event == Event::error) retry = transition.spent.attempts;
  if (transition.event == Event::crash) retry = transition.spent.crashes;
  if (retry == 0) return;
  const auto factor = std::pow(type.wait_factor, retry - 1);
  const Duration least = std::min<Duration>(
      std::chrono::seconds(20), std::chrono::duration_cast<Duration>(type.first_wait * factor));
  if (transition.wait < least) broken(known, "its backoff is shorter than its policy says");
}

void StoreModel::check_limits(const KnownTask& known) {
  const core::TaskPolicy policy = policy_of(known);
  const core::Spent& spent = known.task.spent;
  const int reach = core::is_terminal(known.task.state) ? 0 : 1;  // a waiting task has one left
  const auto passed = [&](int count, int limit) { return count + reach > std::max(limit, 1); };
  if (passed(spent.attempts, policy.attempts)) broken(known, "has had too many attempts");
  if (passed(spent.crashes, policy.crashes)) broken(known, "has crashed too often");
  if (passed(spent.deferrals, policy.deferrals)) broken(known, "was put off too often");
}

void StoreModel::compare_task(const KnownTask& known, const ports::TaskRecord& record) {
  if (record.task.state != known.task.state) {
    broken(known, fmt::format("is {} in the store", to_string(record.task.state)));
    return;
  }
  if (record.task.token != known.task.token) {
    broken(known, fmt::format("has token {} in the store", record.task.token.value));
    return;
  }
  if (record.task.due != known.task.due) broken(known, "is due at another time in the store");
  if (record.task != known.task) broken(known, "is not in the store as it was written");
  if (record.type != known.asked.type || record.queue != known.asked.queue ||
      record.priority != known.asked.priority || record.limits != known.asked.limits) {
    broken(known, "is not in the store as it was submitted");
  }
  if (record.owner != known.owner) broken(known, "has another owner in the store");
  if (record.lease_end != known.lease_end) broken(known, "has another lease in the store");
}

void StoreModel::compare(const stores::MemoryStore& kept, ports::Store& asked) {
  changed_ = false;
  if (kept.tasks().size() != tasks_.size()) {
    for (const auto& [id, known] : tasks_) {
      if (!kept.tasks().contains(id)) broken(known, "was accepted and is missing");
    }
    parts_.breach->found("the store holds a task that nobody submitted");
    return;
  }
  auto record = kept.tasks().begin();
  for (const auto& [id, known] : tasks_) {
    if (record->first != id) {
      broken(known, "was accepted and is missing");
      return;
    }
    compare_task(known, record->second.record);
    if (record->second.record.payload != known.asked.payload) broken(known, "its payload changed");
    if (record->second.record.result != known.result) broken(known, "its result is another");
    ++record;
  }
  // They look at everything again, so only where a task has moved.
  if (!std::exchange(moved_, false)) return;
  compare_counts(asked);
  compare_audit(asked);
}

void StoreModel::compare_counts(ports::Store& asked) {
  std::map<std::string, std::array<std::uint64_t, 7>> expected;
  for (const auto& [queue, settings] : settings_) {
    if (!is_open(queue)) expected[queue];
  }
  for (const auto& [id, known] : tasks_)
    ++expected[known.asked.queue][static_cast<std::size_t>(known.task.state)];
  const auto counts = ports::ask(asked, ports::Count());
  if (!counts || counts->size() != expected.size()) {
    parts_.breach->found("the counts do not have every queue");
    return;
  }
  for (const ports::QueueCounts& queue : *counts) {
    if (!expected.contains(queue.queue) || expected.at(queue.queue) != queue.by_state) {
      parts_.breach->found("the counts of queue " + queue.queue + " differ from a recount");
    }
  }
}

void StoreModel::compare_audit(ports::Store& asked) {
  const auto report = ports::ask(asked, ports::Audit());
  if (!report) {
    parts_.breach->found("the audit failed: " + report.error().text());
    return;
  }
  if (!report->clean()) {
    parts_.breach->found("the audit found: " +
                         (report->findings.empty() ? "?" : report->findings.front().what));
  }
  const std::uint64_t removed = std::accumulate(removed_.begin(), removed_.end(), std::uint64_t{0});
  if (report->accepted != tasks_.size() + removed || report->removed != removed_) {
    parts_.breach->found("the audit counts other tasks than were accepted");
  }
}

}  // namespace holdfast::simulation
