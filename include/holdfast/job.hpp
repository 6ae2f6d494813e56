#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include <holdfast/clock.hpp>
#include <holdfast/task_id.hpp>

namespace holdfast {

namespace ports {
class Run;
}

// One attempt of a task: what a handler is given.
//
// Delivery is at least once: a process that dies between the work and the note of it has the task
// run again. id() is the same each time, to find out whether the work was done before; token()
// grows with each attempt, so that what the work writes to can refuse an attempt that is late.
//
// Threads: all members may be called from any thread at once, as long as the handler has not ended.
class Job {
 public:
  Job(std::shared_ptr<ports::Run> run, const Clock& clock) noexcept
      : run_(std::move(run)), clock_(&clock) {}

  [[nodiscard]] const TaskId& id() const noexcept;
  [[nodiscard]] const std::string& type() const noexcept;
  [[nodiscard]] const std::string& queue() const noexcept;
  [[nodiscard]] const std::string& payload() const noexcept;
  [[nodiscard]] int attempt() const noexcept;  // 1 for the first
  [[nodiscard]] std::uint64_t token() const noexcept;
  // The W3C traceparent that the task was handed in with; empty: none.
  [[nodiscard]] const std::string& trace() const noexcept;

  // When the attempt is timed out: by its timeout or its task's deadline. Moves with heartbeat().
  // Without either: WallTime::max() and Duration::max().
  [[nodiscard]] WallTime deadline() const noexcept;
  [[nodiscard]] Duration time_left() const noexcept;  // zero if none is left

  // Requested when nobody wants the result any more: the attempt is timed out, its task canceled
  // or handed to somebody else, or the process is to end. The handler should return soon; from
  // then on, what it returns does not count, so leave the work such that it can be done again.
  [[nodiscard]] std::stop_token stop_token() const noexcept;

  // Says that the work goes on: the timeout counts anew from now, never past the task's deadline.
  // False: nobody wants it any more, as stop_token() says.
  bool heartbeat() const noexcept;  // NOLINT(modernize-use-nodiscard): saying so may be all

 private:
  std::shared_ptr<ports::Run> run_;
  const Clock* clock_;
};

}  // namespace holdfast
