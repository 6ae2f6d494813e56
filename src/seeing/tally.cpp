#include "seeing/tally.hpp"

#include <algorithm>

#include "core/utf8.hpp"
#include "seeing/seconds.hpp"

namespace holdfast::seeing {
namespace {

using core::Event;
using core::State;

double non_negative_seconds(Duration span) {
  return seconds_of(std::max(span, Duration::zero()));
}

// The attempt was made, and has ended by itself.
bool is_attempt(Event event) {
  switch (event) {
    case Event::success:
    case Event::already_done:
    case Event::error:
    case Event::crash:
    case Event::throttle:
    case Event::give_up:
    case Event::ambiguous: return true;
    default: return false;
  }
}

}  // namespace

Totals& Totals::operator+=(const Totals& other) {
  submitted += other.submitted;
  attempts += other.attempts;
  succeeded += other.succeeded;
  failed += other.failed;
  retried += other.retried;
  dead += other.dead;
  timeouts += other.timeouts;
  return *this;
}

Totals Totals::since(const Totals& before) const {
  return {.submitted = submitted - before.submitted,
          .attempts = attempts - before.attempts,
          .succeeded = succeeded - before.succeeded,
          .failed = failed - before.failed,
          .retried = retried - before.retried,
          .dead = dead - before.dead,
          .timeouts = timeouts - before.timeouts};
}

Totals Series::totals() const {
  Totals totals{.submitted = of(Counted::submitted),
                .attempts = of(Counted::attempted),
                .succeeded = of(Counted::succeeded),
                .failed = of(Counted::failed),
                .retried = of(Counted::retried),
                .timeouts = of(Counted::timed_out)};
  for (const std::uint64_t count : dead)
    totals.dead += count;
  return totals;
}

void Tally::expect(std::string_view queue, std::string_view type) {
  if (!find(queue, type)) add(queue, type);
}

Series* Tally::find(std::string_view queue, std::string_view type) {
  if (last_ && last_->type == type && last_->queue == queue) return last_;
  const auto types = queues_.find(queue);
  if (types == queues_.end()) return nullptr;
  const auto found = types->second.find(type);
  return found == types->second.end() ? nullptr : last_ = found->second;
}

Series& Tally::of(std::string_view queue, std::string_view type) {
  if (Series* found = find(queue, type)) return *found;
  // Who reads the metrics wants UTF-8.
  if (!other_ && all_.size() < most_ && is_utf8(queue) && is_utf8(type)) return add(queue, type);
  if (!other_) other_ = &add(kOther, kOther);
  return *other_;
}

Series& Tally::add(std::string_view queue, std::string_view type) {
  Series*& place = queues_[std::string(queue)][std::string(type)];
  if (!place) {
    place =
        all_.emplace_back(std::make_unique<Series>(std::string(queue), std::string(type))).get();
  }
  return *place;
}

void Tally::started(const ports::TaskRecord& task, WallTime now) {
  Series& series = of(task.queue, task.type);
  series.count(Counted::started);
  series.waited.add(non_negative_seconds(now - task.was_due));
}

void Tally::moved(const engine::Moved& moved) {
  const core::Transition& transition = moved.transition;
  Series& series = of(moved.task.queue, moved.task.type);
  const Event event = transition.event;
  if (is_attempt(event)) {
    series.count(Counted::attempted);
    if (moved.ran > Duration::zero()) series.ran.add(non_negative_seconds(moved.ran));
  }
  switch (transition.to) {
    case State::succeeded: series.count(Counted::succeeded); break;
    case State::failed: series.count(Counted::failed); break;
    case State::dead:
      if (transition.dead_reason) ++series.dead[static_cast<std::size_t>(*transition.dead_reason)];
      break;
    case State::retrying:
      if (event == Event::error || event == Event::crash) series.count(Counted::retried);
      break;
    default: break;
  }
  switch (event) {
    case Event::throttle: series.count(Counted::throttled); break;
    case Event::breaker_open: series.count(Counted::put_off); break;
    case Event::hand_back: series.count(Counted::handed_back); break;
    case Event::cancel: series.count(Counted::canceled); break;
    case Event::discard: series.count(Counted::discarded); break;
    case Event::replay: series.count(Counted::replayed); break;
    default: break;
  }
  if (transition.failure && is_attempt(event)) {
    if (transition.failure->kind == FailureKind::timeout) series.count(Counted::timed_out);
    if (transition.failure->kind == FailureKind::crash) series.count(Counted::crashed);
  }
  if (moved.rescued) series.count(Counted::rescued);
}

}  // namespace holdfast::seeing
