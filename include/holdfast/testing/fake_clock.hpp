#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <mutex>
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
    ++sleepers_;
    changed_.notify_all();
    const bool reached = changed_.wait(lock, stop, [&] { return now_ >= until; });
    --sleepers_;
    changed_.notify_all();
    return reached;
  }

  void advance(Duration span) {
    const std::lock_guard lock(mutex_);
    move(span);
  }

  // The wall clock alone, as when someone sets it. Steady time does not notice.
  void jump_wall(Duration span) {
    const std::lock_guard lock(mutex_);
    wall_ += span;
  }

  // Blocks until so many sleeps are held at once: then it is the test's turn to advance.
  void wait_for_sleepers(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return sleepers_ >= count; });
  }

  // Every sleep so far, in order.
  [[nodiscard]] std::vector<Duration> slept() const {
    const std::lock_guard lock(mutex_);
    return slept_;
  }

 private:
  void move(Duration span) {
    now_ += span;
    wall_ += span;
    changed_.notify_all();
  }

  const Sleeps sleeps_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  SteadyTime now_{};
  WallTime wall_{std::chrono::sys_days(std::chrono::year(2030) / 1 / 1)};
  std::size_t sleepers_ = 0;
  std::vector<Duration> slept_;
};

}  // namespace holdfast::testing
