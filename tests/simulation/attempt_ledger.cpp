#include "simulation/attempt_ledger.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace holdfast::simulation {

using core::Event;

int AttemptLedger::new_life(LifeFacts facts) {
  lives_.push_back(std::move(facts));
  return static_cast<int>(lives_.size());
}

void AttemptLedger::begun(int life, const Attempt& attempt, const ports::TaskRecord& task) {
  Facts& known = facts_[attempt];
  ++parts_.stats->attempts;
  if (known.begun) {
    parts_.breach->found(
        fmt::format("task {}: two attempts began with token {}", attempt.task, attempt.token));
  }
  if (core::is_late(task.task, parts_.clock->wall_now())) {
    parts_.breach->found(
        fmt::format("task {}: an attempt began after its deadline had passed", attempt.task));
  }
  known.begun = true;
  known.beat = parts_.clock->now();
  known.wall_beat = parts_.clock->wall_now();
  std::size_t& working = working_[{life, task.queue}];
  if (++working > this->life(life).concurrency) {
    parts_.breach->found(fmt::format("life {} works on {} tasks of queue {} at once, and may on {}",
                                     life, working, task.queue, this->life(life).concurrency));
  }
}

void AttemptLedger::heartbeat(const Attempt& attempt) {
  Facts& known = facts_[attempt];
  known.beat = parts_.clock->now();
  known.wall_beat = parts_.clock->wall_now();
}

void AttemptLedger::reported(int life, const Attempt& attempt, const std::string& queue,
                             Report report) {
  Facts& known = facts_[attempt];
  if (!known.report) known.report = report;
  if (known.begun && !std::exchange(known.ended, true)) --working_[{life, queue}];
}

void AttemptLedger::dropped(int life, const Attempt& attempt, const std::string& queue) {
  Facts& known = facts_[attempt];
  known.dropped = true;
  if (known.begun && !std::exchange(known.ended, true)) --working_[{life, queue}];
}

bool AttemptLedger::has_ended(const Attempt& attempt) const {
  const auto found = facts_.find(attempt);
  return found != facts_.end() && found->second.ended;
}

void AttemptLedger::on_claim(Asker asker, const KnownTask& before, const ports::Claim& claim) {
  if (life(asker.life).owner != claim.owner) {
    parts_.breach->found(fmt::format("life {} claims as {}", asker.life, claim.owner));
  }
  facts_[{before.number, before.task.token.value + 1}].claimed_by = asker.life;
}

bool AttemptLedger::has_timed_out(const KnownTask& before, const Facts& facts) const {
  if (!facts.begun) return false;
  const Duration timeout =
      before.asked.limits.timeout.value_or(task_type(before.asked.type).policy.timeout);
  // Either clock may tell: an engine waits by the steady one and says by the other when it ends.
  Duration allowed = timeout > Duration::zero() ? timeout : Duration::max();
  if (before.task.deadline) {
    allowed = std::min(allowed, *before.task.deadline - facts.wall_beat);
  }
  return parts_.clock->now() - facts.beat >= allowed ||
         parts_.clock->wall_now() - facts.wall_beat >= allowed;
}

bool AttemptLedger::may_be_error(const KnownTask& before, const Facts& facts) const {
  if (!task_type(before.asked.type).handled) return true;
  if (!facts.begun) return false;  // what has not begun spends nothing
  return facts.report == Report::retry || facts.dropped || has_timed_out(before, facts);
}

bool AttemptLedger::may_be_crash(Asker asker, const KnownTask& before, const Facts& facts) const {
  if (facts.begun && facts.report == Report::crash) return true;
  const LifeFacts& claimer = lives_.at(static_cast<std::size_t>(facts.claimed_by - 1));
  // A lease that had ended when the rescuer looked may have been renewed by the time it acts.
  const bool lost = claimer.dead || before.seen_overdue == before.task.token;
  if (!lost) return false;
  if (facts.begun) return true;
  // Claimed and not begun: only who cannot know may count it as a crash (N7).
  const LifeFacts& rescuer = lives_.at(static_cast<std::size_t>(asker.life - 1));
  const bool is_own = facts.claimed_by == asker.life;
  return !(is_own || rescuer.knows_last_life);
}

bool AttemptLedger::may_be_handed_back(Asker asker, const Facts& facts) const {
  if (!facts.begun || facts.report == Report::handed_back) return true;
  // By a shutdown that waited long enough (T3).
  const LifeFacts& settler = lives_.at(static_cast<std::size_t>(asker.life - 1));
  if (facts.claimed_by == asker.life) return settler.shutting_down;
  // Ended, but its process died before it could say so: the attempt is not to blame (N7).
  return facts.ended && lives_.at(static_cast<std::size_t>(facts.claimed_by - 1)).dead;
}

bool AttemptLedger::is_true(Asker asker, const KnownTask& before, const ports::Change::One& one,
                            const Facts& facts) const {
  const core::Transition& transition = one.transition;
  const auto said = [&](Report report) { return facts.report == report && facts.begun; };
  switch (transition.event) {
    case Event::claim: return false;  // a claim is no change
    case Event::success: return said(Report::success);
    case Event::already_done: return said(Report::already_done);
    case Event::error: return may_be_error(before, facts);
    case Event::crash: return may_be_crash(asker, before, facts);
    case Event::throttle: return said(Report::throttle);
    case Event::give_up: return said(Report::give_up) || said(Report::crash_give_up);
    case Event::ambiguous: return said(Report::ambiguous) || said(Report::crash_ambiguous);
    case Event::breaker_open: return !facts.begun;
    case Event::expire: return !facts.begun && before.task.deadline.has_value();
    case Event::hand_back: return may_be_handed_back(asker, facts);
    case Event::cancel:
    case Event::replay:
    case Event::discard: return true;  // looked at by who calls
    case Event::close: return false;   // of what does not run
  }
  return false;
}

bool AttemptLedger::may_be_redriven(const KnownTask& before) const {
  return before.task.state == core::State::dead && before.asked.retry_on_failure &&
         before.task.spent.replays < redrive_rounds_;
}

void AttemptLedger::on_move(Asker asker, const KnownTask& before, const ports::Change::One& one) {
  const Event event = one.transition.event;
  const auto complain = [&](std::string_view what) {
    parts_.breach->found(fmt::format("task {} with token {}: event \"{}\" by life {}: {}",
                                     before.number, one.token.value, to_string(event), asker.life,
                                     what));
  };
  if (event == Event::close && redrive_rounds_ < 0) complain("its dead letters are to be kept");
  const bool redriven = event == Event::replay && may_be_redriven(before);
  const bool by_hand = event == Event::cancel || event == Event::replay || event == Event::discard;
  if (by_hand && !redriven) {
    if (--asked_[{before.asked.id, event}] < 0) complain("more often than anybody asked for it");
  }
  if (before.task.state != core::State::running) return;
  Facts& facts = facts_[{before.number, one.token.value}];
  if (std::exchange(facts.settled, true)) complain("a second settlement was accepted");
  if (facts.claimed_by == 0) {
    complain("nobody has claimed it");
    return;
  }
  if (!is_true(asker, before, one, facts)) {
    complain(fmt::format("not what happened: {}, {}, life {} that claimed it {}",
                         facts.begun ? "it has begun" : "it has not begun",
                         facts.report ? "its handler said: " + std::string(to_string(*facts.report))
                                      : "its handler said nothing",
                         facts.claimed_by, life(facts.claimed_by).dead ? "is dead" : "lives"));
  }
  if (event == Event::success && one.result.empty()) complain("without the result");
}

}  // namespace holdfast::simulation
