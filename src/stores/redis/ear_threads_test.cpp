#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/testing.hpp>

#include "stores/redis/ear.hpp"
#include "stores/redis/session_testing.hpp"
#include "support/redis_server.hpp"
#include "support/scripted_redis.hpp"

namespace holdfast::stores::redis::ear_threads_test {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using testing::LogCapture;
using ::testing::Not;
using testing::RedisServer;
using testing::ScriptedRedis;

// What was told, as texts; "*" is any.
class Notes {
 public:
  ports::News::Told told() {
    return [this](const ports::News::One& one) {
      const std::lock_guard lock(mutex_);
      all_.push_back(one.any ? "*" : one.queue);
      changed_.notify_all();
    };
  }
  // Whether it is told so often in all, soon enough.
  bool has(const std::string& text, std::ptrdiff_t times = 1) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 60s, [&] { return std::ranges::count(all_, text) >= times; });
  }
  std::vector<std::string> all() {
    const std::lock_guard lock(mutex_);
    return all_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> all_;
};

bool comes_true(const std::function<bool()>& what) {
  const SteadyTime give_up_at = system_clock().now() + 60s;
  while (!what()) {
    if (system_clock().now() > give_up_at) return false;
    system_clock().sleep_for(5ms);
  }
  return true;
}

// Listeners of a channel, as a server counts them (N8).
std::string listeners(const RedisServer& server, const std::string& channel = "{hf}i1") {
  return server.ask({"PUBSUB", "NUMSUB", channel}).parts.at(1).text;
}

TEST(RedisEar, hears_each_queue_by_its_name) {
  const RedisServer server;
  Notes notes;
  Ear ear(options_for(server.url()), "{hf}i1");
  ear.listen(notes.told());
  ASSERT_TRUE(comes_true([&] { return listeners(server) == "1"; }));
  (void)server.ask({"PUBLISH", "{hf}i2", "not ours"});
  (void)server.ask({"PUBLISH", "{hf}i1", "mail"});
  (void)server.ask({"PUBLISH", "{hf}i1", "bills"});
  EXPECT_TRUE(notes.has("mail"));
  EXPECT_TRUE(notes.has("bills"));
  EXPECT_THAT(notes.all(), Not(Contains("not ours")));
}

// N8: that somebody listens is how others know that a process is alive.
TEST(RedisEar, listens_from_the_start_and_until_its_end) {
  const RedisServer server;
  {
    const Ear ear(options_for(server.url()), "{hf}i1");
    EXPECT_TRUE(comes_true([&] { return listeners(server) == "1"; }));
  }
  EXPECT_TRUE(comes_true([&] { return listeners(server) == "0"; }));
}

// What was published before there was a subscription was heard by nobody.
TEST(RedisEar, tells_of_all_with_every_subscription) {
  const RedisServer server;
  LogCapture log;
  Notes notes;
  SessionOptions options = options_for(server.url());
  options.log = Logger(log);
  Ear ear(options, "{hf}i1");
  ear.listen(notes.told());
  ASSERT_TRUE(comes_true([&] { return listeners(server) == "1"; }));
  const auto before = std::ranges::count(notes.all(), "*");
  (void)server.ask({"CLIENT", "KILL", "TYPE", "pubsub"});
  EXPECT_TRUE(notes.has("*", before + 1));
  (void)server.ask({"PUBLISH", "{hf}i1", "mail"});
  EXPECT_TRUE(notes.has("mail"));
}

// T10
TEST(RedisEar, comes_back_with_the_server) {
  RedisServer server;
  Notes notes;
  Ear ear(options_for(server.url()), "{hf}i1");
  ear.listen(notes.told());
  ASSERT_TRUE(comes_true([&] { return listeners(server) == "1"; }));
  const auto before = std::ranges::count(notes.all(), "*");
  server.kill();
  server.start();
  EXPECT_TRUE(notes.has("*", before + 1));
  EXPECT_EQ(listeners(server), "1");
}

TEST(RedisEar, notices_a_peer_that_is_dead_but_still_connected) {
  ScriptedRedis server;
  Notes notes;
  server.always("SUBSCRIBE", "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n");
  server.next("PING", "*2\r\n$4\r\npong\r\n$0\r\n\r\n");
  server.next("PING", ScriptedRedis::silent());
  SessionOptions options = options_for(server.url());
  options.check_after = 20ms;
  options.answer_timeout = 200ms;
  Ear ear(options, "c");
  ear.listen(notes.told());
  EXPECT_TRUE(comes_true([&] { return server.seen("SUBSCRIBE").size() >= 2; }));
  EXPECT_GE(server.seen("PING").size(), 2U);
}

// Those who wonder whether we are alive ask the node that has the store's slot.
TEST(RedisEar, listens_on_the_node_that_has_the_slot) {
  const RedisServer owner({.cluster = true});
  const RedisServer other({.cluster = true, .all_slots = false});
  other.meet(owner);
  Notes notes;
  SessionOptions options = options_for(other.url());
  options.check_after = 50ms;
  Ear ear(options, "{hf}i1");
  ear.listen(notes.told());
  ASSERT_TRUE(comes_true([&] { return listeners(owner) == "1"; }));
  (void)owner.ask({"PUBLISH", "{hf}i1", "mail"});
  EXPECT_TRUE(notes.has("mail"));
  // The slot moves: to the other node, as an administrator does it.
  const std::string slot = owner.ask({"CLUSTER", "KEYSLOT", "{hf}i1"}).text;
  const std::string id = other.ask({"CLUSTER", "MYID"}).text;
  (void)other.ask({"CLUSTER", "SETSLOT", slot, "NODE", id});
  (void)owner.ask({"CLUSTER", "SETSLOT", slot, "NODE", id});
  EXPECT_TRUE(comes_true([&] { return listeners(other) == "1" && listeners(owner) == "0"; }));
  (void)other.ask({"PUBLISH", "{hf}i1", "bills"});
  EXPECT_TRUE(notes.has("bills"));
}

TEST(RedisEar, tells_nobody_once_it_is_told_not_to) {
  const RedisServer server;
  Notes notes;
  std::atomic<bool> in_call = false;
  std::atomic<bool> may_return = false;
  Ear ear(options_for(server.url()), "{hf}i1");
  ASSERT_TRUE(comes_true([&] { return listeners(server) == "1"; }));
  ear.listen([&](const ports::News::One&) {
    in_call = true;
    (void)comes_true([&] { return may_return.load(); });
    in_call = false;
  });
  (void)server.ask({"PUBLISH", "{hf}i1", "mail"});
  ASSERT_TRUE(comes_true([&] { return in_call.load(); }));
  std::atomic<bool> ended = false;
  std::thread ending([&] {
    ear.listen({});
    EXPECT_FALSE(in_call);
    ended = true;
  });
  EXPECT_FALSE(ended);
  may_return = true;
  ending.join();
  (void)server.ask({"PUBLISH", "{hf}i1", "mail"});
  ear.listen(notes.told());
  (void)server.ask({"PUBLISH", "{hf}i1", "bills"});
  EXPECT_TRUE(notes.has("bills"));
}

TEST(RedisEar, may_be_told_to_be_quiet_by_the_one_who_is_told) {
  const RedisServer server;
  std::atomic<int> calls = 0;
  Ear ear(options_for(server.url()), "{hf}i1");
  ASSERT_TRUE(comes_true([&] { return listeners(server) == "1"; }));
  ear.listen([&](const ports::News::One& one) {
    if (one.any) return;
    ++calls;
    ear.listen({});
  });
  (void)server.ask({"PUBLISH", "{hf}i1", "mail"});
  ASSERT_TRUE(comes_true([&] { return calls == 1; }));
  Notes notes;
  (void)server.ask({"PUBLISH", "{hf}i1", "mail"});
  ear.listen(notes.told());
  (void)server.ask({"PUBLISH", "{hf}i1", "bills"});
  EXPECT_TRUE(notes.has("bills"));
  EXPECT_EQ(calls, 1);
}

// Wherever it is: nobody there, nobody answering, waiting for news.
TEST(RedisEar, ends_at_once) {
  ScriptedRedis silent;
  silent.always("EXISTS", ScriptedRedis::silent());
  const RedisServer server;
  for (const std::string& url : {std::string("redis://127.0.0.1:1"), silent.url(), server.url()}) {
    SessionOptions options = options_for(url);
    options.answer_timeout = 1h;
    const SteadyTime begun = system_clock().now();
    {
      const Ear ear(options, "{hf}i1");
      if (url == server.url()) ASSERT_TRUE(comes_true([&] { return listeners(server) == "1"; }));
      if (url == silent.url()) ASSERT_TRUE(comes_true([&] { return !silent.seen().empty(); }));
    }
    EXPECT_LT(system_clock().now() - begun, 30s) << url;
  }
}

}  // namespace
}  // namespace holdfast::stores::redis::ear_threads_test
