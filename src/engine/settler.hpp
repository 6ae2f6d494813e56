#pragma once

#include <memory>
#include <vector>

#include "engine/backoff.hpp"
#include "engine/floor.hpp"
#include "engine/judge.hpp"

namespace holdfast::engine {

// Tells the store how attempts ended. What has gathered goes as one Change; what the store could
// not take is kept and told again, until it has been taken or the claim is lost (T10).
class Settler {
 public:
  explicit Settler(Floor& floor) : floor_(floor), judge_(floor) {}

  // Decides, and adds the settlement to what has gathered. Reports to the run's breaker. `said`:
  // the verdict on a failure, where its handler knows it; nothing: the classifier's.
  void settle(const std::shared_ptr<LiveRun>& run, core::Outcome outcome,
              const Verdict* said = nullptr);

  // Tells the store what has gathered, unless it is away, or is busy with the last and little has
  // gathered since: then that goes when it answers.
  void flush();

  [[nodiscard]] Judge& judge() noexcept { return judge_; }
  [[nodiscard]] bool idle() const noexcept { return waiting_.runs.empty() && under_way_ == 0; }
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.runs.size(); }
  // The store did not take the last ones.
  [[nodiscard]] bool in_trouble() const noexcept { return retry_ != nullptr; }
  // Some of what the store does not know yet was refused by it before, and may be old.
  [[nodiscard]] bool holds_refused() const noexcept {
    return (repeated_ && !waiting_.runs.empty()) || repeated_under_way_ > 0;
  }

 private:
  using Runs = std::vector<std::shared_ptr<LiveRun>>;
  struct Batch {
    std::vector<ports::Change::One> changes;
    Runs runs;  // one for each change
  };

  void ask();
  void send(Batch batch, bool repeated);
  void answered(ports::Asked<ports::Change>& asked, Runs runs, bool repeated);
  void confirmed(LiveRun& run, const ports::Change::One& change, ports::Change::Done done,
                 bool repeated);
  void told(LiveRun& run, const ports::Change::One& change, ports::Change::Done done,
            bool repeated);
  void keep(std::vector<ports::Change::One> changes, Runs runs, const Error& error);
  void apart(std::vector<ports::Change::One> changes, Runs runs, bool repeated);
  void cannot_be_kept(const std::shared_ptr<LiveRun>& run, const Error& error);
  void forget_lost();

  Floor& floor_;
  Judge judge_;
  Batch waiting_;
  bool repeated_ = false;  // some of what waits has been told before
  std::size_t under_way_ = 0;
  std::size_t repeated_under_way_ = 0;  // of these, told before
  Backoff backoff_;
  std::unique_ptr<ports::Loop::Timer> retry_;
};

}  // namespace holdfast::engine
