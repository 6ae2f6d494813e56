#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "engine/floor.hpp"

namespace holdfast::engine {

// Removes tasks that ended long enough ago (T7): in slices, so that nobody waits long for the store
// because of it. Failed and dead tasks only where that is configured, and never without having
// said how many in the log before (T5, N9).
class Janitor {
 public:
  explicit Janitor(Floor& floor) : floor_(floor) {}

  void start() { run_once(); }
  void run_once();
  void stop();

 private:
  struct Duty {
    core::State state;
    std::optional<Duration> keep;
    bool warns = false;
    WallTime look_at = WallTime::min();  // nothing is old enough before
  };
  // The pages of a state, on the way through them.
  struct Survey {
    WallTime ended_before;
    std::size_t count = 0;
    WallTime oldest_kept = WallTime::max();
    std::string cursor = {};
  };

  void next_duty();
  void survey(Survey survey);
  void surveyed(const Survey& survey);
  void purge(WallTime ended_before);
  void rest();
  void failed(const Error& error);

  Floor& floor_;
  std::array<Duty, 4> duties_ = {Duty{core::State::succeeded, floor_.options.keep.succeeded},
                                 Duty{core::State::canceled, floor_.options.keep.canceled},
                                 Duty{core::State::failed, floor_.options.keep.failed, true},
                                 Duty{core::State::dead, floor_.options.keep.dead, true}};
  std::size_t at_ = 0;  // the duty under way
  bool under_way_ = false;
  bool stopped_ = false;
  std::unique_ptr<ports::Loop::Timer> timer_;
};

}  // namespace holdfast::engine
