#include "seeing/event_log.hpp"

#include <algorithm>
#include <charconv>

#include "core/utf8.hpp"

namespace holdfast::seeing {

EventLog::EventLog(std::size_t keep, std::string life)
    // One at least: it is where what happens now stands until it is read.
    : keep_(std::max<std::size_t>(keep, 1)), life_(std::move(life)) {}

const Happening& EventLog::at(std::uint64_t number) const {
  return ring_[static_cast<std::size_t>((number - 1) % keep_)];
}

std::string EventLog::id_of(std::uint64_t number) const {
  return life_ + "." + std::to_string(number);
}

std::optional<std::uint64_t> EventLog::number_of(std::string_view id) const {
  if (!id.starts_with(life_) || id.size() < life_.size() + 2 || id[life_.size()] != '.') {
    return std::nullopt;
  }
  id.remove_prefix(life_.size() + 1);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), number);
  if (error != std::errc() || end != id.data() + id.size()) return std::nullopt;
  return number;
}

// Texts are assigned to those that were there before, which costs no allocation once the ring has
// gone round.
Happening& EventLog::next(Happening::Kind kind, WallTime now) {
  ++last_;
  if (ring_.size() < keep_) ring_.emplace_back();
  Happening& place = ring_[static_cast<std::size_t>((last_ - 1) % keep_)];
  place.kind = kind;
  place.time = now;
  place.from.reset();
  place.attempt = 0;
  place.error.clear();
  place.json.clear();
  if (on_news) on_news();
  return place;
}

void EventLog::submitted(const TaskId& id, const ports::NewTask& task) {
  Happening& place = next(Happening::Kind::task, task.created);
  place.id = id;
  place.type = task.type;
  place.queue = task.queue;
  place.to = core::State::pending;
  place.event = "submit";
}

void EventLog::started(const ports::TaskRecord& task, WallTime now) {
  Happening& place = next(Happening::Kind::task, now);
  place.id = task.id;
  place.type = task.type;
  place.queue = task.queue;
  place.from = task.waited_as;
  place.to = core::State::running;
  place.event = core::to_string(core::Event::claim);
  place.attempt = task.task.spent.attempts + task.task.spent.crashes + 1;
}

void EventLog::moved(const engine::Moved& moved) {
  const core::Transition& transition = moved.transition;
  const WallTime now = saturating_add(transition.due, -transition.wait);
  Happening& place = next(Happening::Kind::task, now);
  place.id = moved.task.id;
  place.type = moved.task.type;
  place.queue = moved.task.queue;
  place.from = transition.from;
  place.to = transition.to;
  place.event = core::to_string(transition.event);
  const core::Spent& before = moved.task.task.spent;
  const bool ran = transition.from == core::State::running;
  place.attempt = before.attempts + before.crashes + (ran ? 1 : 0);
  if (transition.failure) {
    place.error = utf8_prefix(transition.failure->message, kMostErrorBytes);
  }
}

void EventLog::paused(std::string_view queue, bool paused, WallTime now) {
  Happening& place = next(Happening::Kind::queue, now);
  place.queue = queue;
  place.paused = paused;
}

void EventLog::alert(std::string json, WallTime now) {
  next(Happening::Kind::alert, now).json = std::move(json);
}

void EventLog::operation(std::string json, WallTime now) {
  next(Happening::Kind::operation, now).json = std::move(json);
}

}  // namespace holdfast::seeing
