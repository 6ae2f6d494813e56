#include "engine/lease_keeper.hpp"

#include <utility>

#include "engine/backoff.hpp"
#include "engine/task_log.hpp"

namespace holdfast::engine {

void LeaseKeeper::start() {
  run_again_after(floor_.options.lease / 3);
}

void LeaseKeeper::run_again_after(Duration wait) {
  timer_ = floor_.parts.loop.after(wait, [this] { run_once(); });
}

void LeaseKeeper::run_once() {
  run_again_after(floor_.options.lease / 3);
  if (under_way_ || floor_.broken()) return;
  std::vector<std::shared_ptr<LiveRun>> runs;
  std::vector<ports::Held> claims;
  for (const auto& run : floor_.runs) {
    if (run->on_loop.settled) continue;
    runs.push_back(run);
    claims.push_back({run->task().id, run->task().task.token});
  }
  if (runs.empty()) return;
  under_way_ = true;
  floor_.ask(
      floor_.parts.writer,
      ports::Renew{std::move(claims), saturating_add(floor_.wall_now(), floor_.options.lease)},
      [this, runs = std::move(runs)](ports::Asked<ports::Renew>& asked) { answered(asked, runs); });
}

void LeaseKeeper::answered(ports::Asked<ports::Renew>& asked,
                           const std::vector<std::shared_ptr<LiveRun>>& runs) {
  under_way_ = false;
  if (!asked.answer) {
    ++failures_;
    floor_.parts.log.log(Level::warning, "store.unavailable",
                         "the store did not renew the leases: asked again",
                         {{"operation", "renew"},
                          {"tasks", runs.size()},
                          {"attempt", failures_},
                          {"error", asked.answer.error().text()}});
    if (!timer_) return;  // stopped meanwhile
    const Duration wait = store_wait().next({.retry = failures_}, floor_.parts.random);
    if (wait < floor_.options.lease / 3) run_again_after(wait);
    return;
  }
  failures_ = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    LiveRun& run = *runs[i];
    if ((*asked.answer)[i] || run.on_loop.settled) continue;
    log_task(floor_.parts.log,
             {Level::warning, "task.claim_lost",
              "somebody else has the task now: the handler is asked to stop"},
             run.task(), {{"token", run.task().task.token.value}});
    drop(run);
  }
}

void LeaseKeeper::drop(LiveRun& run) {
  const auto kept = run.shared_from_this();
  run.on_loop.settled = true;
  run.on_loop.fate = Fate::dropped;
  run.on_loop.permit = {};
  (void)run.revoke();  // what has not begun does not begin any more
  timeouts_.ask_to_stop(run, Fate::dropped);
  floor_.runs.release(run);
}

}  // namespace holdfast::engine
