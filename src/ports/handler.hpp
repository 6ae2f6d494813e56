#pragma once

#include <memory>
#include <stop_token>
#include <string_view>
#include <utility>

#include "core/task.hpp"
#include "ports/records.hpp"

namespace holdfast::ports {

// One attempt: what the engine hands to a handler. Threads: any.
class Run {
 public:
  virtual ~Run() = default;

  [[nodiscard]] virtual const TaskRecord& task() const noexcept = 0;
  [[nodiscard]] virtual int number() const noexcept = 0;  // of the attempt, from 1
  // The path of the file that was fetched for it, which is there until finish(); empty: there is
  // none.
  [[nodiscard]] virtual std::string_view input() const noexcept { return {}; }

  // The handler says so right before the work begins: from here on the timeout counts, and a crash
  // of the process counts against this task (N7). False: nobody wants it any more; then finish it
  // as handed back. One that is finished without having begun has spent nothing.
  [[nodiscard]] virtual bool begin() noexcept = 0;

  // When it will be timed out; moves with begin() and heartbeat().
  [[nodiscard]] virtual WallTime end() const noexcept = 0;

  // Requested when the attempt has timed out, its task was canceled or its claim is lost, and when
  // a shutdown has waited long enough. The handler should end soon; what it reports then counts
  // no more.
  [[nodiscard]] virtual std::stop_token stop() const noexcept = 0;

  // Says that the work goes on: the attempt may last its whole timeout again from now, though
  // never past the task's deadline. False: nobody wants it any more, as stop() says.
  virtual bool heartbeat() noexcept = 0;

  // How it ended. Exactly once; a second call is ignored. An attempt whose last reference goes
  // without it has failed.
  virtual void finish(core::Outcome outcome) noexcept = 0;

  // The same with a failure of which is known that trying again cannot help, whatever a classifier
  // would make of its words.
  virtual void give_up(Failure failure) noexcept { finish(std::move(failure)); }
};

// Runs attempts of one or more types of tasks.
class Handler {
 public:
  virtual ~Handler() = default;

  // Takes the attempt and returns at once; the work goes on elsewhere, until run->finish(). Does
  // not throw: what cannot be begun is finished with a failure. Threads: the loop's.
  virtual void start(std::shared_ptr<Run> run) noexcept = 0;

  // How many attempts beyond those that it works on it likes to have at hand, so that a worker
  // with short tasks need not wait for the store between any two of them.
  [[nodiscard]] virtual std::size_t backlog() const noexcept { return 0; }
};

}  // namespace holdfast::ports
