#include "engine/timeouts.hpp"

#include <algorithm>

#include "core/units.hpp"
#include "engine/task_log.hpp"

namespace holdfast::engine {

core::Outcome outcome_of(const LiveRun& run) {
  if (run.on_loop.fate != Fate::timed_out) return core::HandedBack{};
  const bool by_deadline = run.allowed() == Duration::zero() ||
                           (run.task().task.deadline && run.end() >= *run.task().task.deadline);
  return Failure{.message = by_deadline ? "timed out at the task's deadline"
                                        : "timed out after " + format_duration(run.allowed()),
                 .kind = FailureKind::timeout};
}

void Timeouts::watch(Duration at_least, SteadyTime now) {
  const SteadyTime at = saturating_add(now, at_least);
  if (at < timer_at_) set_timer(at, now);
}

void Timeouts::set_timer(SteadyTime at, SteadyTime now) {
  timer_.reset();
  timer_at_ = at;
  if (at == SteadyTime::max()) return;
  timer_ = floor_.parts.loop.after(std::max(at - now, Duration::zero()), [this] { run_once(); });
}

void Timeouts::run_once() {
  const SteadyTime now = floor_.now();
  const WallTime wall_now = floor_.wall_now();
  SteadyTime next = SteadyTime::max();
  for (const auto& run : floor_.runs)
    next = std::min(next, look_at(run, now, wall_now));
  set_timer(next, now);
  settler_.flush();
  floor_.on_progress();
}

// When to look at it again.
SteadyTime Timeouts::look_at(const std::shared_ptr<LiveRun>& run, SteadyTime now,
                             WallTime wall_now) {
  auto& state = run->on_loop;
  if (state.ended || state.stuck || run->has_finished()) return SteadyTime::max();
  if (state.stop_by == SteadyTime::max()) {
    const SteadyTime end = run->time_out_at(now, wall_now);
    if (end > now || !run->has_begun()) return end > now ? end : SteadyTime::max();
    ask_to_stop(*run, Fate::timed_out);
  }
  if (!run->has_begun()) return SteadyTime::max();  // its handler will notice when it comes to it
  if (now < state.stop_by) return state.stop_by;
  give_up_on(run);
  return SteadyTime::max();
}

void Timeouts::ask_to_stop(LiveRun& run, Fate fate) {
  if (run.on_loop.fate == Fate::open) run.on_loop.fate = fate;
  const SteadyTime now = floor_.now();
  run.on_loop.stop_by =
      std::min(run.on_loop.stop_by, saturating_add(now, floor_.options.stop_grace));
  if (run.on_loop.stop_by < timer_at_) set_timer(run.on_loop.stop_by, now);
  run.request_stop();
}

// Its place stays taken: a thread that hangs must not be doubled.
void Timeouts::give_up_on(const std::shared_ptr<LiveRun>& run) {
  run->on_loop.stuck = true;
  log_task(floor_.parts.log,
           {Level::error, "task.stuck",
            "the handler was asked to stop and has not ended: its place stays taken"},
           run->task(), {{"asked", floor_.options.stop_grace}});
  if (!run->on_loop.settled && !run->on_loop.settling) settler_.settle(run, outcome_of(*run));
}

}  // namespace holdfast::engine
