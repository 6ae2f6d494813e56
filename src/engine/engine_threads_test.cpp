#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include <holdfast/testing/fake_clock.hpp>
#include <holdfast/testing/fake_random.hpp>

#include "engine/engine.hpp"
#include "io/loop.hpp"
#include "io/store_lane.hpp"
#include "stores/memory/memory_store.hpp"

namespace holdfast::engine::engine_threads_test {
namespace {

using namespace std::chrono_literals;

// Threads that begin, beat and finish attempts.
class Pool final : public ports::Handler {
 public:
  using Work = std::function<void(ports::Run&)>;
  Pool(std::size_t threads, Work work) : work_(std::move(work)) {
    for (std::size_t i = 0; i < threads; ++i) {
      threads_.emplace_back([this](const std::stop_token& stop) { serve(stop); });
    }
  }

  void start(std::shared_ptr<ports::Run> run) noexcept override {
    {
      const std::lock_guard lock(mutex_);
      runs_.push_back(std::move(run));
    }
    changed_.notify_one();
  }
  [[nodiscard]] std::size_t backlog() const noexcept override { return 1000; }

 private:
  void serve(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [&] { return !runs_.empty(); })) {
      const std::shared_ptr<ports::Run> run = std::move(runs_.front());
      runs_.pop_front();
      lock.unlock();
      work_(*run);
      lock.lock();
    }
  }

  const Work work_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::shared_ptr<ports::Run>> runs_;
  std::vector<std::jthread> threads_;
};

// Counts what begins and ends, from any thread.
class CountingWitness final : public ports::Witness {
 public:
  [[nodiscard]] Place begin(const ports::Held&) noexcept override { return ++begun; }
  void end(Place, const ports::Held&) noexcept override { ++ended; }
  [[nodiscard]] const std::optional<std::vector<ports::Held>>& last_life() const noexcept override {
    return nothing_;
  }

  std::atomic<std::size_t> begun = 0;
  std::atomic<std::size_t> ended = 0;

 private:
  const std::optional<std::vector<ports::Held>> nothing_;
};

class Lent final : public ports::Store {
 public:
  explicit Lent(ports::Store& store) : store_(store) {}
  void carry_out(std::span<ports::Request> batch) override { store_.carry_out(batch); }

 private:
  ports::Store& store_;
};

std::vector<ports::NewTask> tasks(std::size_t count) {
  return std::vector(count, ports::NewTask{.type = "t", .queue = "q"});
}

struct Threads {
  io::Loop loop;
  stores::MemoryStore store;  // to be looked at when its lane has gone
  std::unique_ptr<io::StoreLane> lane =
      std::make_unique<io::StoreLane>(loop, "store", std::make_unique<Lent>(store));
  CountingWitness witness;
  std::unique_ptr<Engine> engine = std::make_unique<Engine>(
      Parts{.loop = loop,
            .writer = *lane,
            .reader = *lane,
            .clock = system_clock(),
            .random = system_random(),
            .witness = &witness},
      Options{.owner = "threads", .sole_owner = true, .stop_grace = 100ms});
  ShutdownReport report;

  // Until so many have succeeded.
  void run(std::shared_ptr<ports::Handler> handler, core::TaskPolicy policy, std::size_t count,
           std::uint64_t until) {
    engine->handle("t", {.handler = std::move(handler), .policy = std::move(policy)});
    engine->serve({.name = "q", .concurrency = 8});
    engine->start();
    engine->submit(tasks(count), [](auto) {});
    look(until);
    loop.run();
    engine.reset();
    lane.reset();
  }

  void look(std::uint64_t until) {
    timer = loop.after(1ms, [this, until] {
      if (engine->stats().count(core::Event::success) < until) return look(until);
      engine->shut_down([this](ShutdownReport told) {
        report = told;
        timer.reset();
        loop.stop();
      });
    });
  }
  std::unique_ptr<ports::Loop::Timer> timer;
};

TEST(EngineThreads, attempts_begin_beat_and_finish_on_many_threads) {
  Threads threads;
  auto pool = std::make_shared<Pool>(4, [](ports::Run& run) {
    if (!run.begin()) return run.finish(core::HandedBack{});
    run.heartbeat();
    (void)run.end();
    run.finish(core::Success{run.task().id.text()});
    run.finish(Failure{.message = "counts no more"});
  });
  threads.run(pool, {}, 2000, 2000);
  EXPECT_EQ(threads.witness.begun, 2000U);
  EXPECT_EQ(threads.witness.ended, 2000U);
  for (const auto& [id, kept] : threads.store.tasks()) {
    EXPECT_EQ(kept.record.task.state, core::State::succeeded);
    EXPECT_EQ(kept.record.result, id.text());
  }
}

TEST(EngineThreads, each_task_that_fails_is_tried_again_until_it_succeeds) {
  Threads threads;
  auto pool = std::make_shared<Pool>(4, [](ports::Run& run) {
    if (!run.begin()) return run.finish(core::HandedBack{});
    if (run.number() < 3) return run.finish(Failure{.message = "not yet"});
    run.finish(core::Success{});
  });
  threads.run(pool, {.wait = retry::no_wait()}, 300, 300);
  for (const auto& [id, kept] : threads.store.tasks()) {
    EXPECT_EQ(kept.record.task.state, core::State::succeeded);
    EXPECT_EQ(kept.record.task.spent.attempts, 2);
  }
}

TEST(EngineThreads, a_shutdown_amid_the_work_loses_and_spends_nothing) {  // T3
  Threads threads;
  auto pool = std::make_shared<Pool>(4, [](ports::Run& run) {
    if (!run.begin()) return run.finish(core::HandedBack{});
    run.finish(core::Success{});
  });
  threads.run(pool, {}, 3000, 100);
  std::size_t succeeded = 0;
  for (const auto& [id, kept] : threads.store.tasks()) {
    const core::State state = kept.record.task.state;
    EXPECT_TRUE(state == core::State::succeeded || state == core::State::pending);
    EXPECT_EQ(kept.record.task.spent, core::Spent{});
    succeeded += state == core::State::succeeded ? 1 : 0;
  }
  EXPECT_GE(succeeded, 100U);
  EXPECT_EQ(threads.store.tasks().size(), 3000U);
  EXPECT_EQ(threads.report.abandoned + threads.report.unsettled, 0U);
}

TEST(EngineThreads, timeouts_meet_handlers_that_finish_at_the_same_moment) {  // T4
  Threads threads;
  auto pool = std::make_shared<Pool>(4, [](ports::Run& run) {
    if (!run.begin()) return run.finish(core::HandedBack{});
    if (run.number() == 1 && run.task().task.token.value % 2 == 1) {
      while (!run.stop().stop_requested())
        std::this_thread::yield();
    }
    run.finish(core::Success{});
  });
  threads.run(pool, {.attempts = 100, .wait = retry::no_wait(), .timeout = 2ms}, 100, 100);
  EXPECT_EQ(threads.witness.begun, threads.witness.ended);
  for (const auto& [id, kept] : threads.store.tasks()) {
    EXPECT_EQ(kept.record.task.state, core::State::succeeded);
  }
}

TEST(EngineThreads, an_engine_may_go_while_threads_hold_its_attempts) {
  std::atomic<bool> gone = false;
  Threads threads;
  auto pool = std::make_shared<Pool>(4, [&](ports::Run& run) {
    if (!run.begin()) return run.finish(core::HandedBack{});
    while (!gone && !run.stop().stop_requested())
      run.heartbeat();
    run.finish(core::Success{});
  });
  threads.engine->handle("t", {.handler = pool});
  threads.engine->serve({.name = "q"});
  threads.engine->start();
  threads.engine->submit(tasks(20), [](auto) {});
  threads.timer = threads.loop.after(20ms, [&] {
    threads.engine.reset();
    threads.timer.reset();
    threads.loop.stop();
  });
  threads.loop.run();
  gone = true;
  pool.reset();
  threads.lane.reset();
  EXPECT_EQ(threads.store.tasks().size(), 20U);
}

// Tells without a pause, on a thread of its own.
class Chatter final : public ports::News {
 public:
  void listen(Told told) override {
    const std::lock_guard lock(mutex_);
    told_ = std::move(told);
  }

 private:
  std::mutex mutex_;
  Told told_;
  std::jthread thread_{[this](const std::stop_token& stop) {
    for (int count = 0; !stop.stop_requested(); ++count) {
      const std::lock_guard lock(mutex_);
      if (told_) told_({.queue = "q", .any = count % 2 == 0});
      std::this_thread::yield();
    }
  }};
};

TEST(EngineThreads, an_engine_may_come_and_go_while_news_are_told) {
  Threads threads;
  Chatter news;
  auto pool = std::make_shared<Pool>(2, [](ports::Run& run) {
    if (!run.begin()) return run.finish(core::HandedBack{});
    run.finish(core::Success{});
  });
  const auto renew = [&](const std::string& owner) {
    threads.engine = std::make_unique<Engine>(Parts{.loop = threads.loop,
                                                    .writer = *threads.lane,
                                                    .reader = *threads.lane,
                                                    .clock = system_clock(),
                                                    .random = system_random(),
                                                    .news = &news},
                                              Options{.owner = owner});
    threads.engine->handle("t", {.handler = pool});
    threads.engine->serve({.name = "q"});
    threads.engine->start();
    threads.engine->submit(tasks(5), [](auto) {});
  };
  int lives = 0;
  std::function<void()> next = [&] {
    if (++lives > 20) {
      threads.engine.reset();
      threads.timer.reset();
      return threads.loop.stop();
    }
    renew(std::to_string(lives));
    threads.timer = threads.loop.after(2ms, next);
  };
  threads.timer = threads.loop.after(0ms, next);
  threads.loop.run();
  pool.reset();
  threads.lane.reset();
  EXPECT_FALSE(threads.store.tasks().empty());
}

}  // namespace
}  // namespace holdfast::engine::engine_threads_test
