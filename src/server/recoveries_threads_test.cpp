#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include <holdfast/testing.hpp>

#include "io/loop.hpp"
#include "server/recoveries.hpp"

namespace holdfast::server::recoveries_threads_test {
namespace {

using namespace std::chrono_literals;

config::Recover recover_of(const std::string& queue) {
  config::Recover recover;
  const std::string url = "amqp://127.0.0.1:1/%2f/" + queue;
  recover.from = {.text = config::Secret(url, ""), .shown = url};
  recover.to = "target";
  return recover;
}

// Runs nothing, and keeps count of it.
struct Runs {
  std::mutex mutex;
  std::condition_variable changed;
  int begun = 0;
  int under_way = 0;
  int most_at_once = 0;
  bool hold = false;
  bool is_refused = false;

  Result<recovery::Run::Outcome> run(const RecoverHooks& hooks) {
    std::unique_lock lock(mutex);
    ++begun;
    most_at_once = std::max(most_at_once, ++under_way);
    changed.notify_all();
    hooks.observer.found(3);
    recovery::Summary summary{.run = "r", .queue = "q"};
    summary.found = 3;
    if (!is_refused) summary.recovered.add("target");
    for (int i = 0; i < 2; ++i)
      hooks.observer.moved(summary);
    const std::stop_callback wake(hooks.stop, [this] { changed.notify_all(); });
    while (hold && !hooks.stop.stop_requested())
      changed.wait_for(lock, 10ms);
    --under_way;
    changed.notify_all();
    summary.found = 0;
    summary.left = 0;
    return recovery::Run::Outcome{.summary = summary, .plan = {}};
  }
  void wait_for(int count) {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(changed.wait_for(lock, 60s, [&] { return begun >= count; }));
  }
};

// What the listener was told.
struct Told final : RecoveryListener {
  std::vector<std::string> all;  // the loop's

  void began(const RecoveryRun& run) override { all.push_back(run.name + " began"); }
  void found(const RecoveryRun& run, std::uint64_t messages) override {
    all.push_back(run.name + " found " + std::to_string(messages));
  }
  void ended(const RecoveryRun& run, const Result<recovery::Run::Outcome>& outcome) override {
    all.push_back(run.name + (outcome ? " ended" : " failed"));
  }
};

struct World {
  io::Loop loop;
  Told told;
  holdfast::testing::LogCapture log;
  Runs runs;
  std::unique_ptr<Recoveries> recoveries;
  std::thread thread{[this] { loop.run(); }};

  World() {
    on_loop([this] {
      recoveries = std::make_unique<Recoveries>(
          loop, Logger(log), told,
          [this](const RecoverSettings&, const RecoverHooks& hooks) { return runs.run(hooks); });
    });
  }
  ~World() {
    std::vector<std::jthread> ending;
    on_loop([&] { ending = recoveries->end(); });
    ending.clear();
    on_loop([this] { recoveries.reset(); });
    loop.stop();
    thread.join();
  }
  void on_loop(std::function<void()> work) {
    std::promise<void> done;
    loop.post([&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }
  Result<void> set(const std::map<std::string, config::Recover>& all) {
    Result<void> answer;
    on_loop([&] { answer = recoveries->set(all); });
    return answer;
  }
};

TEST(Recoveries, tell_of_what_was_found_once_something_is_done) {
  for (const bool is_refused : {false, true}) {
    World world;
    world.runs.is_refused = is_refused;
    config::Recover recover = recover_of("a");
    recover.on_start = true;
    ASSERT_TRUE(world.set({{"a", recover}}));
    world.runs.wait_for(1);
    std::vector<std::string> told;
    while (told.empty() || told.back() != "a ended") {
      world.on_loop([&] { told = world.told.all; });
      std::this_thread::yield();
    }
    EXPECT_EQ(std::ranges::count(told, "a found 3"), is_refused ? 0 : 1);
  }
}

TEST(Recoveries, run_on_start_and_again) {
  World world;
  auto recover = recover_of("q");
  recover.on_start = true;
  recover.every = 20ms;
  ASSERT_TRUE(world.set({{"a", recover}}));
  world.runs.wait_for(3);
  world.on_loop([&] {
    ASSERT_GE(world.told.all.size(), 4U);
    EXPECT_EQ(world.told.all[0], "a began");
    EXPECT_EQ(world.told.all[1], "a found 3");
    EXPECT_EQ(world.told.all[2], "a ended");
    EXPECT_EQ(world.told.all[3], "a began");
  });
}

TEST(Recoveries, of_one_queue_never_two_at_once) {
  World world;
  world.runs.hold = true;
  auto recover = recover_of("q");
  recover.on_start = true;
  recover.every = 5ms;
  ASSERT_TRUE(world.set({{"a", recover}, {"b", recover}}));
  world.runs.wait_for(1);
  for (int i = 0; i < 20; ++i)
    world.on_loop([] { std::this_thread::yield(); });
  const std::lock_guard lock(world.runs.mutex);
  EXPECT_EQ(world.runs.most_at_once, 1);
}

TEST(Recoveries, are_asked_to_end_when_their_table_is_gone) {
  World world;
  world.runs.hold = true;
  auto recover = recover_of("q");
  recover.on_start = true;
  ASSERT_TRUE(world.set({{"a", recover}}));
  world.runs.wait_for(1);
  ASSERT_TRUE(world.set({}));
  std::unique_lock lock(world.runs.mutex);
  EXPECT_TRUE(world.runs.changed.wait_for(lock, 60s, [&] { return world.runs.under_way == 0; }));
}

TEST(Recoveries, a_reload_runs_nothing_at_once_and_refuses_what_is_wrong) {
  World world;
  auto recover = recover_of("q");
  recover.every = 1h;
  ASSERT_TRUE(world.set({{"a", recover}}));
  recover.on_start = true;
  ASSERT_TRUE(world.set({{"a", recover}}));
  recover.filter = {"tipe=x"};
  const auto refused = world.set({{"a", recover}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(
      refused.error().text(),
      "recover \"a\": position 1, at \"tipe=x\": unknown name \"tipe\"; did you mean \"type\"?");
  const std::lock_guard lock(world.runs.mutex);
  EXPECT_EQ(world.runs.begun, 0);
}

}  // namespace
}  // namespace holdfast::server::recoveries_threads_test
