#include "simulation/sim_loop.hpp"

#include <algorithm>
#include <cstdlib>

namespace holdfast::simulation {

bool SimClock::sleep_until(SteadyTime, std::stop_token) {
  std::abort();  // a sleep would stop the only thread there is
}

void SimClock::advance_to(SteadyTime at) {
  if (at <= now_) return;
  wall_ = saturating_add(wall_, at - now_);
  now_ = at;
  latest_wall_ = std::max(latest_wall_, wall_);
}

void SimClock::jump_wall(Duration by) {
  wall_ = saturating_add(wall_, by);
  latest_wall_ = std::max(latest_wall_, wall_);
}

Schedule::Key Schedule::at(SteadyTime when, Work work) {
  const Key key{std::max(when, clock_->now()), {random_.next(), ++count_}};
  events_.emplace(key, std::move(work));
  return key;
}

bool Schedule::step() {
  if (events_.empty()) return false;
  // Out of the map first: the work may well put something in or take something out.
  auto next = events_.extract(events_.begin());
  clock_->advance_to(next.key().first);
  next.mapped()();
  return true;
}

class SimLoop::SimTimer final : public Timer {
 public:
  SimTimer(std::shared_ptr<Life> life, Schedule::Key key) : life_(std::move(life)), key_(key) {}
  ~SimTimer() override { life_->schedule->cancel(key_); }
  SimTimer(const SimTimer&) = delete;
  SimTimer& operator=(const SimTimer&) = delete;

 private:
  std::shared_ptr<Life> life_;
  Schedule::Key key_;
};

void SimLoop::post(Work work) {
  if (!life_->alive) return;
  life_->posted.push_back(std::move(work));
  life_->schedule->after(Duration::zero(), [life = life_] {
    if (!life->alive) return;
    Work next = std::move(life->posted.front());
    life->posted.pop_front();
    next();
  });
}

std::unique_ptr<ports::Loop::Timer> SimLoop::after(Duration wait, Work work) {
  const auto key = life_->schedule->after(wait, [life = life_, work = std::move(work)]() mutable {
    if (life->alive) work();
  });
  return std::make_unique<SimTimer>(life_, key);
}

void SimLoop::die() {
  life_->alive = false;
  // Their captures may post as they go: to a dead loop, which takes nothing.
  const std::deque<Work> gone = std::move(life_->posted);
}

}  // namespace holdfast::simulation
