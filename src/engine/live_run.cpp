#include "engine/live_run.hpp"

#include <algorithm>
#include <utility>

#include "core/rules.hpp"
#include "engine/task_type.hpp"

namespace holdfast::engine {
namespace {

WallTime to_wall(std::int64_t ns) {
  return WallTime(Duration(ns));
}

}  // namespace

void Inbox::put(std::shared_ptr<LiveRun> run) noexcept {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  const bool first = ended_.empty();
  ended_.push_back(std::move(run));
  if (!first) return;
  loop_.post([self = shared_from_this()] {
    if (self->wake_) self->wake_();
  });
}

std::vector<std::shared_ptr<LiveRun>> Inbox::take() {
  std::vector<std::shared_ptr<LiveRun>> ended;
  const std::lock_guard lock(mutex_);
  ended.reserve(ended_.size());  // the next burst will be as large
  ended.swap(ended_);
  return ended;
}

void Inbox::close() {
  wake_ = nullptr;
  std::vector<std::shared_ptr<LiveRun>> dropped;
  const std::lock_guard lock(mutex_);
  closed_ = true;
  dropped.swap(ended_);
}

LiveRun::LiveRun(ports::TaskRecord record, Setup setup)
    : record_(std::move(record)),
      type_(setup.type),
      processor_(setup.processor),
      inbox_(std::move(setup.inbox)),
      clock_(setup.clock),
      witness_(setup.witness),
      number_(core::begin_attempt(record_.task, type_.options.policy, setup.now).number),
      timeout_(std::max(record_.limits.timeout.value_or(type_.options.policy.timeout),
                        Duration::zero())),
      end_wall_ns_(WallTime::max().time_since_epoch().count()) {
  WallTime end =
      timeout_ > Duration::zero() ? saturating_add(setup.now, timeout_) : WallTime::max();
  if (record_.task.deadline) end = std::min(end, *record_.task.deadline);
  end_wall_ns_.store(end.time_since_epoch().count(), std::memory_order_relaxed);
}

std::shared_ptr<ports::Run> LiveRun::for_handler(std::shared_ptr<LiveRun> run) {
  LiveRun* const raw = run.get();
  return {raw, [kept = std::move(run)](ports::Run*) {
            if (!kept->has_finished()) {
              kept->finish(Failure{.message = "the handler dropped the attempt"});
            }
          }};
}

// What begun runs share with the loop is written before the phase says so.
bool LiveRun::begin() noexcept {
  if (stop_.stop_requested()) return false;
  if (phase_.load(std::memory_order_acquire) == Phase::begun) return true;
  if (core::is_late(record_.task, clock_.wall_now())) return false;
  set_end();
  if (witness_) witness_place_ = witness_->begin({record_.id, record_.task.token});
  Phase expected = Phase::waiting;
  if (phase_.compare_exchange_strong(expected, Phase::begun, std::memory_order_acq_rel)) {
    return true;
  }
  if (witness_) witness_->end(witness_place_, {record_.id, record_.task.token});
  return false;
}

bool LiveRun::revoke() noexcept {
  Phase expected = Phase::waiting;
  return phase_.compare_exchange_strong(expected, Phase::revoked, std::memory_order_acq_rel);
}

void LiveRun::set_end() noexcept {
  const WallTime wall_now = clock_.wall_now();
  Duration left = timeout_ > Duration::zero() ? timeout_ : Duration::max();
  if (record_.task.deadline) left = std::min(left, *record_.task.deadline - wall_now);
  end_wall_ns_.store(saturating_add(wall_now, left).time_since_epoch().count(),
                     std::memory_order_relaxed);
  end_steady_ns_.store(saturating_add(clock_.now(), left).time_since_epoch().count(),
                       std::memory_order_relaxed);
}

WallTime LiveRun::end() const noexcept {
  return to_wall(end_wall_ns_.load(std::memory_order_relaxed));
}

bool LiveRun::heartbeat() noexcept {
  if (!has_begun() || stop_.stop_requested()) return false;
  set_end();
  return true;
}

void LiveRun::finish(core::Outcome outcome) noexcept {
  end_with(std::move(outcome), std::nullopt);
}

void LiveRun::give_up(Failure failure) noexcept {
  end_with(std::move(failure), Verdict{VerdictKind::give_up});
}

void LiveRun::end_with(core::Outcome outcome, std::optional<Verdict> said) noexcept {
  if (finished_.exchange(true, std::memory_order_acq_rel)) return;
  outcome_ = std::move(outcome);
  said_ = said;
  if (witness_ && has_begun()) witness_->end(witness_place_, {record_.id, record_.task.token});
  inbox_->put(shared_from_this());
}

SteadyTime LiveRun::time_out_at(SteadyTime now, WallTime wall_now) const noexcept {
  if (has_begun()) return SteadyTime(Duration(end_steady_ns_.load(std::memory_order_relaxed)));
  Duration left = timeout_ > Duration::zero() ? timeout_ : Duration::max();
  // Past its deadline it will not begin any more.
  const auto& deadline = record_.task.deadline;
  if (deadline && *deadline >= wall_now) left = std::min(left, *deadline - wall_now);
  return saturating_add(now, left);
}

void LiveRuns::add(std::shared_ptr<LiveRun> run) {
  run->on_loop.place = runs_.size();
  runs_.push_back(std::move(run));
}

void LiveRuns::release(LiveRun& run) {
  if (!run.on_loop.ended || !run.on_loop.settled) return;
  const std::size_t place = run.on_loop.place;
  if (place >= runs_.size() || runs_[place].get() != &run) return;
  // The run may be destroyed with its place in the list, so it is not touched after this.
  std::swap(runs_[place], runs_.back());
  runs_[place]->on_loop.place = place;
  runs_.pop_back();
}

std::shared_ptr<LiveRun> LiveRuns::find(const ports::Held& claim) const {
  const auto found = std::ranges::find_if(runs_, [&](const auto& run) {
    return run->task().id == claim.id && run->task().task.token == claim.token;
  });
  return found == runs_.end() ? nullptr : *found;
}

}  // namespace holdfast::engine
