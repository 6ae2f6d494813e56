#include <atomic>
#include <csignal>
#include <filesystem>
#include <functional>
#include <future>
#include <latch>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include <boost/asio/dispatch.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <holdfast/client.hpp>
#include <holdfast/testing.hpp>
#include <holdfast/worker_asio.hpp>

#include "node/node_testing.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::worker_threads_test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using node::testing::kLong;
using node::testing::memory_url;
using node::testing::quiet;
using node::testing::ran;

class WorkerTest : public ::testing::Test {
 protected:
  const std::string url_ = memory_url();
  Client client_{url_};
};

TEST_F(WorkerTest, runs_what_a_client_hands_in_and_keeps_the_result) {
  Worker worker(url_, quiet());
  worker.on("shout", [](Job& job) { return job.payload() + "!"; });
  ASSERT_TRUE(worker.start());
  const TaskInfo done = ran(client_, {.type = "shout", .payload = "hey"});
  EXPECT_EQ(done.state, TaskState::succeeded);
  EXPECT_EQ(done.result, "hey!");
  ASSERT_EQ(done.history.size(), 1U);
  EXPECT_EQ(done.history[0].event, "success");
  EXPECT_EQ(worker.stop().handed_back, 0U);
}

TEST_F(WorkerTest, runs_what_was_handed_in_before_it_came) {
  const TaskId id = client_.submit({.type = "t"}).value();
  Worker worker(url_, quiet());
  worker.on("t", [] {});
  ASSERT_TRUE(worker.start());
  EXPECT_EQ(client_.wait(id, kLong)->state, TaskState::succeeded);
}

// T1, T10, T2, N6
TEST_F(WorkerTest, tries_again_with_the_same_id_and_a_greater_token) {
  std::vector<TaskId> ids;
  std::vector<std::uint64_t> tokens;
  Worker worker(url_, quiet());
  worker.on("flaky",
            [&](Job& job) {
              ids.push_back(job.id());
              tokens.push_back(job.token());
              EXPECT_EQ(job.attempt(), static_cast<int>(ids.size()));
              if (ids.size() < 3) throw std::runtime_error("connection reset by peer");
            },
            {.wait = retry::no_wait()});
  ASSERT_TRUE(worker.start());
  const TaskInfo done = ran(client_, {.type = "flaky"});
  EXPECT_EQ(done.state, TaskState::succeeded);
  EXPECT_EQ(done.attempts, 2);
  EXPECT_EQ(ids, std::vector<TaskId>(3, done.id));
  EXPECT_LT(tokens[0], tokens[1]);
  EXPECT_LT(tokens[1], tokens[2]);
}

TEST_F(WorkerTest, parks_what_is_out_of_attempts_and_brings_it_back) {
  std::atomic<bool> broken = true;
  Worker worker(url_, quiet());
  worker.on("t",
            [&] {
              if (broken) throw std::runtime_error("disk 7 on fire");
            },
            {.attempts = 2, .wait = retry::no_wait()});
  ASSERT_TRUE(worker.start());
  const TaskInfo dead = ran(client_, {.type = "t"});
  EXPECT_EQ(dead.state, TaskState::dead);
  EXPECT_EQ(dead.dead_reason, DeadReason::out_of_attempts);
  EXPECT_EQ(dead.attempts, 2);
  ASSERT_TRUE(dead.last_failure);
  EXPECT_EQ(dead.last_failure->message, "disk 7 on fire");
  EXPECT_EQ(client_.groups()->front().id, dead.group);
  EXPECT_EQ(client_.list({.state = TaskState::dead, .group = dead.group})->tasks.size(), 1U);

  broken = false;
  ASSERT_TRUE(client_.replay(dead.id));
  const auto back = client_.wait(dead.id, kLong);
  EXPECT_EQ(back->state, TaskState::succeeded);
  EXPECT_EQ(back->replays, 1);
}

// No file of this process may grow over so many bytes: writes fail as on a disk that is broken.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallFiles() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

class WorkerOnFile : public ::testing::Test {
 protected:
  WorkerOnFile() { std::filesystem::create_directory(folder_); }
  ~WorkerOnFile() override { std::filesystem::remove_all(folder_); }

  // Submits until the store does not take it.
  static Error fill(Client& client) {
    while (true) {
      const auto id = client.submit({.type = "t", .payload = std::string(100'000, 'x')});
      if (!id) return id.error();
    }
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("holdfast-on-file-" + std::to_string(::getpid()));
  const std::string url_ = "sqlite:" + (folder_ / "tasks.db").string();
};

// As of a quota: the disk itself has room.
TEST_F(WorkerOnFile, a_file_that_may_not_grow_is_like_a_full_disk) {
  Client client(url_, {.log = {}});
  ASSERT_TRUE(client.open());
  {
    const SmallFiles small(1 << 20U);
    EXPECT_EQ(fill(client).code, ErrorCode::exhausted);
  }
  EXPECT_TRUE(client.submit({.type = "t"}));
}

TEST_F(WorkerOnFile, says_that_its_store_has_failed_for_good) {
  Client client(url_, {.log = {}});
  std::promise<Error> broken;
  auto options = quiet();
  options.on_broken = [&](const Error& error) { broken.set_value(error); };
  Worker worker(url_, options);
  worker.on("t", [] {});
  ASSERT_TRUE(worker.start());
  ASSERT_TRUE(client.submit({.type = "t"}));
  // Its log cannot be written any more.
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry, gone) != folder_ / "tasks.db-wal") continue;
    const int readable = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::dup2(readable, std::stoi(entry.path().filename()));
    ::close(readable);
  }
  fill(client);
  auto told = broken.get_future();
  ASSERT_EQ(told.wait_for(kLong), std::future_status::ready);
  EXPECT_EQ(told.get().code, ErrorCode::corrupt);
  EXPECT_TRUE(worker.stop().error);
}

TEST_F(WorkerTest, gives_up_at_once_by_the_rules_of_the_type) {
  Worker worker(url_, quiet());
  worker.on("preset", [] { throw Failure{.message = "no", .http_status = 422}; });
  worker.on(
      "own", [] { throw std::runtime_error("sold out"); },
      {.classifier =
           Classifier::make({{.pattern = "sold out", .verdict = VerdictKind::give_up}}).value()});
  ASSERT_TRUE(worker.start());
  EXPECT_EQ(ran(client_, {.type = "preset"}).state, TaskState::failed);
  EXPECT_EQ(ran(client_, {.type = "own"}).state, TaskState::failed);
}

TEST_F(WorkerTest, a_task_may_have_limits_of_its_own) {
  Worker worker(url_, quiet());
  worker.on("t", [] { throw std::runtime_error("no"); }, {.wait = retry::no_wait()});
  ASSERT_TRUE(worker.start());
  EXPECT_EQ(ran(client_, {.type = "t", .attempts = 1}).attempts, 1);
}

TEST_F(WorkerTest, T4_times_out_a_function_and_tells_it_to_stop) {
  Worker worker(url_, quiet());
  std::atomic<bool> stopped = false;
  worker.on("slow",
            [&](Job& job) {
              EXPECT_GT(job.time_left(), 0s);
              system_clock().sleep_for(kLong, job.stop_token());
              stopped = job.stop_token().stop_requested();
            },
            {.attempts = 1, .timeout = 10ms});
  ASSERT_TRUE(worker.start());
  const TaskInfo dead = ran(client_, {.type = "slow"});
  EXPECT_EQ(dead.state, TaskState::dead);
  EXPECT_EQ(dead.last_failure->kind, FailureKind::timeout);
  worker.stop();
  EXPECT_TRUE(stopped);
}

TEST_F(WorkerTest, a_canceled_task_stops_its_function) {
  Worker worker(url_, quiet());
  std::promise<TaskId> begun;
  worker.on("slow", [&](Job& job) {
    begun.set_value(job.id());
    EXPECT_FALSE(system_clock().sleep_for(kLong, job.stop_token()));
  });
  ASSERT_TRUE(worker.start());
  ASSERT_TRUE(client_.submit({.type = "slow"}));
  const TaskId id = begun.get_future().get();
  EXPECT_TRUE(client_.cancel(id));
  EXPECT_EQ(client_.wait(id, kLong)->state, TaskState::canceled);
}

TEST_F(WorkerTest, a_handler_may_hand_in_more) {
  Worker worker(url_, quiet());
  worker.on("first", [&] { return client_.submit({.type = "second"}).value().text(); });
  worker.on("second", [] { return "came"; });
  ASSERT_TRUE(worker.start());
  const TaskInfo first = ran(client_, {.type = "first"});
  const auto second = client_.wait(TaskId::parse(*first.result).value(), kLong);
  EXPECT_EQ(second->result, "came");
}

TEST_F(WorkerTest, runs_coroutines_many_at_a_time) {
  constexpr int kCount = 50;
  Worker worker(url_, quiet({.threads = 1}));
  int here = 0;  // all on one thread
  worker.on("meet", [&](Job& job) -> asio::awaitable<std::string> {
    // Nobody leaves before all have come.
    asio::steady_timer timer(co_await asio::this_coro::executor);
    ++here;
    while (here < kCount) {
      timer.expires_after(1ms);
      co_await timer.async_wait(asio::use_awaitable);
    }
    co_return job.payload();
  });
  ASSERT_TRUE(worker.start());
  std::vector<Submission> many(kCount, Submission{.type = "meet", .payload = "x"});
  const auto ids = client_.submit(many).value();
  for (const auto& id : ids)
    EXPECT_EQ(client_.wait(*id, kLong)->result, "x");
}

TEST_F(WorkerTest, a_coroutine_may_end_before_it_has_waited_for_anything) {
  Worker worker(url_, quiet());
  worker.on("inline", []() -> asio::awaitable<std::string> {
    co_await asio::dispatch(asio::use_awaitable);
    co_return "at once";
  });
  ASSERT_TRUE(worker.start());
  EXPECT_EQ(ran(client_, {.type = "inline"}).result, "at once");
}

void tell_at_the_end_of_this_thread(std::promise<void>& told) {
  struct AtTheEnd {
    std::promise<void>* told = nullptr;
    ~AtTheEnd() {
      if (told) told->set_value();
    }
  };
  thread_local AtTheEnd at_the_end;
  at_the_end.told = &told;
}

// The thread of a coroutine that blocks is left behind, and ends after all else is gone.
TEST_F(WorkerTest, a_coroutine_that_was_left_behind_may_end_late) {
  std::promise<void> begun;
  std::promise<void> leave;
  std::promise<void> left;
  {
    const std::string url = memory_url();
    Client client(url);
    Worker worker(url, quiet({.coroutines = 1, .grace = 0s, .stop_grace = 1ms}));
    worker.on("block", [&, kept = std::make_shared<int>()]() -> asio::awaitable<void> {
      begun.set_value();
      tell_at_the_end_of_this_thread(left);
      leave.get_future().wait();
      co_return;
    });
    ASSERT_TRUE(worker.start());
    ASSERT_TRUE(client.submit({.type = "block"}));
    ASSERT_TRUE(client.submit({.type = "block"}));
    begun.get_future().wait();
    EXPECT_EQ(worker.stop().left_behind, 1U);
  }
  leave.set_value();
  left.get_future().wait();
}

// Calls what it was given when the engine says that it starts, which is amid Worker::start().
class AtStart final : public LogSink {
 public:
  void write(const LogRecord& record) noexcept override {
    if (record.event == "engine.start") call();
  }
  std::function<void()> call;
};

TEST_F(WorkerTest, a_stop_amid_the_start_is_not_lost) {
  AtStart at_start;
  auto options = quiet();
  options.log = Logger(at_start);
  Worker worker(url_, options);
  worker.on("t", [] {});
  std::thread stopping;
  at_start.call = [&] {
    std::promise<void> there;
    auto is_there = there.get_future();
    stopping = std::thread([&worker, there = std::move(there)]() mutable {
      there.set_value();
      worker.stop();
    });
    is_there.wait();
    system_clock().sleep_for(5ms);  // so that it has most likely asked
  };
  EXPECT_EQ(worker.run(), 0);  // would else never return
  stopping.join();
}

TEST_F(WorkerTest, T4_cancels_a_coroutine_that_is_timed_out) {
  Worker worker(url_, quiet());
  worker.on("hang",
            [](Job&) -> asio::awaitable<void> {
              asio::steady_timer timer(co_await asio::this_coro::executor);
              timer.expires_at(asio::steady_timer::time_point::max());
              co_await timer.async_wait(asio::use_awaitable);
            },
            {.attempts = 1, .timeout = 10ms});
  ASSERT_TRUE(worker.start());
  const TaskInfo dead = ran(client_, {.type = "hang"});
  EXPECT_EQ(dead.state, TaskState::dead);
  EXPECT_EQ(dead.last_failure->kind, FailureKind::timeout);
  EXPECT_EQ(worker.stop().left_behind, 0U);
}

TEST_F(WorkerTest, T3_lets_what_runs_finish) {
  Worker worker(url_, quiet({.threads = 1}));
  std::promise<void> begun;
  std::promise<void> leave;
  worker.on("t", [&] {
    begun.set_value();
    leave.get_future().wait();
    return "finished";
  });
  ASSERT_TRUE(worker.start());
  const TaskId id = client_.submit({.type = "t"}).value();
  begun.get_future().wait();
  auto stopping = std::async(std::launch::async, [&] { return worker.stop(); });
  leave.set_value();
  EXPECT_EQ(stopping.get().handed_back, 0U);
  EXPECT_EQ(client_.find(id)->result, "finished");
}

TEST_F(WorkerTest, T3_hands_back_what_does_not_finish_in_time_at_no_cost) {
  Worker worker(url_, quiet({.grace = 1ms}));
  std::promise<void> begun;
  worker.on("t", [&](Job& job) {
    begun.set_value();
    system_clock().sleep_for(kLong, job.stop_token());
  });
  ASSERT_TRUE(worker.start());
  const TaskId id = client_.submit({.type = "t"}).value();
  begun.get_future().wait();
  const Worker::Stopped stopped = worker.stop();
  EXPECT_EQ(stopped.handed_back, 1U);
  EXPECT_EQ(stopped.cut_short, 1U);
  EXPECT_EQ(stopped.left_behind, 0U);
  const auto info = client_.find(id);
  EXPECT_EQ(info->state, TaskState::pending);
  EXPECT_EQ(info->attempts, 0);
}

TEST_F(WorkerTest, clients_go_on_after_the_worker_and_the_next_worker_after_both) {
  for (int round = 0; round < 3; ++round) {
    const TaskId before = client_.submit({.type = "t"}).value();
    Worker worker(url_, quiet());
    worker.on("t", [] {});
    ASSERT_TRUE(worker.start());
    EXPECT_EQ(client_.wait(before, kLong)->state, TaskState::succeeded);
    worker.stop();
    EXPECT_TRUE(client_.submit({.type = "t"}));
  }
}

TEST_F(WorkerTest, run_ends_when_it_is_asked_to_also_by_a_handler) {
  Worker worker(url_, quiet());
  worker.on("last", [&] { worker.request_stop(); });
  ASSERT_TRUE(client_.submit({.type = "last"}));
  EXPECT_EQ(worker.run(), 0);
}

TEST_F(WorkerTest, what_its_functions_have_captured_goes_with_the_stop) {
  auto captured = std::make_shared<int>();
  const std::weak_ptr<int> watched = captured;
  Worker worker(url_, quiet());
  worker.on("sync", [captured] {});
  worker.on("async", [captured]() -> asio::awaitable<void> { co_return; });
  captured.reset();
  ASSERT_TRUE(worker.start());
  EXPECT_EQ(ran(client_, {.type = "sync"}).state, TaskState::succeeded);
  EXPECT_EQ(ran(client_, {.type = "async"}).state, TaskState::succeeded);
  worker.stop();
  EXPECT_TRUE(watched.expired());
}

TEST_F(WorkerTest, mistakes_are_told_by_start_and_not_by_a_throw) {
  const auto message = [&](Worker::Options options, auto set_up) {
    Worker worker(url_, quiet(std::move(options)));
    set_up(worker);
    const auto started = worker.start();
    return started ? std::string("started") : started.error().text();
  };
  const auto fine = [](Worker& worker) { worker.on("t", [] {}); };
  EXPECT_EQ(message({}, [](Worker&) {}),
            "start worker: it has no handler: call on() for each type of task");
  EXPECT_EQ(message({}, [](Worker& worker) { worker.on("t", [] {}).on("t", [] {}); }),
            "start worker: type \"t\" has two handlers");
  EXPECT_EQ(message({.queues = {{"a"}, {"a"}}}, fine), "start worker: queue \"a\" comes twice");
  EXPECT_EQ(message({.queues = {}}, fine),
            "start worker: it has no queue, so it would never run a task");
  EXPECT_EQ(message({.queues = {{"a", -1}}}, fine),
            "start worker: concurrency of queue \"a\" is negative");
  EXPECT_EQ(message({.threads = -1}, fine), "start worker: threads is negative");
  EXPECT_EQ(message({.stop_grace = -1s}, fine), "start worker: stop_grace is negative");
  const auto with = [](HandlerOptions options) {
    return [options](Worker& worker) { worker.on("t", [] {}, options); };
  };
  EXPECT_EQ(message({}, with({.attempts = 0})),
            "start worker: type \"t\": attempts is 0: at least 1");
  EXPECT_EQ(message({}, with({.crashes = -1})),
            "start worker: type \"t\": crashes is -1: at least 1");
  EXPECT_EQ(message({}, with({.replays = -1})),
            "start worker: type \"t\": replays is negative: zero is none at all");
  EXPECT_EQ(message({}, with({.timeout = -1s})),
            "start worker: type \"t\": timeout is negative: zero is none at all");
  EXPECT_EQ(message({}, with({.attempts = 1, .crashes = 1, .replays = 0, .timeout = 0s})),
            "started");
  EXPECT_EQ(message({}, fine), "started");
}

TEST_F(WorkerTest, a_store_has_one_worker_at_a_time) {
  Worker first(url_, quiet());
  first.on("t", [] {});
  ASSERT_TRUE(first.start());
  EXPECT_EQ(first.start().error().code, ErrorCode::conflict);
  Worker second(url_, quiet());
  second.on("t", [] {});
  EXPECT_EQ(second.start().error().code, ErrorCode::conflict);
  EXPECT_EQ(second.run(), 1);
}

TEST(Worker, run_says_in_the_log_why_it_cannot_start) {
  testing::LogCapture log;
  Worker worker("tasks.db", {.log = Logger(log)});
  worker.on("t", [] {});
  EXPECT_EQ(worker.run(), 1);
  ASSERT_EQ(log.entries().size(), 1U);
  EXPECT_EQ(log.entries()[0].event, "worker.refused");
}

TEST(Worker, says_in_the_log_which_store_it_works_on) {
  testing::LogCapture log;
  const std::string url = node::testing::memory_url();
  Worker worker(url, {.log = Logger(log)});
  worker.on("t", [] {});
  ASSERT_TRUE(worker.start());
  ASSERT_EQ(log.of("engine.start").size(), 1U);
  EXPECT_EQ(log.of("engine.start")[0].fields.at("store"), url);
}

TEST(Worker, works_on_a_file) {
  const testing::TemporaryFolder folder;
  const std::string url = "sqlite:" + (folder / "tasks.db");
  TaskId id;
  {
    Client client(url);
    Worker worker(url, quiet());
    worker.on("t", [](Job& job) { return job.payload(); });
    ASSERT_TRUE(worker.start());
    id = ran(client, {.type = "t", .payload = "kept"}).id;
  }
  EXPECT_EQ(Client(url).find(id)->result, "kept");
}

}  // namespace
}  // namespace holdfast::worker_threads_test
