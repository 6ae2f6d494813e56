#pragma once

#include <functional>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <holdfast/log.hpp>
#include <holdfast/result.hpp>

#include "engine/engine.hpp"
#include "io/loop.hpp"
#include "io/store_lane.hpp"
#include "node/open_store.hpp"
#include "triage/operations.hpp"

namespace holdfast::node {

// An open store with an engine on it: what all clients and the worker of a process share. Its loop
// has a thread of its own.
//
// Members block until they are answered. Threads: any at once, but the loop's own (a log sink, a
// wait of one's own making): there they fail, since nobody would answer.
class Node {
 public:
  Node(Opened opened, Logger log);
  // What is asked and not answered by then is answered `unavailable`. Attempts are treated as by
  // a crash: stop_work() first.
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // As those of the engine.
  [[nodiscard]] Result<ports::Submit::Answer> submit(std::vector<ports::NewTask> tasks);
  [[nodiscard]] Result<core::Transition> cancel(TaskId id);
  // Each by itself, and all of them in one batch of the store.
  using Decisions = std::vector<Result<core::Transition>>;
  [[nodiscard]] Result<Decisions> decide(std::span<const TaskId> ids,
                                         triage::Parts::Decision decision);
  [[nodiscard]] Result<ports::Configure::Answer> configure(ports::Configure configure);

  template <class Query>
  [[nodiscard]] Result<typename Query::Answer> query(Query query) {
    return call<typename Query::Answer>(
        "query", [this, query = std::move(query)](auto then) mutable {
          ports::lane_ask(reader(), std::move(query), std::move(then));
        });
  }

  // Calls `start(then)` on the loop and waits for what `then` is called with.
  template <class T, class Start>
  [[nodiscard]] Result<T> call(const char* operation, Start start) {
    if (std::this_thread::get_id() == thread_.get_id()) return refuse_own_thread(operation);
    std::promise<Result<T>> promise;
    auto answer = promise.get_future();
    loop().post([start = std::move(start), promise = std::move(promise)]() mutable {
      start([promise = std::move(promise)](Result<T> result) mutable {
        promise.set_value(std::move(result));
      });
    });
    try {
      return answer.get();
    } catch (const std::future_error&) {  // dropped with the engine or the loop
      return refuse_closed(operation);
    }
  }

  // The same without waiting, for what lives on the loop itself: `start(engine, then)` is called at
  // once, with the engine that clients are served by, which is kept until it has called `then`.
  // Threads: the loop's.
  template <class T, class Start, class Then>
  void ask_engine(Start&& start, Then then) {
    if (!serving_ && !idle_) return then(Result<T>(refuse_closed("ask")));
    if (!serving_) return std::forward<Start>(start)(*idle_, std::move(then));
    ++serving_->calls;
    std::forward<Start>(start)(
        *serving_->engine,
        [this, working = serving_, then = std::move(then)](Result<T> result) mutable {
          then(std::move(result));
          --working->calls;
          settle_if_idle(*working);
        });
  }
  [[nodiscard]] engine::Engine& engine() noexcept { return serving_ ? *serving_->engine : *idle_; }
  [[nodiscard]] ports::StoreLane& writer() noexcept { return *writer_; }
  [[nodiscard]] ports::StoreLane& reader() noexcept { return reader_ ? *reader_ : *writer_; }
  // What people do with dead letters, and who did what. Threads: the loop's.
  [[nodiscard]] triage::Operations& operations() noexcept { return *operations_; }
  [[nodiscard]] triage::AuditLog& audit() noexcept { return *audit_; }

  // What a worker adds to the engine.
  struct Work {
    std::vector<std::pair<std::string, engine::TypeOptions>> types = {};
    std::vector<engine::QueueOptions> queues = {};
    std::vector<engine::Carriage> carried = {};
    std::vector<engine::DeadLetters> dead_letters = {};
    Duration lease = std::chrono::seconds(30);
    Duration grace = std::chrono::seconds(30);
    Duration stop_grace = std::chrono::seconds(5);
    engine::Keep keep = {};
    std::shared_ptr<ports::Spill> spill = {};  // as those of engine::Parts
    std::shared_ptr<ports::Memo> memo = {};
    bool claims_ahead = true;
    Logger log = {};
    engine::Observer* observer = nullptr;  // must outlive the node
    // As that of engine::Options.
    std::function<void(const Error&)> on_broken = {};
    // Nothing is to be claimed any more. Called on the loop.
    std::function<void()> on_stopping = {};
  };

  // Begins to run tasks. Fails with conflict while another worker does.
  [[nodiscard]] Result<void> start_work(Work work);
  // T3. Clients are served on; what they submit waits for the next worker.
  Result<engine::ShutdownReport> stop_work();
  void hurry();  // does not block

  [[nodiscard]] io::Loop& loop() noexcept { return ground_->loop; }
  // Whose time the store goes by. Lives as long as ground().
  [[nodiscard]] Clock& clock() const noexcept { return *ground_->clock; }
  // Other processes work on the store, too.
  [[nodiscard]] bool is_shared() const noexcept { return news_ != nullptr; }
  // What attempts stand on: it must live as long as any handler holds one.
  [[nodiscard]] std::shared_ptr<const void> ground() const noexcept { return ground_; }
  // Runs `work` on the loop, and waits for it. Not from the loop.
  void on_loop(std::move_only_function<void()> work);

 private:
  struct Ground {
    std::shared_ptr<Clock> own_clock;  // of a store that has one
    Clock* clock = &system_clock();
    std::unique_ptr<ports::Witness> witness;
    io::Loop loop;
  };
  // An engine that runs tasks. It is kept until all that clients asked it for is answered.
  struct Working {
    std::shared_ptr<ports::Spill> spill;  // it stands on these
    std::shared_ptr<ports::Memo> memo;
    std::unique_ptr<engine::Engine> engine;
    std::size_t calls = 0;  // under way
    std::move_only_function<void()> when_idle = {};
  };

  // As call(), of the engine that clients are served by.
  template <class T, class Start>
  [[nodiscard]] Result<T> call_engine(const char* operation, Start start) {
    return call<T>(operation, [this, start = std::move(start)](auto then) mutable {
      this->ask_engine<T>(std::move(start), std::move(then));
    });
  }

  void decide_each(std::vector<TaskId> ids, triage::Parts::Decision decision,
                   std::move_only_function<void(Decisions)> then);
  [[nodiscard]] static std::unexpected<Error> refuse_own_thread(const char* operation);
  [[nodiscard]] static std::unexpected<Error> refuse_closed(const char* operation);
  [[nodiscard]] std::unique_ptr<engine::Engine> make_engine(engine::Options options, Logger log,
                                                            const Work* work = nullptr);
  void settle_if_idle(Working& working);
  void run_loop() noexcept;
  void broken_by_a_bug(const char* what) noexcept;

  // Constant.
  const Logger log_;
  const std::string url_;
  const bool sole_owner_;
  const std::shared_ptr<Ground> ground_;
  const std::unique_ptr<ports::StoreLane> writer_;
  const std::unique_ptr<io::StoreLane> reader_;  // may be missing
  const std::unique_ptr<ports::News> news_;      // likewise

  // Loop only.
  std::unique_ptr<triage::AuditLog> audit_;
  std::unique_ptr<triage::Operations> operations_;
  std::unique_ptr<engine::Engine> idle_;  // runs nothing: serves clients while nobody works
  std::shared_ptr<Working> working_;
  std::shared_ptr<Working> serving_;             // the same, as long as it accepts
  std::function<void(const Error&)> on_broken_;  // of whoever works
  std::function<void()> on_stopping_;            // likewise

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace holdfast::node
