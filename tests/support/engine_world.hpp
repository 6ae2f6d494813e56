#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/testing/fake_clock.hpp>
#include <holdfast/testing/fake_random.hpp>
#include <holdfast/testing/log_capture.hpp>

#include "engine/engine.hpp"
#include "stores/memory/memory_store.hpp"

// A world for tests of the engine: one thread, a clock that moves when told, and a store that
// answers on the loop's next turn.
namespace holdfast::engine::testing {

// Runs what is posted when it is told to, and timers when the clock has been moved that far.
// Threads: one; tests that post from others have a loop of their own.
class ManualLoop final : public ports::Loop {
 public:
  explicit ManualLoop(holdfast::testing::FakeClock& clock) : clock_(clock) {}

  void post(Work work) override { posted_.push_back(std::move(work)); }

  [[nodiscard]] std::unique_ptr<Timer> after(Duration wait, Work work) override {
    const Key key{saturating_add(clock_.now(), std::max(wait, Duration::zero())), ++count_};
    timers_.emplace(key, std::move(work));
    return std::make_unique<ManualTimer>(*this, key);
  }

  // One thing that is to be done now; false: there is none.
  bool one_turn() {
    Work work;
    if (!posted_.empty()) {
      work = std::move(posted_.front());
      posted_.pop_front();
    } else if (!timers_.empty() && timers_.begin()->first.first <= clock_.now()) {
      work = std::move(timers_.begin()->second);
      timers_.erase(timers_.begin());
    } else {
      return false;
    }
    work();
    return true;
  }

  // Until nothing is left to be done now. What posts itself for ever ends it too.
  void settle() {
    for (int turns = 0; turns < 1'000'000 && one_turn(); ++turns) {
    }
  }

  // Time passes, from one timer to the next.
  void pass(Duration span) {
    settle();
    const SteadyTime end = clock_.now() + span;
    while (!timers_.empty() && timers_.begin()->first.first <= end) {
      clock_.advance(timers_.begin()->first.first - clock_.now());
      settle();
    }
    clock_.advance(end - clock_.now());
    settle();
  }

 private:
  using Key = std::pair<SteadyTime, std::uint64_t>;

  class ManualTimer final : public Timer {
   public:
    ManualTimer(ManualLoop& loop, Key key) : loop_(loop), key_(key) {}
    ~ManualTimer() override { loop_.timers_.erase(key_); }

   private:
    ManualLoop& loop_;
    const Key key_;
  };

  holdfast::testing::FakeClock& clock_;
  std::deque<Work> posted_;
  std::map<Key, Work> timers_;
  std::uint64_t count_ = 0;
};

// Asks a store on the loop's next turn, all that has gathered as one batch; and, where a test says
// so, lies about it or takes its time.
class TestLane final : public ports::StoreLane {
 public:
  TestLane(ManualLoop& loop, ports::Store& store) : loop_(loop), store_(store) {}

  void ask(ports::Request request, Done done) override {
    waiting_.push_back({std::move(request), std::move(done)});
    if (std::exchange(posted_, true)) return;
    if (takes == Duration::zero()) {
      loop_.post([this] { carry_out(); });
    } else {
      timer_ = loop_.after(takes, [this] { carry_out(); });
    }
  }

  // Every request is answered with this error, and not carried out.
  std::optional<Error> away;
  // The same for single ones; true: carry it out all the same, and say the error.
  std::function<std::optional<Error>(const ports::Request&)> fault;
  bool carries_out_faults = false;
  Duration takes{};
  std::size_t batches = 0;
  std::function<void(const ports::Request&)> seen = [](const ports::Request&) {};

 private:
  struct Waiting {
    ports::Request request;
    Done done;
  };

  void carry_out() {
    posted_ = false;
    ++batches;
    std::vector<Waiting> batch = std::exchange(waiting_, {});
    for (Waiting& one : batch) {
      seen(one.request);
      const std::optional<Error> error = away ? away : fault ? fault(one.request) : std::nullopt;
      if (!error || (!away && carries_out_faults)) store_.carry_out({&one.request, 1});
      if (error) {
        std::visit([&](auto& asked) { asked.answer = std::unexpected(*error); }, one.request);
      }
    }
    for (Waiting& one : batch)
      one.done(std::move(one.request));
  }

  ManualLoop& loop_;
  ports::Store& store_;
  std::vector<Waiting> waiting_;
  std::unique_ptr<ports::Loop::Timer> timer_;
  bool posted_ = false;
};

// Keeps its runs for the test to begin and finish; or does with each what it is told.
class TestHandler final : public ports::Handler {
 public:
  using Work = std::function<void(std::shared_ptr<ports::Run>)>;
  explicit TestHandler(Work work = {}, std::size_t backlog = 0)
      : work_(std::move(work)), backlog_(backlog) {}

  void start(std::shared_ptr<ports::Run> run) noexcept override {
    ++started;
    if (work_) return work_(std::move(run));
    runs.push_back(std::move(run));
  }
  [[nodiscard]] std::size_t backlog() const noexcept override { return backlog_; }

  std::vector<std::shared_ptr<ports::Run>> runs;
  std::size_t started = 0;

 private:
  const Work work_;
  const std::size_t backlog_;
};

[[nodiscard]] inline std::shared_ptr<TestHandler> succeeding() {
  return std::make_shared<TestHandler>([](const std::shared_ptr<ports::Run>& run) {
    if (run->begin()) run->finish(core::Success{"done"});
  });
}

[[nodiscard]] inline std::shared_ptr<TestHandler> failing(Failure failure) {
  return std::make_shared<TestHandler>([failure](const std::shared_ptr<ports::Run>& run) {
    if (run->begin()) run->finish(failure);
  });
}

class TestWitness final : public ports::Witness {
 public:
  explicit TestWitness(std::optional<std::vector<ports::Held>> last_life = {})
      : last_life_(std::move(last_life)) {}

  [[nodiscard]] Place begin(const ports::Held& claim) noexcept override {
    under_way.emplace(++count_, claim);
    return count_;
  }
  void end(Place place, const ports::Held&) noexcept override { under_way.erase(place); }
  [[nodiscard]] const std::optional<std::vector<ports::Held>>& last_life() const noexcept override {
    return last_life_;
  }
  void forget_last_life() noexcept override { forgotten = true; }

  std::map<Place, ports::Held> under_way;
  bool forgotten = false;

 private:
  const std::optional<std::vector<ports::Held>> last_life_;
  Place count_ = 0;
};

// Tells what a test says. Threads: one.
class TestNews final : public ports::News {
 public:
  void listen(Told told) override { told_ = std::move(told); }
  void tell(std::string queue) { tell(ports::News::One{.queue = std::move(queue)}); }
  void tell(One one) {
    if (told_) told_(std::move(one));
  }
  [[nodiscard]] bool has_listener() const { return static_cast<bool>(told_); }

 private:
  Told told_;
};

// The world. `engine` may be replaced: that is a crash and a restart.
struct World {
  holdfast::testing::FakeClock clock;
  holdfast::testing::FakeRandom random;
  holdfast::testing::LogCapture log;
  ManualLoop loop{clock};
  stores::MemoryStore store;
  TestLane lane{loop, store};
  std::unique_ptr<TestWitness> witness;
  std::unique_ptr<TestNews> news;
  std::unique_ptr<ports::Spill> spill;
  std::unique_ptr<ports::Memo> memo;
  Options options = {.owner = "life 1", .sole_owner = true};
  std::unique_ptr<Engine> engine;

  World() : World({0.5}) {}
  explicit World(std::initializer_list<double> chance) : random(chance) { renew(); }

  void renew() {
    engine.reset();
    engine = std::make_unique<Engine>(Parts{.loop = loop,
                                            .writer = lane,
                                            .reader = lane,
                                            .clock = clock,
                                            .random = random,
                                            .log = Logger(log, clock, Level::debug),
                                            .witness = witness.get(),
                                            .news = news.get(),
                                            .spill = spill.get(),
                                            .memo = memo.get()},
                                      options);
  }

  // One type "t" in one queue "q".
  void run(std::shared_ptr<ports::Handler> handler, core::TaskPolicy policy = {},
           std::size_t concurrency = 16) {
    engine->handle("t", {.handler = std::move(handler), .policy = std::move(policy)});
    engine->serve({.name = "q", .concurrency = concurrency});
    engine->start();
    loop.settle();
  }

  // Its id, unless the lane takes its time.
  TaskId submit(ports::NewTask task = {}) {
    if (task.type.empty()) task.type = "t";
    if (task.queue.empty()) task.queue = "q";
    std::vector<ports::NewTask> tasks;
    tasks.push_back(std::move(task));
    auto id = std::make_shared<TaskId>();
    engine->submit(std::move(tasks),
                   [id](auto answer) { *id = answer.value().front().value().id; });
    loop.settle();
    return *id;
  }

  [[nodiscard]] const ports::TaskRecord& record(const TaskId& id) const {
    return store.tasks().at(id).record;
  }
  [[nodiscard]] core::State state(const TaskId& id) const { return record(id).task.state; }
};

}  // namespace holdfast::engine::testing
