#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include <holdfast/clock.hpp>
#include <holdfast/worker.hpp>

#include "handlers/pool.hpp"
#include "ports/handler.hpp"

namespace holdfast::handlers {

// The pools of a worker: one for all queues, and one of its own for each queue that has a limit,
// with as many threads, so that no more of it can run at once, and no other queue can starve it.
struct Pools {
  std::shared_ptr<Pool> common;
  std::map<std::string, std::shared_ptr<Pool>, std::less<>> of_queue = {};

  [[nodiscard]] Pool& of(const std::string& queue) const;
  // Of all: see Pool::close().
  std::size_t close() const noexcept;
};

// A C++ function that blocks, called by a pool's threads.
class Function final : public ports::Handler {
 public:
  // The clock must outlive every attempt.
  Function(detail::BlockingHandler function, std::shared_ptr<const Pools> pools,
           const Clock& clock);

  void start(std::shared_ptr<ports::Run> run) noexcept override;
  // A short function is done long before the store could hand out the next one.
  [[nodiscard]] std::size_t backlog() const noexcept override { return 1024; }

 private:
  const std::shared_ptr<const Pools> pools_;
  const std::shared_ptr<Pool::Work> work_;
};

}  // namespace holdfast::handlers
