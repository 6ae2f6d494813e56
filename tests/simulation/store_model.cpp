// What the store answers, verb by verb.
#include "simulation/store_model.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace holdfast::simulation {

using core::State;
using ports::Change;

namespace {

WallTime kept(WallTime time) {
  return std::chrono::floor<std::chrono::microseconds>(time);
}

std::optional<WallTime> kept(std::optional<WallTime> time) {
  if (time) time = kept(*time);
  return time;
}

bool is_waiting(const core::Task& task) {
  return task.state == State::pending || task.state == State::retrying;
}

bool has_same_body(const ports::NewTask& a, const ports::NewTask& b) {
  return a.type == b.type && a.queue == b.queue && a.payload == b.payload;
}

// In the order of claims: what is smaller comes first.
std::pair<int, WallTime> place_of(const KnownTask& known) {
  return {-known.asked.priority, known.task.due};
}

}  // namespace

void StoreModel::broken(const KnownTask& task, std::string_view what) {
  parts_.breach->found(fmt::format("task {}, {} with token {}: {}", task.number,
                                   to_string(task.task.state), task.task.token.value, what));
}

void StoreModel::line(std::string_view words, std::initializer_list<std::int64_t> numbers,
                      std::string_view note) {
  parts_.trace->line(parts_.clock->now().time_since_epoch(), words, numbers, note);
}

int StoreModel::number_of(const TaskId& id) const {
  if (const auto found = tasks_.find(id); found != tasks_.end()) return found->second.number;
  const auto purged = purged_.find(id);
  return purged == purged_.end() ? 0 : purged->second;
}

std::size_t StoreModel::unfinished() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      tasks_, [](const auto& one) { return !core::is_terminal(one.second.task.state); }));
}

void StoreModel::saw(Asker asker, const ports::Request& request) {
  if (!ports::is_query(request)) changed_ = true;
  std::visit(
      [&](const auto& asked) {
        // A store in memory has no reason to refuse anything that an engine asks for.
        if (!asked.answer) {
          parts_.breach->found("the store refused a request: " + asked.answer.error().text());
          return;
        }
        saw(asker, asked.verb, *asked.answer);
      },
      request);
}

void StoreModel::saw(Asker asker, const ports::Submit& verb, const ports::Submit::Answer& answer) {
  line("life {}: submit of {} tasks carried out",
       {asker.life, static_cast<std::int64_t>(verb.tasks.size())});
  if (answer.size() != verb.tasks.size()) {
    parts_.breach->found("a submit has not one answer for each task");
    return;
  }
  for (std::size_t i = 0; i < answer.size(); ++i)
    accepted(verb.tasks[i], answer[i]);
}

void StoreModel::accepted(const ports::NewTask& task,
                          const Result<ports::Submit::Accepted>& answer) {
  const KnownTask* earlier = nullptr;
  if (const auto key = keys_.find(task.key); !task.key.empty() && key != keys_.end()) {
    earlier = &tasks_.at(key->second);
  } else if (const auto same = tasks_.find(task.id); same != tasks_.end()) {
    earlier = &same->second;
  }
  if (earlier != nullptr) {
    const bool same = has_same_body(earlier->asked, task);
    if (!same && answer) broken(*earlier, "a submit with another body was accepted under its key");
    if (same && !answer) broken(*earlier, "a repeated submit was refused");
    if (same && answer && (!answer->existed || answer->id != earlier->asked.id)) {
      broken(*earlier, "a repeated submit was taken for a new one");
    }
    return;
  }
  if (is_full(task.queue)) {
    if (answer || answer.error().code != ErrorCode::overloaded) {
      parts_.breach->found("a task was accepted though as many wait as may: " + task.id.text());
    }
    parts_.stats->count(Happening::submit_refused);
    return;
  }
  if (!answer || answer->existed || answer->id != task.id) {
    parts_.breach->found("a new task was not accepted as such: " + task.id.text());
    return;
  }
  KnownTask known{.number = next_number_++, .asked = task, .task = {}, .owner = {}, .result = {}};
  known.task.created = kept(task.created);
  known.task.due = kept(task.due);
  known.task.deadline = kept(task.deadline);
  known.changed = known.task.created;
  if (!task.key.empty()) keys_.emplace(task.key, task.id);
  ++parts_.stats->tasks;
  moved_ = true;
  tasks_.emplace(task.id, std::move(known));
}

int StoreModel::running_of(const std::string& queue) const {
  return static_cast<int>(std::ranges::count_if(tasks_, [&](const auto& one) {
    return one.second.asked.queue == queue && one.second.task.state == State::running;
  }));
}

bool StoreModel::is_open(const std::string& queue) const {
  const auto found = settings_.find(queue);
  if (found == settings_.end()) return true;
  const Settings& settings = found->second;
  return !settings.paused && settings.concurrency == 0 && settings.backlog == 0;
}

bool StoreModel::is_full(const std::string& queue) const {
  const auto found = settings_.find(queue);
  if (found == settings_.end() || found->second.backlog == 0) return false;
  const auto waiting = std::ranges::count_if(tasks_, [&](const auto& one) {
    const State state = one.second.task.state;
    return one.second.asked.queue == queue && (state == State::pending || state == State::retrying);
  });
  return waiting >= found->second.backlog;
}

bool StoreModel::is_blocked(const std::string& queue) const {
  const auto found = settings_.find(queue);
  if (found == settings_.end()) return false;
  const Settings& settings = found->second;
  return settings.paused || (settings.concurrency > 0 && running_of(queue) >= settings.concurrency);
}

void StoreModel::saw(Asker asker, const ports::Claim& verb, const ports::Claim::Answer& answer) {
  if (answer.tasks.size() > verb.max)
    parts_.breach->found("a claim gave more than it was asked for");
  std::optional<std::pair<int, WallTime>> before;
  for (const ports::TaskRecord& record : answer.tasks) {
    const auto found = tasks_.find(record.id);
    if (found == tasks_.end()) {
      parts_.breach->found("a claim gave a task that nobody submitted: " + record.id.text());
      return;
    }
    if (before && place_of(found->second) < *before) {
      broken(found->second, "was claimed after one that it should have come before");
    }
    before = place_of(found->second);
    claimed(asker, verb, record);
  }
  check_left(verb, answer);
}

void StoreModel::claimed(Asker asker, const ports::Claim& verb, const ports::TaskRecord& record) {
  KnownTask& known = tasks_.at(record.id);
  line("life {}: claims task {} with token {}",
       {asker.life, known.number, static_cast<std::int64_t>(record.task.token.value)});
  if (known.asked.queue != verb.queue) broken(known, "was claimed from another queue");
  if (is_blocked(verb.queue)) {
    broken(known, "was claimed though its queue is paused, or has as many running as it may");
  }
  // Backoff and delays: nothing is claimed before it is due.
  auto transition = core::claim(known.task, kept(verb.now));
  if (!transition) {
    broken(known, "was claimed: " + transition.error().message);
    return;
  }
  if (record.payload != known.asked.payload) broken(known, "was claimed with another payload");
  if (verb.now > parts_.clock->latest_wall()) broken(known, "was claimed ahead of all clocks");
  on_claim_(asker, known, verb);
  moved_ = true;
  const core::State from = known.task.state;
  for (std::size_t i = 0; i < core::kMoves.size(); ++i) {
    if (core::kMoves[i].from == from && core::kMoves[i].event == core::Event::claim) {
      ++parts_.stats->moves[i];
    }
  }
  core::apply(*transition, known.task);
  known.changed = kept(verb.now);
  known.owner = verb.owner;
  known.lease_end = kept(saturating_add(kept(verb.now), verb.lease));
  compare_task(known, record);
}

// What a claim leaves must not be due, or there was no room for it.
void StoreModel::check_left(const ports::Claim& verb, const ports::Claim::Answer& answer) {
  std::optional<WallTime> next_due;
  for (const auto& [id, known] : tasks_) {
    if (known.asked.queue != verb.queue || !is_waiting(known.task)) continue;
    next_due = std::min(next_due.value_or(known.task.due), known.task.due);
    if (known.task.due > kept(verb.now) || is_blocked(verb.queue)) continue;
    if (answer.tasks.size() < verb.max) broken(known, "was due, and was left by a claim");
  }
  if (next_due != answer.next_due) parts_.breach->found("a claim says wrongly what is due next");
  if (answer.blocked != is_blocked(verb.queue)) {
    parts_.breach->found("a claim says wrongly whether its queue is blocked");
  }
}

void StoreModel::saw(Asker asker, const ports::Renew& verb, const ports::Renew::Answer& answer) {
  line("life {}: renews {} claims", {asker.life, static_cast<std::int64_t>(verb.claims.size())});
  if (answer.size() != verb.claims.size()) {
    parts_.breach->found("a renewal has not one answer for each claim");
    return;
  }
  for (std::size_t i = 0; i < answer.size(); ++i) {
    const auto found = tasks_.find(verb.claims[i].id);
    const bool held = found != tasks_.end() && found->second.task.state == State::running &&
                      found->second.task.token == verb.claims[i].token;
    if (held != answer[i]) parts_.breach->found("a renewal says wrongly whether a claim is lost");
    if (held) found->second.lease_end = kept(verb.lease_end);
  }
}

void StoreModel::saw(Asker asker, const Change& verb, const Change::Answer& answer) {
  if (answer.size() != verb.changes.size()) {
    parts_.breach->found("a change has not one answer for each task");
    return;
  }
  std::vector<KnownTask> before;
  for (std::size_t i = 0; i < answer.size(); ++i) {
    const auto found = tasks_.find(verb.changes[i].id);
    before.push_back(found == tasks_.end() ? KnownTask() : found->second);
    changed(asker, verb.changes[i], answer[i]);
  }
  for (std::size_t i = 0; i < answer.size(); ++i) {
    const Change::One& one = verb.changes[i];
    if (!ports::is_to_be_claimed_again(one)) {
      if (answer[i] == Change::Done::again)
        broken(before[i], "was claimed again, which nobody asked");
    } else if (answer[i] == Change::Done::applied || answer[i] == Change::Done::again) {
      claimed_again(asker, before[i], answer[i]);
    }
  }
}

void StoreModel::claimed_again(Asker asker, const KnownTask& before, Change::Done done) {
  KnownTask& known = tasks_.at(before.asked.id);
  const bool may = !is_blocked(known.asked.queue);
  if (may != (done == Change::Done::again)) {
    broken(known,
           may ? "was not claimed again, though it may be" : "was claimed again, and may not");
  }
  if (done != Change::Done::again) return;
  line("life {}: task {} is claimed again", {asker.life, known.number});
  parts_.stats->count(Happening::claimed_again);
  on_claim_(asker, known,
            {.queue = known.asked.queue, .owner = before.owner, .now = known.changed});
  core::apply(core::claim(known.task, known.changed).value(), known.task);
  known.owner = before.owner;
  known.lease_end = before.lease_end;
}

void StoreModel::changed(Asker asker, const Change::One& one, Change::Done done) {
  const auto found = tasks_.find(one.id);
  if (found == tasks_.end()) {
    if (done != Change::Done::unknown_task) {
      parts_.breach->found("a change of a task that is not there was carried out");
    }
    return;
  }
  KnownTask& known = found->second;
  const bool is_done = done == Change::Done::applied || done == Change::Done::again;
  line(is_done ? "life {}: task {} with token {} is settled: "
               : "life {}: task {} with token {} has moved on before: ",
       {asker.life, known.number, static_cast<std::int64_t>(one.token.value)},
       to_string(one.transition.event));
  const bool is_current = known.task.state == one.transition.from && known.task.token == one.token;
  if (is_current != is_done) {
    broken(known, is_current ? "a change that holds was refused"
                             : fmt::format("a change made from token {} and {} was carried out",
                                           one.token.value, to_string(one.transition.from)));
    return;
  }
  if (!is_current) {
    parts_.stats->count(Happening::stale_change);
    return;
  }
  moved_ = true;
  check_move(known, one);
  on_move_(asker, known, one);
  core::Transition transition = one.transition;
  known.changed = kept(transition.due - transition.wait);
  transition.due = kept(transition.due);
  transition.deadline = kept(transition.deadline);
  core::apply(transition, known.task);
  known.owner.clear();
  known.lease_end = {};
  known.result.reset();
  if (transition.to == State::succeeded) known.result = one.result;
  check_limits(known);
}

void StoreModel::saw(Asker asker, const ports::Overdue& verb,
                     const ports::Overdue::Answer& answer) {
  std::set<TaskId> given;
  for (const ports::TaskRecord& record : answer)
    given.insert(record.id);
  for (auto& [id, known] : tasks_) {
    if (given.contains(id)) known.seen_overdue = known.task.token;
    if (known.task.state != State::running) {
      if (given.contains(id)) broken(known, "was given as overdue, though it does not run");
      continue;
    }
    const bool orphan = !verb.sole_owner.empty() && known.owner != verb.sole_owner;
    const bool overdue = orphan || known.lease_end < kept(verb.now);
    if (overdue != given.contains(id) && answer.size() < verb.max) {
      broken(known, overdue ? "is overdue, and was not given as such" : "is not overdue, and was");
    }
  }
  if (!answer.empty()) {
    line("life {}: finds {} overdue", {asker.life, static_cast<std::int64_t>(answer.size())});
  }
}

void StoreModel::saw(Asker asker, const ports::Purge& verb, const ports::Purge::Answer& answer) {
  std::vector<std::pair<WallTime, TaskId>> ended;
  for (const auto& [id, known] : tasks_) {
    if (known.task.state == verb.state && known.changed < kept(verb.ended_before)) {
      ended.emplace_back(known.changed, id);
    }
  }
  std::ranges::sort(ended);
  ended.resize(std::min(ended.size(), verb.max));
  if (ended.size() != answer) parts_.breach->found("a purge removed more or less than it should");
  if (ended.empty()) return;
  if (verb.state == State::dead || verb.state == State::failed) {
    parts_.breach->found("dead letters were purged, though nobody wants that");  // T5, N9
  }
  line("life {}: purges {} tasks", {asker.life, static_cast<std::int64_t>(answer)});
  parts_.stats->count(Happening::purge);
  moved_ = true;
  for (const auto& [when, id] : ended) {
    const KnownTask& known = tasks_.at(id);
    keys_.erase(known.asked.key);
    purged_.emplace(id, known.number);
    tasks_.erase(id);
    ++removed_[static_cast<std::size_t>(verb.state)];
  }
}

void StoreModel::saw(Asker asker, const ports::Configure& verb, const ports::Configure::Answer&) {
  Settings& settings = settings_.try_emplace(verb.queue).first->second;
  line("life {}: configures queue {}: paused {}, concurrency {}, backlog {}",
       {asker.life, std::distance(settings_.begin(), settings_.find(verb.queue)),
        verb.paused ? *verb.paused : -1, verb.concurrency.value_or(-1), verb.backlog.value_or(-1)});
  settings.paused = verb.paused.value_or(settings.paused);
  settings.concurrency = verb.concurrency.value_or(settings.concurrency);
  settings.backlog = verb.backlog.value_or(settings.backlog);
}

void StoreModel::saw(Asker, const ports::Find& verb, const ports::Find::Answer& answer) {
  const auto found = tasks_.find(verb.id);
  if ((found != tasks_.end()) != answer.has_value()) {
    parts_.breach->found("a task was not found, or one was that is not there");
    return;
  }
  if (answer) compare_task(found->second, *answer);
}

}  // namespace holdfast::simulation
