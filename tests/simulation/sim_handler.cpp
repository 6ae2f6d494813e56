#include "simulation/sim_handler.hpp"

namespace holdfast::simulation {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

}  // namespace

bool SimHandler::happens(double probability, Happening happening) {
  if (!*parts_.faults_on || !random_.chance(probability)) return false;
  parts_.stats->count(happening);
  return true;
}

void SimHandler::line(const WorkPtr& work, std::string_view words, std::string_view note) {
  parts_.trace->line(parts_.schedule->elapsed(), words,
                     {parts_.life, work->attempt.task,
                      static_cast<std::int64_t>(work->attempt.token), work->run->number()},
                     note);
}

Report SimHandler::draw_report() {
  if (!random_.chance(*parts_.faults_on ? faults_.fails : 0.1)) return Report::success;
  if (random_.chance(faults_.throttled)) return Report::throttle;
  if (random_.chance(0.5)) return Report::retry;
  constexpr Report kOthers[] = {Report::throttle,       Report::give_up, Report::ambiguous,
                                Report::already_done,   Report::crash,   Report::crash_give_up,
                                Report::crash_ambiguous};
  return kOthers[random_.below(std::size(kOthers))];
}

SimHandler::WorkPtr SimHandler::plan(std::shared_ptr<ports::Run> run) {
  auto work = std::make_shared<Work>();
  work->place = next_place_++;
  work->attempt = {parts_.model->number_of(run->task().id), run->task().task.token.value};
  work->run = std::move(run);
  work->report = draw_report();
  work->takes = random_.between(microseconds(10), milliseconds(300));
  if (happens(faults_.late, Happening::handler_late)) {
    work->begins_after = random_.between(milliseconds(10), seconds(15));
  }
  if (happens(faults_.slow, Happening::handler_slow)) {
    work->takes = random_.between(seconds(1), seconds(40));
  }
  work->endless = happens(faults_.endless, Happening::handler_endless);
  if (happens(faults_.deaf, Happening::handler_deaf)) {
    work->stops_after = random_.between(milliseconds(100), seconds(40));
  }
  if (happens(faults_.heartbeat, Happening::handler_heartbeat)) {
    work->beats = random_.between(milliseconds(200), seconds(3));
  }
  work->drops = happens(faults_.dropped, Happening::handler_dropped);
  work->twice = happens(faults_.twice, Happening::handler_twice);
  work->crashes = happens(faults_.crash, Happening::handler_crash);
  work->unbegun = happens(faults_.unbegun, Happening::handler_unbegun);
  return work;
}

void SimHandler::start(std::shared_ptr<ports::Run> run) noexcept {
  const WorkPtr work = plan(std::move(run));
  works_.emplace(work->place, work);
  line(work, "life {}: handler is given task {} with token {}, attempt {}");
  const bool at_once = *parts_.faults_on && random_.chance(faults_.inline_work) && !work->crashes;
  if (at_once) {
    work->takes = Duration::zero();
    begin(work);
  } else {
    later(work->begins_after, work, &SimHandler::begin);
  }
}

void SimHandler::later(Duration wait, const WorkPtr& work,
                       void (SimHandler::*what)(const WorkPtr&)) {
  // Only as long as the attempt is at hand, and so the handler is there too.
  parts_.schedule->after(wait, [this, what, weak = std::weak_ptr(work)] {
    if (const WorkPtr still = weak.lock(); still && still->run) (this->*what)(still);
  });
}

void SimHandler::begin(const WorkPtr& work) {
  if (work->unbegun) {
    finish(work, Report::handed_back);
    return;
  }
  // What is at hand beyond what it has threads for waits here.
  Pool& pool = pools_[work->run->task().queue];
  if (pool.working >= parts_.threads) {
    pool.waiting.emplace_back(work);
    return;
  }
  if (!work->run->begin()) {
    line(work, "life {}: task {} with token {} is not wanted any more");
    finish(work, Report::handed_back);
    return;
  }
  line(work, "life {}: task {} with token {} begins");
  work->has_begun = true;
  ++pool.working;
  // Without a timeout nobody would ever ask it to end.
  if (work->run->end() == WallTime::max()) work->endless = false;
  parts_.ledger->begun(parts_.life, work->attempt, work->run->task());
  work->on_stop.emplace(work->run->stop(), [this, weak = std::weak_ptr(work)] {
    const WorkPtr still = weak.lock();
    if (!still || !still->run) return;
    line(still, "life {}: task {} with token {} is asked to stop");
    later(still->stops_after, still, &SimHandler::end);
  });
  go_on(work, work->takes);
}

// Works for `rest`, with a heartbeat now and then.
void SimHandler::go_on(const WorkPtr& work, Duration rest) {
  if (work->beats && (work->endless || rest > *work->beats)) {
    parts_.schedule->after(*work->beats, [this, rest, weak = std::weak_ptr(work)] {
      const WorkPtr still = weak.lock();
      if (!still || !still->run) return;
      // One that never ends beats only for a while, or no timeout would ever come.
      if (still->endless && rest < Duration::zero() - seconds(30)) return;
      if (still->run->heartbeat()) parts_.ledger->heartbeat(still->attempt);
      go_on(still, rest - *still->beats);
    });
    return;
  }
  if (work->endless) return;
  if (rest <= Duration::zero()) {
    end(work);
    return;
  }
  later(rest, work, &SimHandler::end);
}

void SimHandler::end(const WorkPtr& work) {
  if (work->crashes && *parts_.faults_on) {
    line(work, "life {}: task {} with token {} takes the process down");
    parts_.crash();
    return;
  }
  if (work->drops) {
    line(work, "life {}: task {} with token {} is dropped");
    parts_.ledger->dropped(parts_.life, work->attempt, work->run->task().queue);
    forget(work);
    work->run.reset();
    return;
  }
  finish(work, work->report);
}

void SimHandler::finish(const WorkPtr& work, Report report) {
  line(work, "life {}: task {} with token {} reports: ", to_string(report));
  parts_.ledger->reported(parts_.life, work->attempt, work->run->task().queue, report);
  const int salt = random_.between(1, 1000);
  forget(work);
  const std::shared_ptr<ports::Run> run = std::move(work->run);
  run->finish(outcome_of(report, salt));
  if (work->twice) run->finish(outcome_of(draw_report(), salt));
}

void SimHandler::forget(const WorkPtr& work) {
  works_.erase(work->place);
  work->on_stop.reset();
  if (!work->has_begun) return;
  const std::string queue = work->run->task().queue;
  --pools_[queue].working;
  parts_.schedule->after(Duration::zero(), [weak = std::weak_ptr(alive_), this, queue] {
    if (!weak.expired()) begin_next(queue);
  });
}

void SimHandler::begin_next(const std::string& queue) {
  Pool& pool = pools_[queue];
  while (pool.working < parts_.threads && !pool.waiting.empty()) {
    const WorkPtr next = pool.waiting.front().lock();
    pool.waiting.pop_front();
    if (next && next->run) begin(next);
  }
}

void SimHandler::die() {
  const std::map<std::uint64_t, WorkPtr> gone = std::move(works_);
  works_.clear();
  alive_.reset();
  for (const auto& [place, work] : gone) {
    work->on_stop.reset();
    work->run.reset();
  }
}

}  // namespace holdfast::simulation
