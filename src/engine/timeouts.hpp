#pragma once

#include <memory>

#include "engine/floor.hpp"
#include "engine/settler.hpp"

namespace holdfast::engine {

// Ends what lasts too long (T4). There is no timer for each run: one timer stands at the earliest
// moment at which any could be over, and all runs are looked at then.
class Timeouts {
 public:
  Timeouts(Floor& floor, Settler& settler) : floor_(floor), settler_(settler) {}

  void start() { run_once(); }
  // Times out what is over, gives up on handlers that did not stop, and sets the timer anew.
  void run_once();
  void stop() { timer_.reset(); }

  // A run has been given to its handler: it may be over so long from now at the earliest.
  void watch(Duration at_least, SteadyTime now);

  // Asks the run's handler to end within the stop grace; what it reports from now on counts no
  // more.
  void ask_to_stop(LiveRun& run, Fate fate);

 private:
  [[nodiscard]] SteadyTime look_at(const std::shared_ptr<LiveRun>& run, SteadyTime now,
                                   WallTime wall_now);
  void give_up_on(const std::shared_ptr<LiveRun>& run);
  void set_timer(SteadyTime at, SteadyTime now);

  Floor& floor_;
  Settler& settler_;
  std::unique_ptr<ports::Loop::Timer> timer_;
  SteadyTime timer_at_ = SteadyTime::max();
};

// What a run is settled as whose fate was decided before its handler ended.
[[nodiscard]] core::Outcome outcome_of(const LiveRun& run);

}  // namespace holdfast::engine
