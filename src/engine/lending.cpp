#include "engine/lending.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <utility>

#include "core/rules.hpp"
#include "engine/carrier.hpp"

namespace holdfast::engine {
namespace {

// A thousand may wait for one task: only so many of them are asked for at once.
constexpr std::size_t kMostAsked = 64;
// One answer brings no more payload than this, unless it is a single task's: it is all in memory at
// once, here and at the worker's.
constexpr std::size_t kMostLentBytes = std::size_t{8} << 20U;

std::unexpected<Error> lost(const std::string& operation, const ports::TaskRecord& record) {
  return fail(ErrorCode::conflict, operation,
              "the claim on task " + record.id.text() + " is lost: the task is " +
                  std::string(core::to_string(record.task.state)) + " with token " +
                  std::to_string(record.task.token.value));
}

// As it is kept: with a mark in front, and cut at its end.
bool is_kept_as(const std::string& message, const Failure& kept) {
  std::string_view text = kept.message;
  const bool has_mark = text.starts_with(core::kNonRetryable);
  if (has_mark && !message.starts_with(core::kNonRetryable)) {
    text.remove_prefix(core::kNonRetryable.size());
  }
  return text.empty() ? message.empty() : message.starts_with(text);
}

// A dead letter may have been given up already, which is no attempt.
const ports::PastAttempt* last_attempt(const ports::TaskRecord& record) {
  const auto is_attempt = [](const ports::PastAttempt& past) {
    return past.event != core::Event::close;
  };
  const auto found = std::find_if(record.attempts.rbegin(), record.attempts.rend(), is_attempt);
  return found == record.attempts.rend() ? nullptr : &*found;
}

// The answer to the first report may have got lost on its way.
bool was_told_before(const ports::TaskRecord& record, const ports::Held& claim,
                     const core::Outcome& outcome) {
  const ports::PastAttempt* const found = last_attempt(record);
  if (!found || found->token != claim.token) return false;
  const ports::PastAttempt& last = *found;
  if (const auto* failure = std::get_if<Failure>(&outcome)) {
    // One that means that it was done before is kept as a success.
    if (last.event == core::Event::already_done) return true;
    return last.failure && last.failure->kind == failure->kind &&
           is_kept_as(failure->message, *last.failure);
  }
  if (std::holds_alternative<core::HandedBack>(outcome)) {
    return last.event == core::Event::hand_back;
  }
  if (std::holds_alternative<core::BreakerOpen>(outcome)) {
    return last.event == core::Event::breaker_open;
  }
  return last.event == core::Event::success;
}

// Where its task stands since, or that the claim is lost.
Result<core::Transition> told_before(const ports::TaskRecord& record, const ports::Held& claim,
                                     const core::Outcome& outcome) {
  if (!was_told_before(record, claim, outcome)) return lost("settle", record);
  core::Transition told{};
  told.from = core::State::running;
  told.to = record.task.state;
  told.event = last_attempt(record)->event;
  told.due = record.task.due;
  return told;
}

// What suffices to know it again: without a result, which may be large.
core::Outcome gist_of(const core::Outcome& outcome) {
  if (std::holds_alternative<core::Success>(outcome)) return core::Success{};
  return outcome;
}

}  // namespace

Engine::Ticket Lending::lend(Engine::Loan loan, Engine::Lent then) {
  // One that no other engine of this process has given.
  static std::atomic<Engine::Ticket> last_ticket = 0;
  const Engine::Ticket ticket = ++last_ticket;
  if (stopped_ || floor_.shutting_down || floor_.broken()) {
    auto refusal = floor_.broken() ? std::unexpected(*floor_.stats.broken)
                                   : fail(ErrorCode::unavailable, "claim", "shutting down");
    floor_.parts.loop.post(floor_.guarded(
        [then = std::move(then), refusal = std::move(refusal)]() mutable { then(refusal); }));
    return ticket;
  }
  const std::string queue = loan.queue;
  Desk& desk = desks_[queue];
  Waiting& waiting = desk.waiting.emplace_back(
      Waiting{.ticket = ticket, .loan = std::move(loan), .then = std::move(then)});
  waiting.patient = waiting.loan.wait > Duration::zero();
  if (waiting.patient) {
    waiting.patience = floor_.parts.loop.after(
        waiting.loan.wait, [this, queue, ticket] { out_of_patience(queue, ticket); });
  }
  ask(queue, desk, waiting);
  return ticket;
}

void Lending::withdraw(Engine::Ticket ticket) {
  for (auto desk = desks_.begin(); desk != desks_.end(); ++desk) {
    const auto found = find(desk->second, ticket);
    if (found == desk->second.waiting.end()) continue;
    // What it may be given meanwhile finds nobody, and goes back.
    return take_out(desk, found)(fail(ErrorCode::canceled, "claim", "the claimer is gone"));
  }
}

std::size_t Lending::withdraw(const std::string& worker) {
  std::vector<std::pair<std::string, Engine::Ticket>> found;
  for (auto& [queue, desk] : desks_) {
    for (const Waiting& waiting : desk.waiting) {
      if (waiting.loan.worker == worker) found.emplace_back(queue, waiting.ticket);
    }
  }
  for (const auto& [queue, ticket] : found)
    out_of_patience(queue, ticket);
  return found.size();
}

std::list<Lending::Waiting>::iterator Lending::find(Desk& desk, Engine::Ticket ticket) {
  return std::ranges::find(desk.waiting, ticket, &Waiting::ticket);
}

// Names of queues are free text: a desk goes with the last who waits at it.
Engine::Lent Lending::take_out(Desks::iterator desk, std::list<Waiting>::iterator waiting) {
  Engine::Lent then = std::move(waiting->then);
  desk->second.waiting.erase(waiting);
  if (desk->second.waiting.empty()) desks_.erase(desk);
  return then;
}

void Lending::ask(const std::string& queue, Desk& desk, Waiting& waiting) {
  waiting.asked = true;
  desk.noted_due = WallTime::max();
  ++under_way_;
  ports::Claim claim{.queue = queue,
                     .max = std::max<std::size_t>(waiting.loan.max, 1),
                     .owner = std::string(ports::kAway) + waiting.loan.worker,
                     .lease = waiting.loan.lease,
                     .now = floor_.wall_now()};
  Carrier* const carrier = floor_.carrier_of(queue);
  if (carrier) carrier->fill(claim);
  floor_.ask(floor_.parts.writer, std::move(claim),
             [this, queue, carrier, ticket = waiting.ticket,
              news = desk.news](ports::Asked<ports::Claim>& asked) {
               --under_way_;
               if (carrier) carrier->answered(asked);
               answered(queue, ticket, news, asked);
               if (stopped_) floor_.on_progress();
             });
}

void Lending::answered(const std::string& queue, Engine::Ticket ticket, std::uint64_t news,
                       ports::Asked<ports::Claim>& asked) {
  const auto at = desks_.find(queue);
  if (at == desks_.end() || find(at->second, ticket) == at->second.waiting.end()) {
    if (asked.answer) give_back(std::move(asked.answer->tasks), core::HandedBack{});
    return;
  }
  Desk& desk = at->second;
  const auto found = find(desk, ticket);
  if (!asked.answer) return take_out(at, found)(std::unexpected(asked.answer.error()));
  std::vector<ports::TaskRecord>& tasks = asked.answer->tasks;
  const bool gave = !tasks.empty();
  take_late(tasks);
  take_too_much(tasks);
  found->asked = false;
  // There may be others by now. One whose time is up is answered all the same, and a queue that
  // gives none is not asked faster for what is added to it.
  const bool has_news = found->patient && !asked.answer->blocked && desk.news != news;
  if (tasks.empty() && (gave || has_news)) return ask(queue, desk, *found);
  if (tasks.empty() && found->patient) return went_dry(queue, desk, *asked.answer);
  if (gave) desk.dry = false;  // and may have more, for others who were not asked for
  Engine::Lent then = take_out(at, found);
  run_once();
  if (Observer* observer = floor_.options.observer) {
    const WallTime now = floor_.wall_now();
    for (const ports::TaskRecord& record : tasks)
      observer->started(record, now);
  }
  then(std::move(tasks));
}

void Lending::went_dry(const std::string& queue, Desk& desk, const ports::Claim::Answer& answer) {
  desk.dry = true;
  const WallTime due = std::min(desk.noted_due, answer.next_due.value_or(WallTime::max()));
  if (answer.blocked || due == WallTime::max()) {
    // Others may add to the queue, or let it go on, without a word to us.
    wake_at(queue, desk, saturating_add(floor_.wall_now(), floor_.look_every()));
  } else {
    wake_at(queue, desk, due);
  }
}

void Lending::wake_at(const std::string& queue, Desk& desk, WallTime due) {
  const Duration wait = std::clamp(due - floor_.wall_now(), kLeastClaimWait,
                                   std::max(floor_.look_every(), kLeastClaimWait));
  // Only ever earlier: one who is told of a later time again and again would never look.
  const SteadyTime at = saturating_add(floor_.now(), wait);
  if (desk.wake && desk.wake_time <= at) return;
  desk.wake_time = at;
  desk.wake = floor_.parts.loop.after(wait, [this, queue] { news(queue); });
}

void Lending::out_of_patience(const std::string& queue, Engine::Ticket ticket) {
  const auto desk = desks_.find(queue);
  if (desk == desks_.end()) return;
  const auto found = find(desk->second, ticket);
  if (found == desk->second.waiting.end()) return;
  found->patient = false;
  if (found->asked) return;  // the store's answer is its own
  take_out(desk, found)(std::vector<ports::TaskRecord>());
}

void Lending::due_at(const std::string& queue, WallTime due) {
  const auto found = desks_.find(queue);
  if (found == desks_.end()) return;
  Desk& desk = found->second;
  if (due <= floor_.wall_now()) {
    ++desk.news;
    desk.dry = false;
    return;
  }
  desk.noted_due = std::min(desk.noted_due, due);
  if (desk.dry && !desk.waiting.empty()) wake_at(queue, desk, due);
}

void Lending::news(const std::string& queue) {
  const auto found = desks_.find(queue);
  if (found == desks_.end()) return;
  ++found->second.news;
  found->second.dry = false;
  run_once();
}

void Lending::any_news() {
  for (auto& [queue, desk] : desks_) {
    ++desk.news;
    desk.dry = false;
  }
  run_once();
}

void Lending::run_once() {
  for (auto& [queue, desk] : desks_) {
    if (desk.dry) continue;
    desk.wake.reset();
    std::size_t asked = 0;
    for (Waiting& waiting : desk.waiting) {
      if (!waiting.asked) ask(queue, desk, waiting);
      if (++asked >= kMostAsked) break;
    }
    desk.dry = true;  // until something is new
    // However those who were asked for fare, the rest of them is not forgotten.
    wake_at(queue, desk, saturating_add(floor_.wall_now(), floor_.look_every()));
  }
}

void Lending::stop() {
  stopped_ = true;
  Desks desks = std::exchange(desks_, {});
  for (auto& [queue, desk] : desks) {
    for (Waiting& waiting : desk.waiting) {
      floor_.parts.loop.post(floor_.guarded(
          [then = std::move(waiting.then)]() mutable { then(std::vector<ports::TaskRecord>()); }));
    }
  }
}

// No attempt begins after the deadline.
void Lending::take_late(std::vector<ports::TaskRecord>& tasks) {
  const WallTime now = floor_.wall_now();
  std::vector<ports::TaskRecord> late;
  std::erase_if(tasks, [&](ports::TaskRecord& record) {
    if (!core::is_late(record.task, now)) return false;
    late.push_back(std::move(record));
    return true;
  });
  give_back(std::move(late), core::Expired{});
}

void Lending::take_too_much(std::vector<ports::TaskRecord>& tasks) {
  std::size_t bytes = 0;
  std::size_t count = 0;
  while (count < tasks.size() &&
         (count == 0 || bytes + tasks[count].payload.size() <= kMostLentBytes)) {
    bytes += tasks[count++].payload.size();
  }
  const auto first = tasks.begin() + static_cast<std::ptrdiff_t>(count);
  std::vector<ports::TaskRecord> rest(std::make_move_iterator(first),
                                      std::make_move_iterator(tasks.end()));
  tasks.erase(first, tasks.end());
  give_back(std::move(rest), core::HandedBack{});
}

void Lending::give_back(std::vector<ports::TaskRecord> tasks, const core::Outcome& outcome) {
  for (ports::TaskRecord& record : tasks) {
    ++under_way_;
    carry_out(std::move(record), outcome, {}, [this](const Result<core::Transition>&) {
      --under_way_;  // where the store does not answer well, its lease ends
      if (stopped_) floor_.on_progress();
    });
  }
}

void Lending::look_up(TaskId id, LookedUp then) {
  floor_.ask(floor_.parts.reader, ports::Find{id},
             [id, then = std::move(then)](ports::Asked<ports::Find>& asked) mutable {
               if (!asked.answer) return then(std::unexpected(asked.answer.error()));
               if (!*asked.answer) {
                 return then(fail(ErrorCode::not_found, "settle", "there is no task " + id.text()));
               }
               then(**std::move(asked.answer));
             });
}

void Lending::settle(ports::Held claim, core::Outcome outcome, std::optional<Engine::Ruled> ruled,
                     Engine::Decided then) {
  look_up(claim.id, [this, claim, ruled, outcome = std::move(outcome),
                     then = std::move(then)](Result<ports::TaskRecord> found) mutable {
    if (!found) return then(std::unexpected(std::move(found).error()));
    if (found->task.state == core::State::running && found->task.token == claim.token) {
      return carry_out(*std::move(found), std::move(outcome), ruled, std::move(then));
    }
    then(told_before(*found, claim, outcome));
  });
}

ports::Change::One Lending::judge(const ports::TaskRecord& record, core::Outcome outcome,
                                  const std::optional<Engine::Ruled>& ruled) {
  const TaskType* known = floor_.find_type(record.type);
  if (known || !ruled) {
    const TaskType& type = known ? *known : floor_.type_or_default(record.type);
    return judge_.judge(record, type, std::move(outcome)).change;
  }
  // What the failure asks for is in it, as far as the worker's rules go along with that.
  const retry::Wait wait = retry::fixed(ruled->wait).capped(ruled->wait);
  const TaskType of_worker{.name = record.type,
                           .options = {.policy = {.attempts = ruled->attempts,
                                                  .crashes = ruled->crashes,
                                                  .replays = ruled->replays,
                                                  .wait = wait}}};
  return judge_.judge(record, of_worker, std::move(outcome), &ruled->verdict).change;
}

void Lending::carry_out(ports::TaskRecord record, core::Outcome outcome,
                        const std::optional<Engine::Ruled>& ruled, Engine::Decided then) {
  ports::Change change;
  core::Outcome gist = gist_of(outcome);
  change.changes.push_back(judge(record, std::move(outcome), ruled));
  const core::Transition& transition = change.changes.front().transition;
  if (!core::is_terminal(transition.to)) due_at(record.queue, transition.due);
  floor_.ask(floor_.parts.writer, std::move(change),
             [this, record = std::move(record), gist = std::move(gist),
              then = std::move(then)](ports::Asked<ports::Change>& asked) mutable {
               if (!asked.answer) return then(std::unexpected(asked.answer.error()));
               if (asked.answer->front() != ports::Change::Done::applied) {
                 ++floor_.stats.refused;
                 return recall({record.id, record.task.token}, std::move(gist), std::move(then));
               }
               const ports::Change::One& done = asked.verb.changes.front();
               ++floor_.stats.settled[static_cast<std::size_t>(done.transition.event)];
               judge_.log(record, done);
               const WallTime ended = saturating_add(done.transition.due, -done.transition.wait);
               floor_.tell({.task = record,
                            .transition = done.transition,
                            .ran = std::max(ended - record.changed, Duration::zero())});
               carried_(record, done.transition);
               then(done.transition);
               floor_.on_progress();
             });
  run_once();
}

// Who was faster may have told the same: a report may come twice at once.
void Lending::recall(ports::Held claim, core::Outcome gist, Engine::Decided then) {
  look_up(claim.id, [claim, gist = std::move(gist),
                     then = std::move(then)](const Result<ports::TaskRecord>& found) mutable {
    if (!found) return then(std::unexpected(found.error()));
    then(told_before(*found, claim, gist));
  });
}

void Lending::extend(ports::Held claim, Duration lease, Engine::Extended then) {
  const WallTime lease_end = saturating_add(floor_.wall_now(), lease);
  floor_.ask(floor_.parts.writer, ports::Renew{.claims = {claim}, .lease_end = lease_end},
             [claim, lease_end, then = std::move(then)](ports::Asked<ports::Renew>& asked) mutable {
               if (!asked.answer) return then(std::unexpected(asked.answer.error()));
               if (asked.answer->front()) return then(lease_end);
               then(fail(ErrorCode::conflict, "extend",
                         "the claim on task " + claim.id.text() +
                             " is lost: it was settled, canceled, or taken over after its lease"));
             });
}

}  // namespace holdfast::engine
