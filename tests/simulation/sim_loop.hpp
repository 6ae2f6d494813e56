#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <utility>

#include <holdfast/clock.hpp>

#include "ports/loop.hpp"
#include "simulation/sim_random.hpp"

namespace holdfast::simulation {

// Time that moves only when the simulation says so. Nobody may sleep in it: one thread does all.
class SimClock final : public Clock {
 public:
  [[nodiscard]] SteadyTime now() const noexcept override { return now_; }
  [[nodiscard]] WallTime wall_now() const noexcept override { return wall_; }
  bool sleep_until(SteadyTime until, std::stop_token stop) override;

  void advance_to(SteadyTime at);
  // The wall clock alone, as when somebody sets it. Steady time does not notice.
  void jump_wall(Duration by);
  // The latest that it ever was.
  [[nodiscard]] WallTime latest_wall() const noexcept { return latest_wall_; }

 private:
  SteadyTime now_{};
  WallTime wall_{std::chrono::sys_days(std::chrono::year(2030) / 1 / 1)};
  WallTime latest_wall_ = wall_;
};

// Everything that is going to happen, in order of time. Of what is to happen at the same time the
// seed says what comes first.
class Schedule {
 public:
  using Work = ports::Loop::Work;
  using Key = std::pair<SteadyTime, std::pair<std::uint64_t, std::uint64_t>>;

  Schedule(SimClock& clock, SimRandom random) : clock_(&clock), random_(random) {}

  Key at(SteadyTime when, Work work);
  Key after(Duration wait, Work work) {
    return at(saturating_add(clock_->now(), wait), std::move(work));
  }
  void cancel(const Key& key) { events_.erase(key); }

  // Lets the next thing happen. False: there is none.
  bool step();

  [[nodiscard]] SimClock& clock() const noexcept { return *clock_; }
  [[nodiscard]] Duration elapsed() const noexcept { return clock_->now().time_since_epoch(); }

 private:
  SimClock* clock_;
  SimRandom random_;
  std::uint64_t count_ = 0;
  std::map<Key, Work> events_;
};

// The loop of one simulated process. What is posted runs in order; how it mixes with timers and
// with other processes is the seed's choice. When the process dies, all of it is gone.
class SimLoop final : public ports::Loop {
 public:
  explicit SimLoop(Schedule& schedule) : life_(std::make_shared<Life>(schedule)) {}
  ~SimLoop() override { die(); }
  SimLoop(const SimLoop&) = delete;
  SimLoop& operator=(const SimLoop&) = delete;

  void post(Work work) override;
  [[nodiscard]] std::unique_ptr<Timer> after(Duration wait, Work work) override;

  // From here on nothing runs, and nothing new is taken.
  void die();
  [[nodiscard]] bool alive() const noexcept { return life_->alive; }

 private:
  // Outlives the loop, because what is scheduled refers to it.
  struct Life {
    explicit Life(Schedule& s) : schedule(&s) {}
    Schedule* schedule;
    bool alive = true;
    std::deque<Work> posted;
  };
  class SimTimer;

  std::shared_ptr<Life> life_;
};

}  // namespace holdfast::simulation
