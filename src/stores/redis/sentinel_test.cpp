#include "stores/redis/sentinel.hpp"

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/testing.hpp>

#include "stores/redis/session_testing.hpp"
#include "support/redis_server.hpp"
#include "support/scripted_redis.hpp"

namespace holdfast::stores::redis::sentinel_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::FakeClock;
using ::testing::HasSubstr;
using testing::RedisServer;
using testing::ScriptedRedis;
using ::testing::SizeIs;

std::string bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

// As a sentinel says it.
std::string is_at(const ScriptedRedis& server) {
  return "*2\r\n" + bulk("127.0.0.1") + bulk(std::to_string(server.port()));
}

const std::string kMaster = "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n";
const std::string kReplica = "*1\r\n$5\r\nslave\r\n";

class RedisSentinel : public ::testing::Test {
 protected:
  RedisSentinel() {
    master_.always("ROLE", kMaster);
    other_.always("ROLE", kMaster);
  }
  std::string url(const std::string& login = "") const {
    return "redis+sentinel://" + login + first_.place() + "," + second_.place() + "/main";
  }

  ScriptedRedis first_;
  ScriptedRedis second_;
  ScriptedRedis master_;
  ScriptedRedis other_;
  FakeClock clock_;
};

TEST_F(RedisSentinel, says_where_the_master_is) {
  first_.always("SENTINEL", is_at(master_));
  Session session(options_for(url()), clock_);
  EXPECT_THAT(texts_of(session.run(commands({{"A"}}))), ElementsAre("OK"));
  EXPECT_THAT(first_.seen("SENTINEL"), ElementsAre("SENTINEL GET-MASTER-ADDR-BY-NAME main"));
  EXPECT_THAT(second_.seen(), SizeIs(0));
  EXPECT_THAT(master_.seen("A"), SizeIs(1));
}

TEST_F(RedisSentinel, that_does_not_know_is_passed_over_and_asked_last_from_then_on) {
  first_.always("SENTINEL", "*-1\r\n");
  second_.always("SENTINEL", is_at(master_));
  Session session(options_for(url()), clock_);
  EXPECT_THAT(texts_of(session.run(commands({{"A"}}))), ElementsAre("OK"));
  master_.hang_up();
  EXPECT_THAT(texts_of(session.run(commands({{"A"}}))), ElementsAre("OK"));
  EXPECT_THAT(first_.seen("SENTINEL"), SizeIs(1));
  EXPECT_THAT(second_.seen("SENTINEL"), SizeIs(2));
}

TEST_F(RedisSentinel, that_is_silent_is_passed_over) {
  first_.always("SENTINEL", ScriptedRedis::silent());
  second_.always("SENTINEL", is_at(master_));
  SessionOptions options = options_for(url());
  options.answer_timeout = 100ms;
  Session session(options, clock_);
  EXPECT_THAT(texts_of(session.run(commands({{"A"}}))), ElementsAre("OK"));
}

TEST_F(RedisSentinel, is_asked_again_when_the_connection_is_lost_and_when_it_is_a_replica) {
  first_.next("SENTINEL", is_at(master_));
  first_.next("SENTINEL", is_at(other_));
  first_.next("SENTINEL", is_at(master_));
  Session session(options_for(url()), clock_);
  (void)session.run(commands({{"A"}}));
  master_.hang_up();
  EXPECT_THAT(texts_of(session.run(commands({{"B"}}))), ElementsAre("OK"));
  EXPECT_THAT(other_.seen("B"), SizeIs(1));
  other_.next("C", "-READONLY You can't write against a read only replica.\r\n");
  EXPECT_THAT(texts_of(session.run(commands({{"C"}}))), ElementsAre("OK"));
  EXPECT_THAT(master_.seen("C"), SizeIs(1));
}

// For a moment after a failover the sentinels may name one that is none yet, or no more.
TEST_F(RedisSentinel, is_not_believed_before_the_master_says_so_too) {
  first_.always("SENTINEL", is_at(master_));
  master_.next("ROLE", kReplica);
  Session session(options_for(url()), clock_);
  EXPECT_THAT(texts_of(session.run(commands({{"A"}}))), ElementsAre("OK"));
  EXPECT_THAT(master_.seen("ROLE"), SizeIs(2));
  EXPECT_THAT(clock_.slept(), SizeIs(1));
}

TEST_F(RedisSentinel, nobody_who_knows_is_unavailable_and_told_for_each) {
  first_.always("SENTINEL", "*-1\r\n");
  second_.always("SENTINEL", "-ERR unknown command 'SENTINEL'\r\n");
  Session session(options_for(url()), clock_);
  const auto answers = session.run(commands({{"A"}}));
  ASSERT_FALSE(answers[0]);
  EXPECT_EQ(answers[0].error().code, ErrorCode::unavailable);
  EXPECT_THAT(answers[0].error().message, HasSubstr("'main'"));
  EXPECT_THAT(answers[0].error().message, HasSubstr("no master of that name"));
  EXPECT_THAT(answers[0].error().message, HasSubstr("unknown command 'SENTINEL'"));
}

TEST_F(RedisSentinel, gets_the_password_only_if_it_asks_for_one) {
  first_.next("SENTINEL", "-NOAUTH Authentication required.\r\n");
  first_.always("SENTINEL", is_at(master_));
  Session session(options_for(url("ann:pw@")), clock_);
  EXPECT_THAT(texts_of(session.run(commands({{"A"}}))), ElementsAre("OK"));
  EXPECT_THAT(first_.seen(),
              ElementsAre("SUBSCRIBE +switch-master", "SENTINEL GET-MASTER-ADDR-BY-NAME main",
                          "AUTH ann pw", "SENTINEL GET-MASTER-ADDR-BY-NAME main"));
  EXPECT_THAT(master_.seen("AUTH"), ElementsAre("AUTH ann pw"));
}

const std::string kSubscribed = "*3\r\n$9\r\nsubscribe\r\n$14\r\n+switch-master\r\n:1\r\n";

std::string switched(const std::string& name) {
  return "*3\r\n$7\r\nmessage\r\n$14\r\n+switch-master\r\n" + bulk(name + " 10.0.0.1 1 10.0.0.2 1");
}

// The old master may not know for seconds that it is none any more, and take what will be lost.
TEST_F(RedisSentinel, that_tells_of_another_master_is_heard_while_the_old_one_still_answers) {
  first_.next("SUBSCRIBE", kSubscribed + switched("other") + switched("main"));
  first_.next("SENTINEL", is_at(master_));
  first_.next("SENTINEL", is_at(other_));
  Session session(options_for(url()), clock_);
  EXPECT_THAT(texts_of(session.run(commands({{"A"}}))), ElementsAre("OK"));
  EXPECT_THAT(master_.seen("A"), SizeIs(1));
  clock_.advance(1s);
  EXPECT_THAT(texts_of(session.run(commands({{"B"}}))), ElementsAre("OK"));
  EXPECT_THAT(other_.seen("B"), SizeIs(1));
  EXPECT_THAT(master_.seen("B"), SizeIs(0));
  EXPECT_THAT(clock_.slept(), SizeIs(0));
}

TEST_F(RedisSentinel, that_tells_of_another_set_of_servers_changes_nothing) {
  first_.next("SUBSCRIBE", kSubscribed + switched("other"));
  first_.always("SENTINEL", is_at(master_));
  Session session(options_for(url()), clock_);
  (void)session.run(commands({{"A"}}));
  clock_.advance(1s);
  (void)session.run(commands({{"B"}}));
  EXPECT_EQ(master_.connections(), 1);
}

// What it would have told is asked of another, though not all the time.
TEST_F(RedisSentinel, that_is_lost_is_replaced_by_another) {
  first_.next("SUBSCRIBE", ScriptedRedis::hanging_up_after(kSubscribed));
  first_.next("SENTINEL", is_at(master_));
  first_.always("SENTINEL", is_at(other_));
  Session session(options_for(url()), clock_);
  (void)session.run(commands({{"A"}}));
  clock_.advance(1s);
  (void)session.run(commands({{"B"}}));
  EXPECT_THAT(master_.seen("B"), SizeIs(1));
  clock_.advance(30s);
  EXPECT_THAT(texts_of(session.run(commands({{"C"}}))), ElementsAre("OK"));
  EXPECT_THAT(other_.seen("C"), SizeIs(1));
}

bool comes_true(const std::function<bool()>& what) {
  const SteadyTime give_up_at = system_clock().now() + 60s;
  while (!what()) {
    if (system_clock().now() > give_up_at) return false;
    system_clock().sleep_for(20ms);
  }
  return true;
}

// T10: with real servers and a real failover.
TEST(RedisFailover, is_followed_and_costs_nothing_that_a_replica_has) {
  RedisServer first;
  RedisServer second({.settings = {"--replicaof", "127.0.0.1 " + std::to_string(first.port())}});
  ASSERT_TRUE(comes_true([&] { return second.info("master_link_status") == "up"; }));
  RedisServer sentinel(
      {.sentinel = {"sentinel monitor main 127.0.0.1 " + std::to_string(first.port()) + " 1",
                    "sentinel down-after-milliseconds main 60000",
                    "sentinel failover-timeout main 10000"}});
  ASSERT_TRUE(comes_true([&] {
    const auto replicas = sentinel.ask({"SENTINEL", "REPLICAS", "main"});
    return replicas.parts.size() == 1;
  }));
  Session session(
      options_for("redis+sentinel://127.0.0.1:" + std::to_string(sentinel.port()) + "/main"));
  int next = 0;
  std::vector<std::string> safe;  // what a replica has too; Redis promises nothing of the rest
  const auto write_one = [&] {
    const std::string number = std::to_string(next++);
    const auto answers = session.run(commands({{"SADD", "all", number}, {"WAIT", "1", "200"}}));
    if (answers[0] && answers[1] && answers[1]->view().integer() == 1) safe.push_back(number);
    return answers[0].has_value();
  };
  ASSERT_TRUE(comes_true([&] { return write_one() && safe.size() >= 20; }));
  ASSERT_TRUE(
      comes_true([&] { return sentinel.ask({"SENTINEL", "FAILOVER", "main"}).text == "OK"; }));
  // A sentinel ends all connections to a server that has got another role: ours, too, as we ask.
  ASSERT_TRUE(comes_true([&] {
    try {
      return write_one() && second.info("role") == "master" &&
             second.ask({"SISMEMBER", "all", std::to_string(next - 1)}).text == "1";
    } catch (const std::runtime_error&) {
      return false;
    }
  }));
  for (const std::string& number : safe)
    EXPECT_EQ(second.ask({"SISMEMBER", "all", number}).text, "1") << number;
}

}  // namespace
}  // namespace holdfast::stores::redis::sentinel_test
