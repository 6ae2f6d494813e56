#pragma once

#include <array>
#include <memory>
#include <optional>

#include "engine/floor.hpp"

namespace holdfast::engine {

// Removes tasks that need nobody any more and ended long enough ago (T7): in slices, so that nobody
// waits long for the store because of it. Of failed and dead tasks: see Expiry.
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
  };

  void next_duty();
  void purge(WallTime ended_before);
  void rest();
  void failed(const Error& error);

  Floor& floor_;
  std::array<Duty, 2> duties_ = {Duty{core::State::succeeded, floor_.options.keep.succeeded},
                                 Duty{core::State::canceled, floor_.options.keep.canceled}};
  std::size_t at_ = 0;  // the duty under way
  bool under_way_ = false;
  bool stopped_ = false;
  std::unique_ptr<ports::Loop::Timer> timer_;
};

}  // namespace holdfast::engine
