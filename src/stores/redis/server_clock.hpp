#pragma once

#include <cstdint>
#include <mutex>

#include <holdfast/clock.hpp>

namespace holdfast::stores::redis {

// The time of the server, as far as it is known here: it is told with answers, and goes on by the
// steady clock between them. Workers whose own clocks are wrong agree by it on what is due and
// which lease has ended. Never ahead of the server but by how much the clocks drift in some
// seconds: what is submitted as due now is due there. Until it was told, it is the machine's.
// Threads: any.
class ServerClock final : public Clock {
 public:
  explicit ServerClock(Clock& machine) : machine_(machine) {}

  [[nodiscard]] SteadyTime now() const noexcept override { return machine_.now(); }
  [[nodiscard]] SteadyTime rough_now() const noexcept override { return machine_.rough_now(); }
  [[nodiscard]] WallTime wall_now() const noexcept override;
  bool sleep_until(SteadyTime until, std::stop_token stop) override {
    return machine_.sleep_until(until, std::move(stop));
  }

  // It was so late there, some time before now.
  void told(WallTime there) noexcept;

 private:
  Clock& machine_;
  mutable std::mutex mutex_;
  bool is_told_ = false;
  // From steady to wall time. The answer that was on its way for the shortest time knows best: the
  // greatest of the last two spans counts, so that a step or a drift of that clock is followed.
  Duration offset_{};
  Duration span_most_{};
  SteadyTime span_end_{};
};

}  // namespace holdfast::stores::redis
