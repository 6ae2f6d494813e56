#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/backoff.hpp"
#include "engine/breakers.hpp"
#include "engine/floor.hpp"
#include "engine/settler.hpp"
#include "engine/timeouts.hpp"

namespace holdfast::engine {

// Claims the tasks of one queue and gives them to their handlers.
//
// How many at a time: as many as are worked on at once, and ahead of that as many as end while the
// store is asked for more, so that handlers of short tasks never wait and slow ones claim nothing
// that another process could run. Never more ahead than the handlers at work like to have.
//
// A task that failed and is to be tried again with no wait is begun again at once, where it is and
// in one step with its settlement, whatever else waits. So that one that fails and fails lets the
// others have their turn, this happens kMostRepeats times in a row.
//
// When: as soon as places are free, as long as the queue gives what it is asked for. Once it has
// given less it is left alone until something says that there may be more: a task that is
// submitted or put off here, the time that the next one is due, a setting, the news of a store that
// others work on, too. Without news it is asked with every sweep anyway, since others may have
// added to it; with news the patrol does that, and rarely.
class Processor {
 public:
  struct Roles {
    Settler& settler;
    Breakers& breakers;
    Timeouts& timeouts;
  };
  Processor(Floor& floor, Roles roles, std::shared_ptr<Inbox> inbox, QueueOptions options);

  void start();     // also after stop()
  void run_once();  // claims, if there are places free and there may be tasks
  void stop();      // claims no more; what was kept here is handed back

  [[nodiscard]] const std::string& name() const noexcept { return options_.name; }

  // Other than it was; what is beyond it now is not taken back.
  void set_concurrency(std::size_t concurrency);

  void news();                // there may be tasks that are due
  void due_at(WallTime due);  // there will be one
  void settled_one();         // a place of the queue's own limit may be free
  // Asks, if it has places free and has not asked since. False: there was no need.
  bool look(SteadyTime since);

  // The run's handler has ended: settles what it reported, and frees its place.
  void end(const std::shared_ptr<LiveRun>& run);
  // Takes back what has not begun, and settles it so (T3, N4). False: it has.
  bool take_back(const std::shared_ptr<LiveRun>& run, core::Outcome outcome);

  // Whether a run that ends so is to be begun again here, with nothing in between: its place is
  // kept for it then, until the store has said whether it may (run_again) or has no say any more
  // (free_place).
  bool keep_place(LiveRun& run, const core::Transition& transition);
  void free_place(LiveRun& run);
  // The store has claimed it again.
  void run_again(const LiveRun& run, const core::Transition& transition);

  [[nodiscard]] bool is_claiming() const noexcept { return asked_ > 0; }

 private:
  struct Round {  // what is to be known of a claim when it is answered
    std::size_t max;
    std::uint64_t news;
    SteadyTime at;
  };

  void claim(std::size_t max);
  void answered(ports::Asked<ports::Claim>& asked, Round round);
  void failed(const Error& error);
  void ran_short(const ports::Claim::Answer& answer, const Round& round);
  void measure(const Round& round, SteadyTime now);
  [[nodiscard]] std::size_t most_ahead();
  [[nodiscard]] std::size_t free_places() const;

  void admit(ports::TaskRecord record, WallTime wall_now, SteadyTime now, int repeats = 0);
  void refuse(const std::shared_ptr<LiveRun>& run, core::Outcome outcome);
  void hand_over(const std::shared_ptr<LiveRun>& run, SteadyTime now);
  void hand_over_kept();
  void say_unknown(const std::string& type, SteadyTime now);
  void wake_at(SteadyTime at);

  Floor& floor_;
  const Roles roles_;
  const std::shared_ptr<Inbox> inbox_;
  QueueOptions options_;

  bool claiming_ = false;
  std::size_t asked_ = 0;    // places of claims under way
  std::size_t again_ = 0;    // places that are kept for runs that have ended
  std::size_t started_ = 0;  // runs that handlers have
  std::vector<std::size_t> started_of_type_;
  std::deque<std::shared_ptr<LiveRun>> kept_;  // claimed, but their handler has enough

  std::size_t ahead_ = 0;       // how many to claim beyond the concurrency
  std::size_t most_ahead_ = 0;  // as the handlers like it
  std::uint64_t ended_ = 0;     // runs, ever
  std::uint64_t measured_ended_ = 0;
  SteadyTime measured_at_{};

  SteadyTime asked_at_{};  // when the last claim was
  bool dry_ = false;       // gave less than asked
  bool blocked_ = false;   // is paused, or at its own limit
  std::uint64_t news_ = 0;
  WallTime noted_due_ = WallTime::max();  // of what was put off since the last claim was asked
  SteadyTime wake_at_ = SteadyTime::max();
  std::unique_ptr<ports::Loop::Timer> wake_;

  Backoff backoff_;
  std::unique_ptr<ports::Loop::Timer> retry_;
  std::map<std::string, SteadyTime> said_unknown_;
};

}  // namespace holdfast::engine
