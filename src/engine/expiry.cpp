#include "engine/expiry.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/time_text.hpp"
#include "engine/settler.hpp"

namespace holdfast::engine {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kListPage = 1000;
// Whole tasks that are in memory at once, with their payloads.
constexpr std::size_t kAtOnce = 8;
// Every look goes through all tasks of the state, so there are only so many before a removal.
constexpr int kLooks = 12;
constexpr Duration kLeastStep = 1s;
constexpr Duration kMostStep = 1h;

std::string text_of(WallTime time) {
  std::string text;
  append_rfc3339(text, time);
  return text;
}

}  // namespace

Duration usual_warning(Duration kept) {
  return std::clamp<Duration>(kept / 10, 1h, 12h);
}

Expiry::Expiry(Floor& floor, const Settler& settler)
    : floor_(floor),
      settler_(settler),
      duties_{make(core::State::failed, floor.options.keep.failed),
              make(core::State::dead, floor.options.keep.dead)} {}

Expiry::Duty Expiry::make(core::State state, std::optional<Duration> keep) const {
  Duty duty{.state = state, .keep = keep};
  if (!keep) return duty;
  if (floor_.parts.memo) duty.said = Foretold(state, floor_.parts.memo->last_life());
  duty.warning = floor_.options.keep.warning.value_or(usual_warning(*keep));
  duty.kept = std::max(*keep, duty.warning);
  duty.step = std::clamp(duty.warning / kLooks, kLeastStep, kMostStep);
  return duty;
}

void Expiry::stop() {
  stopped_ = true;
  timer_.reset();
}

void Expiry::run_once() {
  if (stopped_ || under_way_) return;
  under_way_ = true;
  at_ = 0;
  next_duty();
}

void Expiry::next_duty() {
  const WallTime now = floor_.wall_now();
  while (at_ < duties_.size() && (!duty().keep || now < duty().look_at))
    ++at_;
  if (at_ == duties_.size() || stopped_ || floor_.broken()) {
    return rest(floor_.options.janitor_every);
  }
  begin();
}

// What is on its way to the store has arrived when this is answered: it removes nothing.
void Expiry::begin() {
  const WallTime now = floor_.wall_now();
  const Duration ahead = duty().warning + duty().step - duty().kept;
  round_ = {.began = now,
            .goes_before = std::min(saturating_add(now, -duty().kept),
                                    duty().said.known_since(saturating_add(now, -duty().warning))),
            .told_before = std::min(now, saturating_add(now, ahead))};
  floor_.ask(floor_.parts.writer, ports::Purge{.state = duty().state, .max = 1},
             [this](const ports::Asked<ports::Purge>& asked) {
               if (!asked.answer) return failed(asked.answer.error());
               if (settler_.holds_refused()) round_.goes_before = WallTime::min();
               look();
             });
}

// The latest come first, so all pages are looked at.
void Expiry::look() {
  ports::List list{.filter = {.state = duty().state}, .cursor = round_.cursor, .limit = kListPage};
  floor_.ask(floor_.parts.reader, std::move(list),
             [this](ports::Asked<ports::List>& asked) { looked(asked); });
}

void Expiry::looked(ports::Asked<ports::List>& asked) {
  if (!asked.answer) return failed(asked.answer.error());
  for (const ports::TaskRecord& record : asked.answer->tasks) {
    if (record.changed < round_.goes_before) {
      ++round_.going;
      round_.oldest_going = std::min(round_.oldest_going, record.changed);
      if (spills() && !round_.trouble) round_.to_spill.push_back(record.id);
    } else if (record.changed < round_.told_before) {
      ++round_.told;
      round_.oldest_told = std::min(round_.oldest_told, record.changed);
    } else {
      round_.oldest_kept = std::min(round_.oldest_kept, record.changed);
    }
  }
  round_.cursor = std::move(asked.answer->next);
  go_on();
}

void Expiry::go_on() {
  if (stopped_) return;
  if (round_.trouble) round_.to_spill.clear();
  if (!round_.to_spill.empty()) return find_some();
  if (!round_.cursor.empty()) return look();
  surveyed();
}

void Expiry::find_some() {
  std::vector<TaskId>& ids = round_.to_spill;
  round_.found.clear();
  round_.finding = std::min(kAtOnce, ids.size());
  const std::vector<TaskId> some(ids.end() - static_cast<std::ptrdiff_t>(round_.finding),
                                 ids.end());
  ids.resize(ids.size() - round_.finding);
  for (const TaskId& id : some) {
    floor_.ask(floor_.parts.reader, ports::Find{id}, [this](ports::Asked<ports::Find>& asked) {
      if (!asked.answer) {
        round_.store_trouble = asked.answer.error();
      } else if (*asked.answer && (*asked.answer)->task.state == duty().state &&
                 (*asked.answer)->changed < round_.goes_before) {
        round_.found.push_back(*std::move(*asked.answer));
      }  // Else somebody has looked after it meanwhile.
      if (--round_.finding == 0) spill_found();
    });
  }
}

void Expiry::spill_found() {
  if (round_.store_trouble) return failed(*round_.store_trouble);
  if (round_.found.empty()) return go_on();
  const std::size_t count = round_.found.size();
  floor_.parts.spill->add(duty().state, std::move(round_.found),
                          floor_.guarded([this, count](Result<void> added) {
                            if (added) round_.spilled += count;
                            if (!added) round_.trouble = std::move(added).error();
                            go_on();
                          }));
}

void Expiry::surveyed() {
  announce();
  if (round_.trouble) return not_spilled();
  if (!spills() || round_.spilled == 0) return remove();
  floor_.parts.spill->keep(floor_.guarded([this](Result<std::string> kept) {
    if (kept && !round_.trouble) {
      round_.heap = *std::move(kept);
      if (!stopped_) remove();
      return;
    }
    if (!kept) round_.trouble = std::move(kept).error();
    not_spilled();
  }));
}

// Before anything is removed, so that a crash leaves no removal unannounced.
void Expiry::announce() {
  if (round_.told == 0) return;
  const WallTime now = floor_.wall_now();
  duty().said.say(now, round_.told_before);
  duty().said.forget(saturating_add(now, -duty().warning));
  if (floor_.parts.memo) {
    std::string lines;
    for (const Duty& one : duties_)
      one.said.append_lines(one.state, lines);
    floor_.parts.memo->write(std::move(lines));
  }
  floor_.parts.log.log(
      Level::warning, "janitor.expiring",
      spills() ? "tasks that nobody has looked after will be written to a file and removed"
               : "tasks that nobody has looked after will be removed",
      {{"state", core::to_string(duty().state)},
       {"tasks", round_.told},
       {"from", text_of(goes_at(round_.oldest_told))},
       {"kept", duty().kept}});
}

void Expiry::remove() {
  const std::size_t most =
      spills() ? std::min(kPurgeSlice, round_.spilled - round_.removed) : kPurgeSlice;
  if (round_.going == 0 || most == 0) return end_duty();
  floor_.ask(floor_.parts.writer,
             ports::Purge{.state = duty().state, .ended_before = round_.goes_before, .max = most},
             [this, most](const ports::Asked<ports::Purge>& asked) {
               if (!asked.answer) return failed(asked.answer.error());
               floor_.stats.purged += *asked.answer;
               round_.removed += *asked.answer;
               const bool more = *asked.answer >= most;
               if (more && !stopped_) return remove();
               end_duty();
             });
}

// When a task that is announced is removed.
WallTime Expiry::goes_at(WallTime ended) const {
  const Duty& duty = duties_[at_];
  return std::max(saturating_add(ended, duty.kept),
                  saturating_add(duty.said.said_of(ended), duty.warning));
}

void Expiry::tell_removed() {
  if (round_.removed == 0) return;
  floor_.parts.log.log(Level::warning, "janitor.removed",
                       "tasks that nobody has looked after were removed",
                       {{"state", core::to_string(duty().state)},
                        {"tasks", round_.removed},
                        {"spilled", round_.spilled},
                        {"file", round_.heap}});
  Observer* const observer = floor_.options.observer;
  if (observer) observer->expired({duty().state, round_.removed, round_.spilled});
}

void Expiry::end_duty() {
  tell_removed();
  // What was to go and could not has been waiting for it since.
  const WallTime from = round_.trouble    ? goes_at(round_.oldest_going)
                        : round_.told > 0 ? goes_at(round_.oldest_told)
                                          : WallTime::max();
  const std::size_t left = round_.told + (round_.trouble ? round_.going : 0);
  if (floor_.options.observer) floor_.options.observer->expiring({duty().state, left, from});
  // One that ends from now on is announced some day, too.
  const WallTime next = std::min(round_.oldest_kept, round_.began);
  const WallTime to_be_told = saturating_add(next, duty().kept - duty().warning);
  duty().look_at = std::max(saturating_add(round_.began, duty().step), std::min(to_be_told, from));
  ++at_;
  next_duty();
}

void Expiry::not_spilled() {
  floor_.parts.spill->drop();
  floor_.parts.log.log(Level::error, "janitor.not_spilled",
                       "tasks that are to be removed could not be written to a file: they stay, "
                       "and it is tried again",
                       {{"state", core::to_string(duty().state)},
                        {"tasks", round_.going},
                        {"error", round_.trouble->text()}});
  if (floor_.options.observer) floor_.options.observer->not_spilled(duty().state);
  end_duty();
}

// What is left over is there the next time.
void Expiry::failed(const Error& error) {
  floor_.parts.log.log(Level::warning, "store.unavailable",
                       "the store did not show or remove old tasks: asked again next time",
                       {{"operation", "expire"}, {"error", error.text()}});
  tell_removed();
  if (spills()) floor_.parts.spill->drop();
  duty().look_at = WallTime::min();
  under_way_ = false;
  if (stopped_ || floor_.broken()) return;
  timer_ = floor_.parts.loop.after(floor_.options.janitor_every, [this] { run_once(); });
}

void Expiry::rest(Duration most) {
  under_way_ = false;
  if (stopped_ || floor_.broken()) return;
  WallTime next = WallTime::max();
  for (const Duty& duty : duties_) {
    if (duty.keep) next = std::min(next, duty.look_at);
  }
  if (next == WallTime::max()) return;
  const Duration wait =
      saturating_add(next, -floor_.wall_now().time_since_epoch()).time_since_epoch();
  timer_ = floor_.parts.loop.after(std::clamp(wait, kLeastStep, std::max(kLeastStep, most)),
                                   [this] { run_once(); });
}

}  // namespace holdfast::engine
