#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <list>
#include <mutex>
#include <stop_token>
#include <vector>

#include <holdfast/clock.hpp>

namespace holdfast::testing {

// A clock that moves only when told. Two ways to use it:
//
//   jumping (the default)  a sleep moves the clock to its end and returns at once: for one thread
//   held                   a sleep blocks until another thread has advanced the clock far enough
//
// Begins at steady time zero and at 2030-01-01 00:00:00 UTC. Threads: as Clock.
class FakeClock final : public Clock {
 public:
  enum class Sleeps : std::uint8_t { jumping, held };

  explicit FakeClock(Sleeps sleeps = Sleeps::jumping) : sleeps_(sleeps) {}

  [[nodiscard]] SteadyTime now() const noexcept override {
    const std::lock_guard lock(mutex_);
    return now_;
  }

  [[nodiscard]] WallTime wall_now() const noexcept override {
    const std::lock_guard lock(mutex_);
    return wall_;
  }

  bool sleep_until(SteadyTime until, std::stop_token stop) override {
    std::unique_lock lock(mutex_);
    if (stop.stop_requested()) return false;
    slept_.push_back(std::max(until - now_, Duration::zero()));
    if (sleeps_ == Sleeps::jumping) {
      if (until > now_) move(until - now_);
      return true;
    }
    const auto sleeper = sleepers_.insert(sleepers_.end(), {until, stop});
    changed_.notify_all();
    const bool reached = changed_.wait(lock, stop, [&] { return now_ >= until; });
    sleepers_.erase(sleeper);
    return reached;
  }

  void advance(Duration span) {
    const std::lock_guard lock(mutex_);
    move(span);
  }

  // The wall clock alone, as when someone sets it. Steady time does not notice.
  void jump_wall(Duration span) {
    const std::lock_guard lock(mutex_);
    wall_ = saturating_add(wall_, span);
  }

  // Blocks until so many sleeps are held at once: then it is the test's turn to advance.
  void wait_for_sleepers(std::size_t count) {
    std::unique_lock lock(mutex_);
    // A sleep whose end has come is no longer held, even if its thread has yet to wake.
    const auto is_held = [&](const Sleeper& sleeper) {
      return sleeper.until > now_ && !sleeper.stop.stop_requested();
    };
    changed_.wait(lock, [&] {
      return static_cast<std::size_t>(std::ranges::count_if(sleepers_, is_held)) >= count;
    });
  }

  // Every sleep so far, in order.
  [[nodiscard]] std::vector<Duration> slept() const {
    const std::lock_guard lock(mutex_);
    return slept_;
  }

 private:
  struct Sleeper {
    SteadyTime until;
    std::stop_token stop;
  };

  void move(Duration span) {
    now_ = saturating_add(now_, span);
    wall_ = saturating_add(wall_, span);
    changed_.notify_all();
  }

  const Sleeps sleeps_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  SteadyTime now_{};
  WallTime wall_{std::chrono::sys_days(std::chrono::year(2030) / 1 / 1)};
  std::list<Sleeper> sleepers_;
  std::vector<Duration> slept_;
};

}  // namespace holdfast::testing
