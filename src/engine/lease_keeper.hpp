#pragma once

#include <memory>
#include <vector>

#include "engine/floor.hpp"
#include "engine/timeouts.hpp"

namespace holdfast::engine {

// Renews what is claimed, begun or not, three times in each lease. A claim that turns out to be
// lost is stopped: somebody else has the task now. Whether a lease that ended while the store was
// away is lost is for the store to say.
class LeaseKeeper {
 public:
  LeaseKeeper(Floor& floor, Timeouts& timeouts) : floor_(floor), timeouts_(timeouts) {}

  void start();
  void run_once();
  void stop() { timer_.reset(); }

  // Its claim is lost, or its task was canceled: nothing is to be settled any more.
  void drop(LiveRun& run);

 private:
  void answered(ports::Asked<ports::Renew>& asked,
                const std::vector<std::shared_ptr<LiveRun>>& runs);
  void run_again_after(Duration wait);

  Floor& floor_;
  Timeouts& timeouts_;
  std::unique_ptr<ports::Loop::Timer> timer_;
  bool under_way_ = false;
  int failures_ = 0;
};

}  // namespace holdfast::engine
