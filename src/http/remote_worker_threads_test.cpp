// <holdfast/worker.hpp> against a real server.
#include <atomic>
#include <latch>
#include <thread>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/client.hpp>
#include <holdfast/worker_asio.hpp>

#include "http/remote_testing.hpp"

namespace holdfast::http::remote_worker_threads_test {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr Duration kLong = 60s;

Worker::Options quiet(Worker::Options options = {}) {
  options.log = {};
  if (options.threads == 0) options.threads = 2;
  return options;
}

TEST(RemoteWorker, runs_what_is_handed_in) {  // N11
  testing::TestApi api;
  Worker worker(api.url(), quiet());
  worker.on("greet", [](Job& job) { return "hello " + job.payload(); });
  worker.on("nap", [](Job& job) -> boost::asio::awaitable<std::string> {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, 1ms);
    co_await timer.async_wait(boost::asio::use_awaitable);
    co_return "rested, " + job.payload();
  });
  const auto started = worker.start();
  ASSERT_TRUE(started) << started.error().text();
  Client client(api.url());
  std::vector<Submission> many(50, Submission{.type = "greet", .payload = "ann"});
  many[7].type = "nap";
  const auto ids = client.submit(many);
  ASSERT_TRUE(ids);
  for (std::size_t at = 0; at < ids->size(); ++at) {
    const auto info = client.wait((*ids)[at].value(), kLong);
    ASSERT_TRUE(info) << info.error().text();
    EXPECT_EQ(info->result, at == 7 ? "rested, ann" : "hello ann");
    EXPECT_THAT(info->history.at(0).owner, HasSubstr("away:"));
  }
  const auto stopped = worker.stop();
  EXPECT_FALSE(stopped.error);
  EXPECT_EQ(stopped.cut_short, 0U);
}

TEST(RemoteWorker, hands_the_trace_on) {
  const std::string trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  testing::TestApi api;
  Worker worker(api.url(), quiet());
  worker.on("t", [](Job& job) { return job.trace(); });
  ASSERT_TRUE(worker.start());
  Client client(api.url());
  const auto done = client.wait(client.submit({.type = "t", .trace = trace}).value(), kLong);
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_EQ(done->result, trace);
}

TEST(RemoteWorker, its_own_rules_decide_where_the_server_has_none) {  // C1, T1
  testing::TestApi api;
  Worker worker(api.url(), quiet());
  std::atomic<int> calls = 0;
  worker.on("flaky",
            [&] {
              ++calls;
              throw std::runtime_error("connection reset by peer");
            },
            {.attempts = 3, .wait = retry::fixed(1ms)});
  worker.on("hopeless", [] { throw Failure{.message = "no such user", .http_status = 404}; });
  worker.on("slow",
            [](Job& job) {
              while (!job.stop_token().stop_requested())
                std::this_thread::yield();
            },
            {.attempts = 1, .timeout = 10ms});
  ASSERT_TRUE(worker.start());
  Client client(api.url());
  const auto dead = client.wait(client.submit({.type = "flaky"}).value(), kLong);
  EXPECT_EQ(dead->state, TaskState::dead);
  EXPECT_EQ(dead->dead_reason, DeadReason::out_of_attempts);
  EXPECT_EQ(dead->attempts, 3);
  EXPECT_EQ(calls, 3);
  const auto failed = client.wait(client.submit({.type = "hopeless"}).value(), kLong);
  EXPECT_EQ(failed->state, TaskState::failed);
  EXPECT_EQ(failed->last_failure->http_status, 404);
  EXPECT_EQ(failed->last_failure->message, "[NON_RETRYABLE] no such user");
  const auto slow = client.wait(client.submit({.type = "slow"}).value(), kLong);
  EXPECT_EQ(slow->last_failure->message, "timed out after 10ms");
  EXPECT_EQ(slow->last_failure->kind, FailureKind::timeout);
  // What the task itself asks for counts more.
  const auto own = client.wait(client.submit({.type = "flaky", .attempts = 1}).value(), kLong);
  EXPECT_EQ(own->attempts, 1);
}

TEST(RemoteWorker, tells_its_handlers_who_has_handed_it_in) {
  testing::TestApi api;
  Worker worker(api.url(), quiet());
  worker.on("t", [](Job& job) { return job.trace(); });
  ASSERT_TRUE(worker.start());
  Client client(api.url());
  const std::string trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const auto info = client.wait(client.submit({.type = "t", .trace = trace}).value(), kLong);
  ASSERT_TRUE(info) << info.error().text();
  EXPECT_EQ(info->result, trace);
}

TEST(RemoteWorker, what_cannot_be_tried_again_before_its_deadline_is_dead) {  // T1
  testing::TestApi api;
  Worker worker(api.url(), quiet());
  worker.on("t", [] { throw std::runtime_error("connection reset by peer"); },
            {.attempts = 100, .wait = retry::fixed(2h)});
  ASSERT_TRUE(worker.start());
  Client client(api.url());
  const WallTime deadline = system_clock().wall_now() + 1h;
  const auto dead = client.wait(client.submit({.type = "t", .deadline = deadline}).value(), kLong);
  ASSERT_TRUE(dead) << dead.error().text();
  EXPECT_EQ(dead->dead_reason, DeadReason::deadline);
  EXPECT_EQ(dead->attempts, 1);
}

TEST(RemoteWorker, the_servers_rules_count_more_than_its_own) {
  node::Node::Work work;
  work.types.emplace_back(
      "t", engine::TypeOptions{.policy = {.attempts = 2, .wait = retry::fixed(1ms)}});
  testing::TestApi api({}, 0, testing::TestApi::next_name(), std::move(work));
  Worker worker(api.url(), quiet());
  worker.on("t", [] { throw std::runtime_error("no"); },
            {.attempts = 10, .wait = retry::fixed(1h)});
  ASSERT_TRUE(worker.start());
  Client client(api.url());
  const auto dead = client.wait(client.submit({.type = "t"}).value(), kLong);
  ASSERT_TRUE(dead) << dead.error().text();
  EXPECT_EQ(dead->attempts, 2);
}

TEST(RemoteWorker, T3_hands_back_what_has_not_ended) {
  testing::TestApi api;
  std::latch begun(1);
  Worker worker(api.url(), quiet({.grace = 0s}));
  worker.on("t", [&](Job& job) {
    begun.count_down();
    while (!job.stop_token().stop_requested())
      std::this_thread::yield();
  });
  ASSERT_TRUE(worker.start());
  Client client(api.url());
  const TaskId id = client.submit({.type = "t"}).value();
  begun.wait();
  const auto stopped = worker.stop();
  EXPECT_EQ(stopped.handed_back, 1U);
  EXPECT_EQ(stopped.cut_short, 1U);
  EXPECT_FALSE(stopped.error);
  const auto info = client.find(id);
  EXPECT_EQ(info->state, TaskState::pending);
  EXPECT_EQ(info->attempts, 0);
  EXPECT_EQ(info->crashes, 0);
}

TEST(RemoteWorker, a_canceled_task_is_stopped) {
  testing::TestApi api;
  std::latch begun(1);
  std::latch stopped(1);
  Worker worker(api.url(), quiet({.lease = 300ms}));
  worker.on("t", [&](Job& job) {
    begun.count_down();
    while (!job.stop_token().stop_requested())
      std::this_thread::yield();
    stopped.count_down();
  });
  ASSERT_TRUE(worker.start());
  Client client(api.url());
  const TaskId id = client.submit({.type = "t"}).value();
  begun.wait();
  EXPECT_TRUE(client.cancel(id));
  stopped.wait();
  EXPECT_EQ(client.find(id)->state, TaskState::canceled);
}

TEST(RemoteWorker, T10_goes_on_when_its_server_is_back) {
  const std::string name = testing::TestApi::next_name();
  const auto kept = node::open("memory:" + name, {}).value();  // what the server keeps on its disk
  auto api = std::make_unique<testing::TestApi>(Tokens(), 0, name);
  const std::uint16_t port = api->port();
  const std::string url = api->url();
  std::latch begun(1);
  std::latch go_on(1);
  Worker worker(url, quiet({.lease = 30s}));
  worker.on("t", [&](Job& job) {
    if (job.payload() == "first") {
      begun.count_down();
      go_on.wait();
    }
    return job.payload();
  });
  ASSERT_TRUE(worker.start());
  Client client(url);
  const TaskId first = client.submit({.type = "t", .payload = "first"}).value();
  begun.wait();
  api.reset();
  go_on.count_down();  // it ends while nobody can be told
  api = std::make_unique<testing::TestApi>(Tokens(), port, name);
  const auto done = client.wait(first, kLong);
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_EQ(done->result, "first");
  EXPECT_EQ(done->history.size(), 1U);
  const auto second = client.wait(client.submit({.type = "t", .payload = "2"}).value(), kLong);
  EXPECT_EQ(second->result, "2");
  EXPECT_FALSE(worker.stop().error);
}

TEST(RemoteWorker, says_at_once_that_its_token_does_not_suffice) {
  testing::TestApi api(testing::token("planted", Role::submit));
  for (const char* token : {"", "wrong", "planted"}) {
    Worker worker(api.url(), quiet({.token = token}));
    worker.on("t", [] {});
    const auto started = worker.start();
    ASSERT_FALSE(started);
    EXPECT_THAT(started.error().text(), HasSubstr("token"));
    EXPECT_THAT(started.error().text(), ::testing::Not(HasSubstr("planted")));
  }
  testing::TestApi other(testing::token("right", Role::work));
  Worker worker(other.url(), quiet({.token = "right"}));
  worker.on("t", [] {});
  EXPECT_TRUE(worker.start());
}

}  // namespace
}  // namespace holdfast::http::remote_worker_threads_test
