#include "engine/lending.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <utility>

#include "core/rules.hpp"

namespace holdfast::engine {
namespace {

// A thousand may wait for one task: only so many of them are asked for at once.
constexpr std::size_t kMostAsked = 64;
// A queue that has just given nothing is not asked sooner, whatever it says is due.
constexpr Duration kLeastWait = std::chrono::milliseconds(1);

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

// The answer to the first report may have got lost on its way.
bool was_told_before(const ports::TaskRecord& record, const ports::Held& claim,
                     const core::Outcome& outcome) {
  if (record.attempts.empty() || record.attempts.back().token != claim.token) return false;
  const ports::PastAttempt& last = record.attempts.back();
  if (const auto* failure = std::get_if<Failure>(&outcome)) {
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
  Waiting& waiting =
      desk.waiting.emplace_back(Waiting{.ticket = ticket, .loan = loan, .then = std::move(then)});
  waiting.patient = loan.wait > Duration::zero();
  if (waiting.patient) {
    waiting.patience = floor_.parts.loop.after(
        loan.wait, [this, queue, ticket] { out_of_patience(queue, ticket); });
  }
  ask(queue, desk, waiting);
  return ticket;
}

void Lending::withdraw(Engine::Ticket ticket) {
  for (auto& [queue, desk] : desks_) {
    const auto found = find(desk, ticket);
    if (found == desk.waiting.end()) continue;
    Engine::Lent then = std::move(found->then);
    desk.waiting.erase(found);  // what it may be given meanwhile finds nobody, and goes back
    return then(fail(ErrorCode::canceled, "claim", "the claimer is gone"));
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

void Lending::ask(const std::string& queue, Desk& desk, Waiting& waiting) {
  waiting.asked = true;
  desk.noted_due = WallTime::max();
  floor_.ask(floor_.parts.writer,
             ports::Claim{.queue = queue,
                          .max = std::max<std::size_t>(waiting.loan.max, 1),
                          .owner = std::string(ports::kAway) + waiting.loan.worker,
                          .lease = waiting.loan.lease,
                          .now = floor_.wall_now()},
             [this, queue, ticket = waiting.ticket, news = desk.news](
                 ports::Asked<ports::Claim>& asked) { answered(queue, ticket, news, asked); });
}

void Lending::answered(const std::string& queue, Engine::Ticket ticket, std::uint64_t news,
                       ports::Asked<ports::Claim>& asked) {
  Desk& desk = desks_[queue];
  const auto found = find(desk, ticket);
  const bool gone = found == desk.waiting.end();
  if (!asked.answer) {
    if (gone) return;
    Engine::Lent then = std::move(found->then);
    desk.waiting.erase(found);
    return then(std::unexpected(asked.answer.error()));
  }
  const bool gave = !asked.answer->tasks.empty();
  take_late(asked.answer->tasks);
  if (gone) return give_back(std::move(asked.answer->tasks), core::HandedBack{});
  found->asked = false;
  if (asked.answer->tasks.empty() && (gave || desk.news != news)) {
    return ask(queue, desk, *found);  // there may be others by now
  }
  if (asked.answer->tasks.empty() && found->patient) return went_dry(queue, desk, *asked.answer);
  Engine::Lent then = std::move(found->then);
  desk.waiting.erase(found);
  if (Observer* observer = floor_.options.observer) {
    const WallTime now = floor_.wall_now();
    for (const ports::TaskRecord& record : asked.answer->tasks)
      observer->started(record, now);
  }
  then(std::move(asked.answer->tasks));
}

void Lending::went_dry(const std::string& queue, Desk& desk, const ports::Claim::Answer& answer) {
  desk.dry = true;
  const WallTime due = std::min(desk.noted_due, answer.next_due.value_or(WallTime::max()));
  if (answer.blocked || due == WallTime::max()) {
    // Others may add to the queue, or let it go on, without a word to us.
    wake_at(queue, desk, saturating_add(floor_.wall_now(), floor_.options.sweep_every));
  } else {
    wake_at(queue, desk, due);
  }
}

void Lending::wake_at(const std::string& queue, Desk& desk, WallTime due) {
  const Duration wait = std::clamp(due - floor_.wall_now(), kLeastWait,
                                   std::max(floor_.options.sweep_every, kLeastWait));
  desk.wake = floor_.parts.loop.after(wait, [this, queue] { news(queue); });
}

void Lending::out_of_patience(const std::string& queue, Engine::Ticket ticket) {
  Desk& desk = desks_[queue];
  const auto found = find(desk, ticket);
  if (found == desk.waiting.end()) return;
  found->patient = false;
  if (found->asked) return;  // the store's answer is its own
  Engine::Lent then = std::move(found->then);
  desk.waiting.erase(found);
  then(std::vector<ports::TaskRecord>());
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
  }
}

void Lending::stop() {
  stopped_ = true;
  for (auto& [queue, desk] : desks_) {
    desk.wake.reset();
    for (Waiting& waiting : std::exchange(desk.waiting, {})) {
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

void Lending::give_back(std::vector<ports::TaskRecord> tasks, const core::Outcome& outcome) {
  // Where the store does not answer well, their leases end.
  for (ports::TaskRecord& record : tasks)
    carry_out(std::move(record), outcome, {}, [](const Result<core::Transition>&) {});
}

void Lending::settle(ports::Held claim, core::Outcome outcome, std::optional<Engine::Ruled> ruled,
                     Engine::Decided then) {
  floor_.ask(
      floor_.parts.reader, ports::Find{claim.id},
      [this, claim, ruled, outcome = std::move(outcome),
       then = std::move(then)](ports::Asked<ports::Find>& asked) mutable {
        if (!asked.answer) return then(std::unexpected(asked.answer.error()));
        if (!*asked.answer) {
          return then(fail(ErrorCode::not_found, "settle", "there is no task " + claim.id.text()));
        }
        ports::TaskRecord& record = **asked.answer;
        if (record.task.state == core::State::running && record.task.token == claim.token) {
          return carry_out(std::move(record), std::move(outcome), ruled, std::move(then));
        }
        if (!was_told_before(record, claim, outcome)) return then(lost("settle", record));
        core::Transition told{};
        told.from = core::State::running;
        told.to = record.task.state;
        told.event = record.attempts.back().event;
        told.due = record.task.due;
        then(std::move(told));
      });
}

ports::Change::One Lending::judge(const ports::TaskRecord& record, core::Outcome outcome,
                                  const std::optional<Engine::Ruled>& ruled) {
  const TaskType* known = floor_.find_type(record.type);
  if (known || !ruled) {
    const TaskType& type = known ? *known : floor_.type_or_default(record.type);
    return judge_.judge(record, type, std::move(outcome)).change;
  }
  const TaskType of_worker{.name = record.type,
                           .options = {.policy = {.attempts = ruled->attempts,
                                                  .crashes = ruled->crashes,
                                                  .replays = ruled->replays,
                                                  .wait = retry::fixed(ruled->wait)}}};
  return judge_.judge(record, of_worker, std::move(outcome), &ruled->verdict).change;
}

void Lending::carry_out(ports::TaskRecord record, core::Outcome outcome,
                        const std::optional<Engine::Ruled>& ruled, Engine::Decided then) {
  ports::Change change;
  change.changes.push_back(judge(record, std::move(outcome), ruled));
  const core::Transition& transition = change.changes.front().transition;
  if (!core::is_terminal(transition.to)) due_at(record.queue, transition.due);
  floor_.ask(floor_.parts.writer, std::move(change),
             [this, record = std::move(record),
              then = std::move(then)](ports::Asked<ports::Change>& asked) mutable {
               if (!asked.answer) return then(std::unexpected(asked.answer.error()));
               if (asked.answer->front() != ports::Change::Done::applied) {
                 ++floor_.stats.refused;
                 return then(fail(ErrorCode::conflict, "settle",
                                  "the claim on task " + record.id.text() + " is lost"));
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
