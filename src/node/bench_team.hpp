#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include <holdfast/worker.hpp>

#include "handlers/function.hpp"
#include "node/bench.hpp"
#include "node/registry.hpp"

// What measurements are made of: a node that works, tasks, and threads that submit them.
namespace holdfast::node::bench {

inline constexpr const char* kQueue = "holdfast.bench";

// A node that works on the tasks of the benchmark, with a handler that does nothing.
class Team {
 public:
  // Called on the loop of the node. Both must be good for as long as the team lives.
  struct Hooks {
    std::function<void(const ports::TaskRecord&, const core::Transition&)> settled = {};
    std::function<void(const Error&)> broken = {};
  };
  static Result<std::unique_ptr<Team>> start(const Options& options, HandlerResult how_it_ends,
                                             Hooks hooks);
  Team(std::shared_ptr<Node> node, const Options& options, Hooks hooks);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  [[nodiscard]] Node& node() { return *node_; }

 private:
  class Observer final : public engine::Observer {
   public:
    explicit Observer(Hooks hooks) : hooks_(std::move(hooks)) {}
    void moved(const engine::Moved& moved) noexcept override {
      if (hooks_.settled) hooks_.settled(moved.task, moved.transition);
    }
    void broken(const Error& error) const {
      if (hooks_.broken) hooks_.broken(error);
    }

   private:
    const Hooks hooks_;
  };

  Observer observer_;
  std::shared_ptr<Node> node_;
  std::shared_ptr<handlers::Pools> pools_ = std::make_shared<handlers::Pools>();
};

[[nodiscard]] std::vector<ports::NewTask> new_tasks(std::size_t count, std::size_t payload_bytes);

// Fails if any of them was refused.
[[nodiscard]] Result<void> submit(Node& node, std::vector<ports::NewTask> tasks);

// A task that says when it should have been submitted; 0: its time does not count.
[[nodiscard]] std::vector<ports::NewTask> dated_task(std::int64_t due_ns,
                                                     std::size_t payload_bytes);
// How long after that it is now; nothing if it does not count.
[[nodiscard]] std::optional<double> took_ms(const ports::TaskRecord& record);

// Of times in any order, of which there is one at least.
[[nodiscard]] Latency latency_of(std::vector<double> times_ms, double done_per_s);

// So many threads submit at a steady rate: enough that one which waits for its answer keeps no
// other from its time.
inline constexpr std::size_t kSteadyProducers = 16;

// Threads that submit. They end when all is submitted, or somebody has given up.
class Producers {
 public:
  // `next` submits what is next; false: there is nothing more.
  using Next = std::function<Result<bool>(const std::stop_token& stop)>;
  struct Hooks {
    std::function<bool()> given_up;
    std::function<void(const Error&)> give_up;
  };
  Producers(std::size_t count, const Hooks& hooks, const Next& next);

  // Blocks until all is submitted. Without it, those who wait for the time of the next are stopped.
  void join();

 private:
  std::vector<std::jthread> threads_;
};

}  // namespace holdfast::node::bench
