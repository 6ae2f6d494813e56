#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "engine/dead_letter_consumer.hpp"
#include "engine/engine.hpp"
#include "engine/floor.hpp"
#include "engine/lending.hpp"
#include "engine/processor.hpp"
#include "engine/settler.hpp"
#include "engine/timeouts.hpp"

namespace holdfast::engine {

// Ends an engine's work without losing or spending anything (T3).
class Shutdown {
 public:
  using Then = std::move_only_function<void(ShutdownReport)>;
  using Processors = std::vector<std::unique_ptr<Processor>>;

  Shutdown(Floor& floor, Settler& settler, Timeouts& timeouts, const Processors& processors,
           const Lending& lending, const DeadLetterConsumers& dead_letter_consumers)
      : floor_(floor),
        settler_(settler),
        timeouts_(timeouts),
        processors_(processors),
        lending_(lending),
        dead_letter_consumers_(dead_letter_consumers) {}

  // `last` stops what must work until the end.
  void start(Then then, std::function<void()> last);
  // Looks whether all is done; to be called whenever something has ended or was answered.
  void run_once();
  void hurry();

 private:
  void stop_the_rest();
  [[nodiscard]] bool all_ended() const;
  void report();

  Floor& floor_;
  Settler& settler_;
  Timeouts& timeouts_;
  const Processors& processors_;
  const Lending& lending_;
  const DeadLetterConsumers& dead_letter_consumers_;

  std::vector<Then> waiting_;
  std::function<void()> last_;
  Stats before_;
  bool started_ = false;
  bool done_ = false;
  bool stopping_ = false;  // what is left was asked to stop
  bool hurried_ = false;   // maybe before it has started: signals come when they like
  ShutdownReport report_;
  SteadyTime give_up_at_ = SteadyTime::max();  // on a store that is away
  std::unique_ptr<ports::Loop::Timer> timer_;
};

}  // namespace holdfast::engine
