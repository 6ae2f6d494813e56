#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/floor.hpp"
#include "engine/foretold.hpp"

namespace holdfast::engine {

class Settler;

// How long before its removal a task is announced, if nothing else is said: a tenth of the time
// that it is kept, an hour at least, and half a day at most, so that a server which remembers
// nothing and is started anew every day still comes to remove what it has announced.
[[nodiscard]] Duration usual_warning(Duration kept);

// Removes failed and dead tasks that nobody has looked after for as long as they are kept, where
// that is configured (T5), and never without a word (N9):
// - a warning before: in the log, in metrics and statistics. Nothing is removed that was not
//   announced for that long, whatever was configured before, and however long nothing ran.
// - where there is somewhere to spill them, they are there, on the disk, before they go; and as
//   long as they cannot be, they stay.
//
// What is removed is what was looked at: all that ended before a time which is fixed first. Nothing
// can come to be among them later: what ends from then on ends later, what was on its way to the
// store is awaited first, and while the store has refused some of it nothing is removed. (Of other
// processes on a shared store the same is true since their claims end with their leases.)
class Expiry {
 public:
  Expiry(Floor& floor, const Settler& settler);

  void start() { run_once(); }
  void run_once();
  void stop();

 private:
  struct Duty {
    core::State state;
    std::optional<Duration> keep;
    Foretold said = {};
    WallTime look_at = WallTime::min();  // there is nothing to say or do before
    Duration warning = {};
    Duration kept = {};  // no less than the warning
    Duration step = {};  // between two looks
  };
  // One look at all tasks of a state.
  struct Round {
    WallTime began{};
    WallTime goes_before{};  // what ended before this is removed
    WallTime told_before{};  // and what ended before this is announced
    std::size_t going = 0;
    std::size_t told = 0;  // and not going yet
    WallTime oldest_going = WallTime::max();
    WallTime oldest_told = WallTime::max();
    WallTime oldest_kept = WallTime::max();  // of the rest
    std::string cursor = {};
    std::vector<TaskId> to_spill = {};
    std::vector<ports::TaskRecord> found = {};
    std::size_t finding = 0;  // under way
    std::size_t spilled = 0;
    std::size_t removed = 0;
    std::string heap = {};                    // the name of what was spilled
    std::optional<Error> trouble = {};        // they cannot be spilled
    std::optional<Error> store_trouble = {};  // one of several could not be found
  };

  [[nodiscard]] Duty& duty() { return duties_[at_]; }
  [[nodiscard]] Duty make(core::State state, std::optional<Duration> keep) const;
  [[nodiscard]] bool spills() const { return floor_.parts.spill != nullptr; }

  void next_duty();
  void begin();
  void look();
  void looked(ports::Asked<ports::List>& asked);
  void go_on();
  void find_some();
  void spill_found();
  void surveyed();
  void announce();
  void remove();
  void end_duty();
  [[nodiscard]] WallTime goes_at(WallTime ended) const;
  void tell_removed();
  void failed(const Error& error);
  void not_spilled();
  void rest(Duration most);

  Floor& floor_;
  const Settler& settler_;
  std::array<Duty, 2> duties_;
  std::size_t at_ = 0;  // the duty under way
  Round round_;
  bool under_way_ = false;
  bool stopped_ = false;
  std::unique_ptr<ports::Loop::Timer> timer_;
};

}  // namespace holdfast::engine
