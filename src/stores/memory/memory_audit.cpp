// What can be wrong in a MemoryStore, and how it is put right.
#include <algorithm>
#include <numeric>

#include "ports/groups.hpp"
#include "stores/memory/memory_store.hpp"

namespace holdfast::stores {

using core::State;
using ports::TaskRecord;

namespace {

constexpr std::size_t kToldFindings = 100;

struct Check {
  const char* what;
  bool (*is_broken)(const TaskRecord&);
  void (*repair)(TaskRecord&);
};

bool has_group(const TaskRecord& record) {
  return record.task.state == State::failed || record.task.state == State::dead;
}

bool is_running(const TaskRecord& record) {
  return record.task.state == State::running;
}

// Repairs lose no task: what cannot be told any more is left to a person.
constexpr Check kChecks[] = {
    {"is in no state that there is",
     [](const TaskRecord& record) { return record.task.state > State::canceled; },
     [](TaskRecord& record) {
       record.task.state = State::dead;
       record.task.dead_reason = core::DeadReason::ambiguous;
     }},
    {"is running, but was never claimed",
     [](const TaskRecord& record) { return is_running(record) && record.task.token.value == 0; },
     [](TaskRecord& record) { record.task.state = State::pending; }},
    {"is not running, but has an owner or a lease",
     [](const TaskRecord& record) {
       return !is_running(record) && (!record.owner.empty() || record.lease_end != WallTime());
     },
     [](TaskRecord& record) {
       record.owner.clear();
       record.lease_end = {};
     }},
    {"is dead without a reason",
     [](const TaskRecord& record) {
       return record.task.state == State::dead && !record.task.dead_reason;
     },
     [](TaskRecord& record) { record.task.dead_reason = core::DeadReason::ambiguous; }},
    {"was not dead, but has a reason for it",
     [](const TaskRecord& record) { return !has_group(record) && record.task.dead_reason; },
     [](TaskRecord& record) { record.task.dead_reason.reset(); }},
    {"has succeeded without a result",
     [](const TaskRecord& record) {
       return record.task.state == State::succeeded && !record.result;
     },
     [](TaskRecord& record) { record.result.emplace(); }},
    {"has not succeeded, but has a result",
     [](const TaskRecord& record) {
       return record.task.state != State::succeeded && record.result;
     },
     [](TaskRecord& record) { record.result.reset(); }},
    {"has not failed, but belongs to a group of failures",
     [](const TaskRecord& record) {
       return !has_group(record) && record.fingerprint != Fingerprint();
     },
     [](TaskRecord& record) { record.fingerprint = {}; }},
    {"has more attempts than are kept",
     [](const TaskRecord& record) { return record.attempts.size() > ports::kKeptAttempts; },
     [](TaskRecord& record) {
       const auto extra = std::ssize(record.attempts) - ports::kKeptAttempts;
       record.attempts.erase(record.attempts.begin(), record.attempts.begin() + extra);
     }},
    {"has spent less than nothing",
     [](const TaskRecord& record) {
       const core::Spent& spent = record.task.spent;
       return spent.attempts < 0 || spent.crashes < 0 || spent.deferrals < 0 || spent.replays < 0;
     },
     [](TaskRecord& record) {
       core::Spent& spent = record.task.spent;
       for (int* count : {&spent.attempts, &spent.crashes, &spent.deferrals, &spent.replays}) {
         *count = std::max(*count, 0);
       }
     }},
};

void note(ports::AuditReport& report, std::string what, const std::string& task, bool repaired) {
  ++report.found;
  if (report.findings.size() == kToldFindings) return;
  report.findings.push_back({.what = std::move(what), .task = task, .repaired = repaired});
}

std::uint64_t sum(const std::array<std::uint64_t, 7>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

}  // namespace

Result<ports::Audit::Answer> MemoryStore::run(const ports::Audit& verb) {
  ports::AuditReport report;
  audit_records(verb.repair, report);
  audit_keys(verb.repair, report);
  audit_groups(verb.repair, report);

  report.removed = removed_;
  for (const auto& [id, task] : tasks_) {
    const auto state = static_cast<std::size_t>(task.record.task.state);
    if (state < report.present.size()) ++report.present[state];
  }
  const std::uint64_t known = tasks_.size() + sum(removed_);
  if (accepted_ != known) {
    note(report,
         std::to_string(accepted_) + " tasks were accepted, but " + std::to_string(known) +
             " are there or were removed",
         "", verb.repair);
    if (verb.repair) accepted_ = known;
  }
  report.accepted = accepted_;
  return report;
}

void MemoryStore::audit_records(bool repair, ports::AuditReport& report) {
  for (auto& [id, task] : tasks_) {
    for (const Check& check : kChecks) {
      if (!check.is_broken(task.record)) continue;
      note(report, "task " + id.text() + " " + check.what, id.text(), repair);
      if (repair) check.repair(task.record);
    }
  }
}

void MemoryStore::audit_keys(bool repair, ports::AuditReport& report) {
  std::map<std::string, TaskId> right;
  for (const auto& [id, task] : tasks_) {
    const std::string& key = task.record.key;
    if (key.empty()) continue;
    right.emplace(key, id);
    const auto found = keys_.find(key);
    if (found != keys_.end() && found->second == id) continue;
    note(report, "the key \"" + key + "\" of task " + id.text() + " does not lead to it", id.text(),
         repair);
  }
  for (const auto& [key, id] : keys_) {
    if (right.contains(key)) continue;
    note(report, "the key \"" + key + "\" leads to task " + id.text() + ", which has it not",
         id.text(), repair);
  }
  if (repair) keys_ = std::move(right);
}

void MemoryStore::audit_groups(bool repair, ports::AuditReport& report) {
  std::map<GroupKey, ports::Group> right = groups_;
  for (auto& [key, group] : right) {
    group.count = 0;
    group.parts.clear();
  }
  std::map<GroupKey, std::map<std::pair<std::string, std::string>, std::uint64_t>> parts;
  for (const auto& [id, task] : tasks_) {
    const TaskRecord& record = task.record;
    if (!has_group(record)) continue;
    const auto& failure = record.task.last_failure;
    const ports::Group fresh{.state = record.task.state,
                             .fingerprint = record.fingerprint,
                             .first_seen = record.changed,
                             .last_seen = record.changed,
                             .example = failure ? failure->message : std::string()};
    const GroupKey key{fresh.state, fresh.fingerprint};
    ++right.try_emplace(key, fresh).first->second.count;
    ++parts[key][{record.queue, record.type}];
  }

  for (auto& [key, group] : right) {
    for (const auto& [part, count] : parts[key])
      group.parts.push_back({.queue = part.first, .type = part.second, .count = count});
    ports::sort_parts(group.parts);
    const auto known = groups_.find(key);
    const std::uint64_t told = known == groups_.end() ? 0 : known->second.count;
    const std::string name =
        "the group " + key.second.text() + " of " + std::string(to_string(key.first)) + " tasks";
    if (told != group.count) {
      note(report,
           name + " counts " + std::to_string(told) + ", and has " + std::to_string(group.count),
           "", repair);
    } else if (known != groups_.end() && known->second.parts != group.parts) {
      note(report, name + " says wrongly which queues and types they are of", "", repair);
    }
  }
  std::erase_if(right, [](const auto& group) { return group.second.count == 0; });
  if (repair) groups_ = std::move(right);
}

}  // namespace holdfast::stores
