#include "torture/workload.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/rules.hpp"

namespace holdfast::torture {

using namespace ports;
using namespace std::chrono_literals;

namespace {

constexpr const char* kQueue = "torture";

core::TaskPolicy policy() {
  return {.attempts = 3, .wait = retry::fixed(10ms)};
}

}  // namespace

Submit Workload::submission() {
  Submit verb;
  const std::uint64_t count = 1 + random_.below(6);
  for (std::uint64_t n = 0; n < count; ++n) {
    const TaskId id(ids_.next(clock_.wall_now()));
    NewTask& task = verb.tasks.emplace_back();
    task = {.id = id,
            .type = "work",
            .queue = kQueue,
            .payload = id.text() + std::string(random_.below(900), 'p'),
            .priority = static_cast<int>(random_.below(3)),
            .created = clock_.wall_now(),
            .due = clock_.wall_now()};
    if (random_.chance(0.3)) task.key = "key of " + id.text();
  }
  return verb;
}

Claim Workload::claim() {
  return {.queue = kQueue,
          .max = 1 + random_.below(5),
          .owner = "life " + std::to_string(life_),
          .now = clock_.wall_now()};
}

Change::One Workload::change(const TaskRecord& record, const core::Transition& transition) {
  Change::One one{.id = record.id, .token = record.task.token, .transition = transition};
  if (transition.to == core::State::succeeded) one.result = "result of " + record.id.text();
  if (transition.to == core::State::failed || transition.to == core::State::dead) {
    one.fingerprint = fingerprint("it failed");
  }
  return one;
}

// Some of what is held ends: mostly well.
Change Workload::settlements() {
  Change verb;
  const std::size_t count = 1 + random_.below(held_.size());
  for (std::size_t n = 0; n < count; ++n) {
    const TaskRecord record = std::move(held_.back());
    held_.pop_back();
    core::Outcome outcome = core::Success{.result = "result of " + record.id.text()};
    Verdict verdict;
    if (random_.chance(0.4)) {
      outcome = Failure{.message = "it failed"};
      if (random_.chance(0.2)) verdict.kind = VerdictKind::give_up;
    }
    const auto transition =
        core::decide(record.task, outcome, verdict, policy(), clock_.wall_now(), random_);
    verb.changes.push_back(change(record, transition.value()));
  }
  return verb;
}

// Somebody takes a task back, or brings one back that has failed.
std::optional<Change::One> Workload::by_a_person(Store& store) {
  if (tasks_.empty()) return std::nullopt;
  const auto one =
      std::next(tasks_.begin(), static_cast<std::ptrdiff_t>(random_.below(tasks_.size())));
  const auto found = ask(store, Find{.id = one->first});
  if (!found || !*found) return std::nullopt;
  const TaskRecord& record = **found;
  const auto now = clock_.wall_now();
  if (record.task.state == core::State::pending || record.task.state == core::State::retrying) {
    return change(record, core::cancel(record.task, now).value());
  }
  const auto replayed = core::replay(record.task, {.insist = true}, policy(), now);
  if (!replayed) return std::nullopt;
  return change(record, *replayed);
}

Workload::Answer Workload::begin_life(Store& store) {
  ++life_;
  held_.clear();
  clock_.advance(1s);
  const auto orphans =
      ask(store, Overdue{.now = clock_.wall_now(), .sole_owner = "life " + std::to_string(life_)});
  if (!orphans) return Answer::broken;
  Change verb;
  for (const TaskRecord& record : *orphans) {
    const auto transition =
        core::decide(record.task, core::HandedBack{}, {}, policy(), clock_.wall_now(), random_);
    verb.changes.push_back(change(record, transition.value()));
  }
  std::vector<Request> batch;
  batch.emplace_back(Asked<Change>{std::move(verb)});
  return carry_out(store, std::move(batch));
}

Workload::Answer Workload::step(Store& store) {
  clock_.advance(20ms);
  std::vector<Request> batch;
  const std::uint64_t dice = random_.below(20);
  if (dice == 0) {
    batch.emplace_back(Asked<Purge>{
        {.state = core::State::succeeded, .ended_before = WallTime::max(), .max = 1'000'000}});
  } else if (dice <= 2) {
    if (auto one = by_a_person(store)) {
      batch.emplace_back(Asked<Change>{{.changes = {std::move(*one)}}});
    }
  } else if (dice <= 9 || held_.empty()) {
    batch.emplace_back(Asked<Submit>{submission()});
    if (random_.chance(0.5)) batch.emplace_back(Asked<Claim>{claim()});
  } else {
    batch.emplace_back(Asked<Change>{settlements()});
    batch.emplace_back(Asked<Claim>{claim()});
  }
  return carry_out(store, std::move(batch));
}

Workload::Answer Workload::carry_out(Store& store, std::vector<Request> batch) {
  store.carry_out(batch);
  Answer worst = Answer::done;
  const auto look = [&]<class Verb>(const Asked<Verb>& asked) {
    if constexpr (requires { note(asked.verb, *asked.answer); }) {
      if (asked.answer) return note(asked.verb, *asked.answer);
      const ErrorCode code = asked.answer.error().code;
      if (code == ErrorCode::corrupt || code == ErrorCode::unavailable) {
        doubt(asked.verb);
        worst = Answer::broken;
      } else if (code != ErrorCode::exhausted) {
        surprises_.push_back("an answer nobody expects: " + asked.answer.error().text());
      } else {
        worst = std::max(worst, Answer::refused);
      }
    }
  };
  for (const Request& request : batch)
    std::visit(look, request);
  return worst;
}

void Workload::note(const Submit& verb, const Submit::Answer& answer) {
  for (std::size_t n = 0; n < verb.tasks.size(); ++n) {
    if (!answer.at(n)) {
      surprises_.push_back("a task was refused: " + answer[n].error().text());
      continue;
    }
    tasks_[verb.tasks[n].id] = {verb.tasks[n].payload,
                                {Standing{core::State::pending, core::Token{0}}}};
  }
}

void Workload::note(const Claim&, const Claim::Answer& answer) {
  for (const TaskRecord& record : answer.tasks) {
    tasks_[record.id].places = {Standing{core::State::running, record.task.token}};
    held_.push_back(record);
  }
}

void Workload::note(const Change& verb, const Change::Answer& answer) {
  for (std::size_t n = 0; n < verb.changes.size(); ++n) {
    const Change::One& one = verb.changes[n];
    if (answer.at(n) != Change::Done::applied) {
      surprises_.push_back("a change of " + one.id.text() + " was not applied");
      continue;
    }
    tasks_[one.id].places = {Standing{one.transition.to, one.transition.token}};
  }
}

void Workload::note(const Purge& verb, const Purge::Answer& answer) {
  std::size_t removed = 0;
  for (auto& [id, promise] : tasks_) {
    const Place& place = promise.places.front();
    if (!place || place->state != verb.state) continue;
    promise.places = {std::nullopt};
    ++removed;
  }
  if (removed != answer) surprises_.push_back("a purge removed " + std::to_string(answer));
}

void Workload::may_be(const TaskId& id, Place place) {
  auto& places = tasks_[id].places;
  if (std::ranges::find(places, place) == places.end()) places.push_back(place);
}

void Workload::doubt(const Submit& verb) {
  for (const NewTask& task : verb.tasks) {
    tasks_[task.id].payload = task.payload;
    may_be(task.id, std::nullopt);
    may_be(task.id, Standing{core::State::pending, core::Token{0}});
  }
}

void Workload::doubt(const Claim&) {
  for (auto& [id, promise] : tasks_) {
    for (const Place& place : std::vector(promise.places)) {
      if (!place) continue;
      if (place->state != core::State::pending && place->state != core::State::retrying) continue;
      may_be(id, Standing{core::State::running, core::Token{place->token.value + 1}});
    }
  }
}

void Workload::doubt(const Change& verb) {
  for (const Change::One& one : verb.changes)
    may_be(one.id, Standing{one.transition.to, one.transition.token});
}

void Workload::doubt(const Purge& verb) {
  for (auto& [id, promise] : tasks_) {
    const bool may_go = std::ranges::any_of(
        promise.places, [&](const Place& place) { return place && place->state == verb.state; });
    if (may_go) may_be(id, std::nullopt);
  }
}

std::string Workload::text(const Place& place) {
  if (!place) return "absent";
  return std::string(to_string(place->state)) + " (token " + std::to_string(place->token.value) +
         ")";
}

std::vector<std::string> Workload::breaches(Store& store) {
  std::vector<std::string> found = std::exchange(surprises_, {});
  compare(store, found);
  look_for_invented(store, found);
  const auto audit = ask(store, Audit{});
  if (!audit) {
    found.push_back("no audit: " + audit.error().text());
  } else {
    for (const Finding& finding : audit->findings)
      found.push_back("audit: " + finding.what + " " + finding.task);
  }
  return found;
}

void Workload::compare(Store& store, std::vector<std::string>& found) {
  for (auto& [id, promise] : tasks_) {
    const auto record = ask(store, Find{.id = id});
    if (!record) {
      found.push_back(id.text() + " cannot be read: " + record.error().text());
      continue;
    }
    Place place;
    if (*record) place = Standing{(*record)->task.state, (*record)->task.token};
    if (std::ranges::find(promise.places, place) == promise.places.end()) {
      std::string promised;
      for (const Place& one : promise.places)
        promised += (promised.empty() ? "" : " or ") + text(one);
      found.push_back(id.text() + " is " + text(place) + ", but was promised to be " + promised);
    }
    if (*record && (*record)->payload != promise.payload) {
      found.push_back(id.text() + " has another payload");
    }
    promise.places = {place};
  }
}

void Workload::look_for_invented(Store& store, std::vector<std::string>& found) const {
  std::string cursor;
  do {
    const auto page = ask(store, List{.filter = {}, .cursor = cursor});
    if (!page) {
      found.push_back("tasks cannot be listed: " + page.error().text());
      return;
    }
    for (const TaskRecord& record : page->tasks) {
      if (!tasks_.contains(record.id)) found.push_back(record.id.text() + " is nobody's");
    }
    cursor = page->next;
  } while (!cursor.empty());
}

}  // namespace holdfast::torture
