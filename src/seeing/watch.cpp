#include "seeing/watch.hpp"

#include <utility>

namespace holdfast::seeing {

Watch::Watch(Clock& clock, Options options)
    : clock_(clock),
      store_(std::move(options.store)),
      began_(clock.now()),
      began_wall_(clock.wall_now()),
      events_(options.keep_events, std::move(options.life)),
      chronicle_(began_, began_wall_),
      brokers_(clock) {
  sample();
}

void Watch::submitted(const TaskId& id, const ports::NewTask& task) noexcept {
  tally_.submitted(task);
  events_.submitted(id, task);
}

void Watch::started(const ports::TaskRecord& task, WallTime now) noexcept {
  tally_.started(task, now);
  events_.started(task, now);
}

void Watch::moved(const engine::Moved& moved) noexcept {
  tally_.moved(moved);
  events_.moved(moved);
}

void Watch::configured(const ports::Configure& settings) noexcept {
  if (settings.paused) events_.paused(settings.queue, *settings.paused, clock_.wall_now());
}

void Watch::breaker_changed(const Breaker::Change& change) noexcept {
  ++breaker_changes_[{std::string(change.breaker), change.to}];
}

void Watch::stored(std::size_t requests) noexcept {
  batches_.add(static_cast<double>(requests));
}

void Watch::publish_retried(std::string_view queue, std::size_t messages) noexcept {
  auto found = publish_retries_.find(queue);
  if (found == publish_retries_.end()) found = publish_retries_.emplace(queue, 0).first;
  found->second += messages;
}

void Watch::expiring(const engine::Expiring& expiring) noexcept {
  retentions_[expiring.state].expiring = expiring;
}

void Watch::expired(const engine::Expired& expired) noexcept {
  retentions_[expired.state].removed += expired.removed;
  retentions_[expired.state].spilled += expired.spilled;
}

void Watch::not_spilled(core::State state) noexcept {
  ++retentions_[state].not_spilled;
}

void Watch::answered(std::string_view method, std::string_view route, int status) {
  // A caller may send any word as its method.
  const std::string_view known = route.empty() ? "" : method;
  const auto found = answers_.find(std::tuple(known, route, status));
  if (found != answers_.end()) {
    ++found->second;
  } else {
    answers_.emplace(std::tuple(std::string(known), std::string(route), status), 1);
  }
}

void Watch::sample() {
  samples_.add(clock_.now(), by_queue());
}

Watch::QueueTotals Watch::by_queue() const {
  QueueTotals totals;
  for (const auto& series : tally_.series())
    totals[series->queue] += series->totals();
  return totals;
}

Totals Watch::totals() const {
  Totals totals;
  for (const auto& series : tally_.series())
    totals += series->totals();
  return totals;
}

Watch::Recent Watch::recent(const std::string& queue, Duration span) const {
  const SteadyTime now = clock_.now();
  const auto& sample = samples_.before(now, span);
  Totals totals;
  for (const auto& series : tally_.series())
    if (series->queue == queue) totals += series->totals();
  const auto before = sample.value.find(queue);
  if (before != sample.value.end()) totals = totals.since(before->second);
  return {totals, now - sample.at};
}

Watch::Recent Watch::recent(Duration span) const {
  const SteadyTime now = clock_.now();
  const auto& sample = samples_.before(now, span);
  Totals before;
  for (const auto& [queue, totals] : sample.value)
    before += totals;
  return {totals().since(before), now - sample.at};
}

std::string_view version() noexcept {
  return HOLDFAST_VERSION;
}

}  // namespace holdfast::seeing
