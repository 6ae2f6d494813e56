#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <holdfast/clock.hpp>
#include <holdfast/worker.hpp>

#include "ports/handler.hpp"

namespace holdfast::handlers {

// How many attempts may be under way at once, over all handlers that share it; the others wait for
// their turn, in order. Threads: any.
class Turns {
 public:
  using Begin = std::move_only_function<void()>;

  explicit Turns(std::size_t most) : most_(most) {}

  // Calls `begin` now, if it is its turn, or else from within an end().
  void wait(Begin begin);
  // One of those that have begun is over.
  void end();
  // Drops those that wait, and all that come: nobody wants them any more.
  void close();

 private:
  const std::size_t most_;
  std::mutex mutex_;
  std::size_t under_way_ = 0;
  std::deque<Begin> waiting_;
  bool closed_ = false;
};

// Those of a worker: for all queues together, and for each queue that has a limit.
struct AllTurns {
  std::shared_ptr<Turns> common;
  std::map<std::string, std::shared_ptr<Turns>, std::less<>> of_queue = {};

  [[nodiscard]] Turns& of(const std::string& queue) const;
  void close() const;
};

// A C++ function that does not block: a coroutine, behind detail::AsyncHandler.
class AsyncFunction final : public ports::Handler {
 public:
  // The clock must outlive every attempt. `ground` is what attempts stand on, kept as long as one
  // is under way, even if that is longer than the worker.
  AsyncFunction(detail::AsyncHandler function, std::shared_ptr<const AllTurns> turns,
                const Clock& clock, std::shared_ptr<const void> ground = {});

  void start(std::shared_ptr<ports::Run> run) noexcept override;

 private:
  struct Shared;
  const std::shared_ptr<Shared> shared_;
};

}  // namespace holdfast::handlers
