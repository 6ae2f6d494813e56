#include "engine/rescuer.hpp"

#include <algorithm>
#include <compare>
#include <utility>

#include "engine/task_log.hpp"

namespace holdfast::engine {
namespace {

constexpr std::size_t kOverduePage = 1000;

bool is_before(const ports::Held& a, const ports::Held& b) {
  return a.id != b.id ? a.id < b.id : a.token < b.token;
}

}  // namespace

void Rescuer::start(std::function<void()> first_done) {
  first_done_ = std::move(first_done);
  const ports::Witness* witness = floor_.parts.witness;
  if (witness && witness->last_life()) {
    had_begun_ = *witness->last_life();
    std::ranges::sort(had_begun_, is_before);
  }
  run_once();
}

void Rescuer::stop() {
  stopped_ = true;
  timer_.reset();
}

void Rescuer::run_once() {
  if (stopped_ || under_way_ || floor_.broken()) return;
  timer_.reset();
  under_way_ = true;
  ask();
}

void Rescuer::ask() {
  const bool all_others = first_ && floor_.options.sole_owner;
  floor_.ask(floor_.parts.writer,
             ports::Overdue{.now = floor_.wall_now(),
                            .sole_owner = all_others ? floor_.options.owner : "",
                            .max = kOverduePage},
             [this](ports::Asked<ports::Overdue>& asked) { found(asked); });
}

void Rescuer::found(ports::Asked<ports::Overdue>& asked) {
  if (!asked.answer) return failed(asked.answer.error());
  const bool more = asked.answer->size() >= kOverduePage;
  Records lost;
  std::vector<ports::Held> alive;
  for (ports::TaskRecord& record : *asked.answer) {
    const ports::Held claim{record.id, record.task.token};
    // The clock was set, or the store was away.
    const bool runs_on = record.owner == floor_.options.owner && floor_.runs.find(claim);
    // Nobody was here to extend it: its worker gets time to find us.
    const bool is_away = first_ && record.owner.starts_with(ports::kAway);
    if (runs_on || is_away) {
      alive.push_back(claim);
    } else {
      lost.push_back(std::move(record));
    }
  }
  if (!alive.empty()) renew(std::move(alive));
  if (!lost.empty()) return settle(std::move(lost), more);
  more ? ask() : done();
}

void Rescuer::renew(std::vector<ports::Held> claims) {
  const WallTime lease_end = saturating_add(floor_.wall_now(), floor_.options.lease);
  floor_.ask(floor_.parts.writer, ports::Renew{std::move(claims), lease_end},
             [](const ports::Asked<ports::Renew>&) {});  // who lost a claim hears from the keeper
}

bool Rescuer::had_begun(const ports::TaskRecord& record) const {
  const ports::Witness* witness = floor_.parts.witness;
  // The witness knows of the process that ran here before, and of no other.
  if (!floor_.options.sole_owner || !witness || !witness->last_life()) return true;
  return std::ranges::binary_search(had_begun_, ports::Held{record.id, record.task.token},
                                    is_before);
}

core::Outcome Rescuer::outcome_of(const ports::TaskRecord& record) const {
  if (record.owner.starts_with(ports::kAway)) {
    return Failure{.message = "the worker that had it was not heard of until its lease ended",
                   .kind = FailureKind::crash};
  }
  // Claimed by ourselves, but the store could not tell us: nobody has begun it.
  if (record.owner == floor_.options.owner || !had_begun(record)) return core::HandedBack{};
  return Failure{.message = "the process that ran it is gone", .kind = FailureKind::crash};
}

void Rescuer::settle(Records records, bool more) {
  ports::Change change;
  change.changes.reserve(records.size());
  for (const ports::TaskRecord& record : records) {
    const TaskType& type = floor_.type_or_default(record.type);
    change.changes.push_back(judge_.judge(record, type, outcome_of(record)).change);
  }
  floor_.ask(floor_.parts.writer, std::move(change),
             [this, records = std::move(records), more](const ports::Asked<ports::Change>& asked) {
               settled(asked, records, more);
             });
}

void Rescuer::settled(const ports::Asked<ports::Change>& asked, const Records& records, bool more) {
  if (!asked.answer) return failed(asked.answer.error());
  for (std::size_t i = 0; i < records.size(); ++i) {
    if ((*asked.answer)[i] != ports::Change::Done::applied) continue;  // its owner was faster
    const ports::Change::One& change = asked.verb.changes[i];
    const ports::TaskRecord& record = records[i];
    ++floor_.stats.rescued;
    const bool began = change.transition.event != core::Event::hand_back;
    log_task(floor_.parts.log,
             {began ? Level::warning : Level::info, "task.rescued",
              began ? "its owner is gone while it was running"
                    : "its owner is gone before it had begun"},
             record,
             {{"owner", record.owner},
              {"crashes", change.transition.spent.crashes},
              {"state", core::to_string(change.transition.to)}});
    floor_.tell({.task = record, .transition = change.transition, .rescued = true});
    if (core::is_terminal(change.transition.to)) judge_.log(record, change);
    if (!core::is_terminal(change.transition.to)) due_(record.queue);
  }
  more ? ask() : done();
}

void Rescuer::failed(const Error& error) {
  under_way_ = false;
  if (stopped_ || floor_.broken()) return;
  const Duration wait = backoff_.next(floor_.parts.random);
  floor_.parts.log.log(Level::warning, "store.unavailable",
                       "the store did not answer a rescue: asked again",
                       {{"operation", "rescue"},
                        {"attempt", backoff_.failures()},
                        {"wait", wait},
                        {"error", error.text()}});
  timer_ = floor_.parts.loop.after(wait, [this] { run_once(); });
}

void Rescuer::done() {
  under_way_ = false;
  backoff_.reset();
  if (std::exchange(first_, false)) {
    // Not sooner: if this life ends before it has rescued them, the next one must still know.
    if (floor_.parts.witness) floor_.parts.witness->forget_last_life();
    if (first_done_) std::exchange(first_done_, nullptr)();
  }
  if (stopped_) return;
  timer_ = floor_.parts.loop.after(floor_.options.sweep_every, [this] { run_once(); });
}

}  // namespace holdfast::engine
