#pragma once

#include <functional>
#include <memory>

#include <holdfast/time.hpp>

namespace holdfast::ports {

// Where the engine lives: one thread that runs what is posted to it, in order. All state of the
// engine belongs to it, so nothing there needs a lock.
class Loop {
 public:
  using Work = std::move_only_function<void()>;

  // Its timer is stopped when this is destroyed, which must be done on the loop.
  class Timer {
   public:
    virtual ~Timer() = default;
  };

  virtual ~Loop() = default;

  // Runs `work` later, never from within post(). Threads: any.
  virtual void post(Work work) = 0;

  // Runs `work` once, after so much steady time. Threads: the loop's.
  [[nodiscard]] virtual std::unique_ptr<Timer> after(Duration wait, Work work) = 0;
};

}  // namespace holdfast::ports
