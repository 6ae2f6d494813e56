#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/floor.hpp"
#include "engine/processor.hpp"

namespace holdfast::engine {

// Has queues asked that gave nothing and of which no news came, in case a word was lost: one after
// the other, so that an idle engine asks little of a store that many share, however many queues it
// has. Only where a store tells news; else each processor looks after itself.
class Patrol {
 public:
  using Processors = std::vector<std::unique_ptr<Processor>>;

  Patrol(Floor& floor, const Processors& processors) : floor_(floor), processors_(processors) {}

  void start();
  void run_once();
  void stop() { timer_.reset(); }

 private:
  [[nodiscard]] Duration pause() const;

  Floor& floor_;
  const Processors& processors_;
  std::size_t next_ = 0;
  std::unique_ptr<ports::Loop::Timer> timer_;
};

}  // namespace holdfast::engine
