#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "engine/backoff.hpp"
#include "engine/floor.hpp"
#include "engine/judge.hpp"

namespace holdfast::engine {

// Brings back running tasks whose owner is gone (T11, N8): at start all that a dead process has
// left, where no other can be alive; later those whose lease has ended.
//
// An attempt that had begun counts as a crash of its task. One that had not is handed back with
// nothing spent (N7); that is known only of the process before this one, by its witness.
//
// Workers elsewhere outlive a restart of this process, but cannot extend their leases during it: at
// start those that have ended last one lease longer.
class Rescuer {
 public:
  // `due` hears of queues that have got tasks back.
  Rescuer(Floor& floor, Judge& judge, std::function<void(const std::string& queue)> due)
      : floor_(floor), judge_(judge), due_(std::move(due)) {}

  // `first_done` is called when the first sweep has got through.
  void start(std::function<void()> first_done);
  void run_once();
  void stop();

 private:
  using Records = std::vector<ports::TaskRecord>;

  void ask();
  void found(ports::Asked<ports::Overdue>& asked);
  void settle(Records records, bool more);
  void settled(const ports::Asked<ports::Change>& asked, const Records& records, bool more);
  void failed(const Error& error);
  void done();
  [[nodiscard]] core::Outcome outcome_of(const ports::TaskRecord& record) const;
  [[nodiscard]] bool had_begun(const ports::TaskRecord& record) const;
  void renew(std::vector<ports::Held> claims);

  Floor& floor_;
  Judge& judge_;
  const std::function<void(const std::string& queue)> due_;
  std::function<void()> first_done_;
  std::vector<ports::Held> had_begun_;  // in the last life; sorted
  bool stopped_ = false;
  bool under_way_ = false;
  bool first_ = true;
  Backoff backoff_;
  std::unique_ptr<ports::Loop::Timer> timer_;
};

}  // namespace holdfast::engine
