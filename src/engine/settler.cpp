#include "engine/settler.hpp"

#include <iterator>
#include <utility>

#include "engine/processor.hpp"
#include "engine/task_log.hpp"

namespace holdfast::engine {
namespace {

// While the store is busy, fewer than this wait for its answer instead of making a request of
// their own.
constexpr std::size_t kWorthAsking = 32;

// The store is well, but will never take what it was asked.
bool is_about_content(const Error& error) {
  return error.code == ErrorCode::internal || error.code == ErrorCode::invalid_argument;
}

void report(Breaker::Permit& permit, const core::Outcome& outcome, const Verdict& verdict) {
  if (!permit) return;
  if (std::holds_alternative<core::Success>(outcome)) {
    permit.success();
    return;
  }
  const auto* failure = std::get_if<Failure>(&outcome);
  if (!failure) {
    permit = {};
    return;
  }
  const bool unwell = failure->kind != FailureKind::error || verdict.kind == VerdictKind::retry ||
                      verdict.kind == VerdictKind::throttle;
  if (unwell) {
    permit.failure();
  } else if (verdict.kind == VerdictKind::success) {
    permit.success();
  } else {
    permit = {};  // the task is at fault, which says nothing of the dependency
  }
}

}  // namespace

void Settler::settle(const std::shared_ptr<LiveRun>& run, core::Outcome outcome,
                     const Verdict* said) {
  run->on_loop.settling = true;
  if (floor_.options.observer && run->has_begun()) {
    run->on_loop.ran = floor_.now() - run->on_loop.started_at;
  }
  const bool succeeded = std::holds_alternative<core::Success>(outcome);
  if (run->on_loop.permit && !succeeded) {
    Judge::Judged judged = judge_.judge(run->task(), run->type(), outcome, said);
    report(run->on_loop.permit, outcome, judged.verdict);
    waiting_.changes.push_back(std::move(judged.change));
  } else {
    run->on_loop.permit.success();
    waiting_.changes.push_back(
        judge_.judge(run->task(), run->type(), std::move(outcome), said).change);
  }
  ports::Change::One& change = waiting_.changes.back();
  change.again = run->processor().keep_place(*run, change.transition);
  waiting_.runs.push_back(run);
}

void Settler::flush() {
  if (waiting_.runs.empty() || retry_ || floor_.broken()) return;
  if (under_way_ > 0 && waiting_.runs.size() < kWorthAsking) return;
  ask();
}

void Settler::ask() {
  if (repeated_) forget_lost();
  if (waiting_.runs.empty()) return;
  // Before the claims that follow, which tell of what is due later, and after the claims that are
  // under way, which do not.
  for (std::size_t i = 0; i < waiting_.runs.size(); ++i) {
    const ports::Change::One& change = waiting_.changes[i];
    if (core::is_terminal(change.transition.to) || change.again) continue;
    waiting_.runs[i]->processor().due_at(change.transition.due);
  }
  send(std::exchange(waiting_, {}), std::exchange(repeated_, false));
}

void Settler::send(Batch batch, bool repeated) {
  ++under_way_;
  if (repeated) ++repeated_under_way_;
  floor_.ask(
      floor_.parts.writer, ports::Change{std::move(batch.changes)},
      [this, runs = std::move(batch.runs), repeated](ports::Asked<ports::Change>& asked) mutable {
        answered(asked, std::move(runs), repeated);
      });
}

void Settler::answered(ports::Asked<ports::Change>& asked, Runs runs, bool repeated) {
  --under_way_;
  if (repeated) --repeated_under_way_;
  if (!asked.answer && is_about_content(asked.answer.error())) {
    if (runs.size() > 1) {
      apart(std::move(asked.verb.changes), std::move(runs), repeated);
    } else {
      cannot_be_kept(runs.front(), asked.answer.error());
    }
  } else if (!asked.answer) {
    keep(std::move(asked.verb.changes), std::move(runs), asked.answer.error());
  } else {
    backoff_.reset();
    for (std::size_t i = 0; i < runs.size(); ++i) {
      confirmed(*runs[i], asked.verb.changes[i], (*asked.answer)[i], repeated);
    }
  }
  flush();
  floor_.on_progress();
}

void Settler::confirmed(LiveRun& run, const ports::Change::One& change, ports::Change::Done done,
                        bool repeated) {
  Processor& processor = run.processor();
  processor.free_place(run);
  // Else its claim was lost meanwhile, or it was canceled.
  if (!std::exchange(run.on_loop.settled, true)) told(run, change, done, repeated);
  if (done == ports::Change::Done::again) processor.run_again(run, change.transition);
  floor_.runs.release(run);
}

void Settler::told(LiveRun& run, const ports::Change::One& change, ports::Change::Done done,
                   bool repeated) {
  using enum ports::Change::Done;
  if (done == applied || done == again) {
    ++floor_.stats.settled[static_cast<std::size_t>(change.transition.event)];
    judge_.log(run.task(), change);
    floor_.tell({.task = run.task(), .transition = change.transition, .ran = run.on_loop.ran});
    run.processor().settled_one();
    if (change.again && done == applied) run.processor().due_at(change.transition.due);
    return;
  }
  ++floor_.stats.refused;
  // It may wait, and nobody was told: see ask().
  if (repeated && change.again) run.processor().due_at(change.transition.due);
  log_task(floor_.parts.log,
           {Level::warning, "task.settle_refused",
            repeated ? "settled before, when the store could not say so, or no longer ours"
                     : "no longer ours: what the handler reported counts no more"},
           run.task(),
           {{"token", run.task().task.token.value},
            {"outcome", core::to_string(change.transition.event)}});
}

void Settler::keep(std::vector<ports::Change::One> changes, Runs runs, const Error& error) {
  repeated_ = true;
  // Earlier ones first; what has gathered since goes with them.
  std::ranges::move(waiting_.changes, std::back_inserter(changes));
  std::ranges::move(waiting_.runs, std::back_inserter(runs));
  waiting_ = {std::move(changes), std::move(runs)};
  if (floor_.broken() || retry_) return;
  const Duration wait = backoff_.next(floor_.parts.random);
  floor_.parts.log.log(Level::warning, "store.unavailable",
                       "the store did not take what became of tasks: kept, and told again",
                       {{"operation", "settle"},
                        {"tasks", waiting_.runs.size()},
                        {"attempt", backoff_.failures()},
                        {"wait", wait},
                        {"error", error.text()}});
  retry_ = floor_.parts.loop.after(wait, [this] {
    retry_.reset();
    flush();
    floor_.on_progress();
  });
}

// One that the store can never take must not keep the others from being settled.
void Settler::apart(std::vector<ports::Change::One> changes, Runs runs, bool repeated) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Batch one;
    one.changes.push_back(std::move(changes[i]));
    one.runs.push_back(std::move(runs[i]));
    send(std::move(one), repeated);
  }
}

void Settler::cannot_be_kept(const std::shared_ptr<LiveRun>& run, const Error& error) {
  auto& state = run->on_loop;
  run->processor().free_place(*run);
  if (state.settled) return;
  log_task(floor_.parts.log,
           {Level::error, "task.not_kept",
            state.not_kept ? "nor can the store keep that: its lease is left to end"
                           : "the store cannot keep how it ended: taken as a failure"},
           run->task(), {{"error", error.text()}});
  if (std::exchange(state.not_kept, true)) {
    state.settled = true;
    floor_.runs.release(*run);
    return;
  }
  settle(run, Failure{.message = "how it ended could not be stored: " + error.message});
}

void Settler::forget_lost() {
  Batch left;
  for (std::size_t i = 0; i < waiting_.runs.size(); ++i) {
    if (waiting_.runs[i]->on_loop.settled) {
      waiting_.runs[i]->processor().free_place(*waiting_.runs[i]);
      floor_.runs.release(*waiting_.runs[i]);
      continue;
    }
    left.changes.push_back(std::move(waiting_.changes[i]));
    left.runs.push_back(std::move(waiting_.runs[i]));
  }
  waiting_ = std::move(left);
}

}  // namespace holdfast::engine
