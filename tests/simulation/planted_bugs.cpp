#include "simulation/planted_bugs.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::simulation {

using core::Event;
using core::State;

std::string_view to_string(Bug bug) noexcept {
  switch (bug) {
    case Bug::settle_without_token: return "settle_without_token";
    case Bug::rescue_by_id: return "rescue_by_id";
    case Bug::retry_without_backoff: return "retry_without_backoff";
    case Bug::attempt_not_counted: return "attempt_not_counted";
    case Bug::shutdown_spends: return "shutdown_spends";
    case Bug::lease_never_ends: return "lease_never_ends";
    case Bug::claim_ahead: return "claim_ahead";
    case Bug::replay_twice: return "replay_twice";
    case Bug::store_ignores_token: return "store_ignores_token";
    case Bug::lost_retry: return "lost_retry";
    case Bug::ack_before_commit: return "ack_before_commit";
    case Bug::duplicate_claim: return "duplicate_claim";
    case Bug::purge_of_dead: return "purge_of_dead";
    case Bug::counter_drift: return "counter_drift";
    case Bug::paused_queue_claims: return "paused_queue_claims";
  }
  return "unknown";
}

std::optional<Bug> bug_named(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kBugs; ++i) {
    if (to_string(static_cast<Bug>(i)) == name) return static_cast<Bug>(i);
  }
  return std::nullopt;
}

void BuggyStore::carry_out(std::span<ports::Request> batch) {
  // One by one: a bug that looks at the present must see what those before it have done. And on
  // copies: who asked does not see how it was misunderstood.
  for (ports::Request& request : batch) {
    ports::Request wrong = request;
    std::visit([&](auto& asked) { before(asked); }, wrong);
    inner_->carry_out({&wrong, 1});
    std::visit([&](auto& asked) { after(asked); }, wrong);
    std::visit(
        [&]<class Asked>(Asked& asked) { asked.answer = std::get<Asked>(std::move(wrong)).answer; },
        request);
  }
}

const ports::TaskRecord* BuggyStore::find(const TaskId& id) const {
  const auto found = memory_->tasks().find(id);
  return found == memory_->tasks().end() ? nullptr : &found->second.record;
}

void BuggyStore::before(ports::Asked<ports::Change>& asked) {
  for (ports::Change::One& one : asked.verb.changes)
    change(one);
}

void BuggyStore::change(ports::Change::One& one) {
  core::Transition& transition = one.transition;
  const ports::TaskRecord* now = find(one.id);
  if (now == nullptr) return;
  const bool settles = transition.from == State::running && transition.event != Event::cancel;
  const auto take_present_token = [&] {
    one.token = now->task.token;
    transition.token = now->task.token;
  };
  switch (bug_) {
    case Bug::settle_without_token:
    case Bug::store_ignores_token:
      if (settles && now->task.state == State::running) take_present_token();
      break;
    case Bug::rescue_by_id:
      if (transition.event == Event::crash || transition.event == Event::hand_back) {
        take_present_token();
        transition.from = now->task.state;
      }
      break;
    case Bug::retry_without_backoff:
      if (transition.to == State::retrying) {
        transition.due -= transition.wait;
        transition.wait = {};
      }
      break;
    case Bug::attempt_not_counted:
      if (transition.event == Event::error) transition.spent = now->task.spent;
      break;
    case Bug::shutdown_spends:
      if (transition.event == Event::hand_back) {
        transition.event = Event::error;
        transition.to = State::retrying;
        transition.wait = std::chrono::minutes(1);
        transition.due += transition.wait;
        ++transition.spent.attempts;
      }
      break;
    case Bug::lost_retry:
      if (transition.to == State::retrying && ++count_ % 3 == 0) {
        transition.due = saturating_add(transition.due, std::chrono::hours(24 * 3650));
      }
      break;
    default: break;
  }
}

void BuggyStore::before(ports::Asked<ports::Claim>& asked) {
  if (bug_ == Bug::claim_ahead) asked.verb.now += std::chrono::hours(1);
}

void BuggyStore::before(ports::Asked<ports::Overdue>& asked) {
  if (bug_ == Bug::lease_never_ends) asked.verb.now = WallTime();
}

void BuggyStore::before(ports::Asked<ports::Submit>& asked) {
  if (bug_ != Bug::ack_before_commit || ++count_ % 5 != 0 || asked.verb.tasks.empty()) return;
  if (find(asked.verb.tasks.back().id) != nullptr || !asked.verb.tasks.back().key.empty()) return;
  forgotten_.push_back(asked.verb.tasks.back().id);
  asked.verb.tasks.pop_back();
}

void BuggyStore::before(ports::Asked<ports::Configure>& asked) {
  if (bug_ == Bug::paused_queue_claims && asked.verb.paused) asked.verb.paused = false;
}

void BuggyStore::after(ports::Asked<ports::Submit>& asked) {
  for (const TaskId& id : std::exchange(forgotten_, {})) {
    if (asked.answer) asked.answer->push_back(ports::Submit::Accepted{id, false});
  }
}

void BuggyStore::after(ports::Asked<ports::Claim>& asked) {
  if (bug_ != Bug::duplicate_claim || !asked.answer) return;
  for (const auto& [id, kept] : memory_->tasks()) {
    if (asked.answer->tasks.size() >= asked.verb.max) return;
    const bool given = std::ranges::find(asked.answer->tasks, id, &ports::TaskRecord::id) !=
                       asked.answer->tasks.end();
    if (kept.record.task.state == State::running && kept.record.queue == asked.verb.queue &&
        !given) {
      asked.answer->tasks.push_back(kept.record);
      return;
    }
  }
}

void BuggyStore::after(ports::Asked<ports::Purge>& asked) {
  if (bug_ != Bug::purge_of_dead) return;
  (void)ports::ask(*inner_, ports::Purge{State::dead, asked.verb.ended_before, 1});
}

void BuggyStore::after(ports::Asked<ports::Count>& asked) {
  if (bug_ != Bug::counter_drift || !asked.answer) return;
  for (ports::QueueCounts& queue : *asked.answer) {
    auto& retrying = queue.by_state[static_cast<std::size_t>(State::retrying)];
    if (retrying > 1) --retrying;
  }
}

void BuggyStore::after(ports::Asked<ports::Change>& asked) {
  if (bug_ != Bug::replay_twice) return;
  for (const ports::Change::One& one : asked.verb.changes) {
    if (one.transition.event == Event::replay) replayed_ = one;
  }
  if (!replayed_) return;
  const ports::TaskRecord* now = find(replayed_->id);
  if (now == nullptr || (now->task.state != State::dead && now->task.state != State::failed))
    return;
  replayed_->token = now->task.token;
  replayed_->transition.from = now->task.state;
  replayed_->transition.token.value = now->task.token.value + 1;
  replayed_->transition.spent.replays = now->task.spent.replays + 1;
  (void)ports::ask(*inner_, ports::Change{{*std::exchange(replayed_, std::nullopt)}});
}

}  // namespace holdfast::simulation
