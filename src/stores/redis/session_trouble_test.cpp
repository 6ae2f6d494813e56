#include <array>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/testing.hpp>

#include "stores/redis/session.hpp"
#include "stores/redis/session_testing.hpp"
#include "support/scripted_redis.hpp"

// A session with a server in trouble, as the test tells it to be.
namespace holdfast::stores::redis::session_trouble_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::FakeClock;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::LogCapture;
using testing::ScriptedRedis;
using ::testing::SizeIs;

class RedisTrouble : public ::testing::Test {
 protected:
  SessionOptions options() {
    SessionOptions options = options_for(server_.url());
    options.log = Logger(log_, clock_);
    return options;
  }

  ScriptedRedis server_;
  LogCapture log_;
  FakeClock clock_;
};

struct Passing {
  const char* says;
  int connections;  // in all
};

class RedisPassingTrouble : public RedisTrouble, public ::testing::WithParamInterface<Passing> {};

// T10: what passes is waited for; only what was not carried out is sent again.
TEST_P(RedisPassingTrouble, is_waited_for) {
  server_.next("B", std::string("-") + GetParam().says + "\r\n");
  Session session(options(), clock_);
  EXPECT_THAT(texts_of(session.run(commands({{"A"}, {"B"}, {"C"}}))),
              ElementsAre("OK", "OK", "OK"));
  EXPECT_THAT(server_.seen(), ElementsAre("A", "B", "C", "B"));
  EXPECT_THAT(clock_.slept(), SizeIs(1));
  EXPECT_EQ(server_.connections(), GetParam().connections);
  ASSERT_THAT(log_.of("store.retry"), SizeIs(1));
  EXPECT_THAT(log_.of("store.retry")[0].fields.at("error"), HasSubstr(GetParam().says));
  EXPECT_THAT(log_.of("store.recovered"), SizeIs(1));
}

TEST_P(RedisPassingTrouble, that_does_not_pass_is_unavailable) {
  server_.always("B", std::string("-") + GetParam().says + "\r\n");
  Session session(options(), clock_);
  const auto answers = session.run(commands({{"A"}, {"B"}, {"C"}}));
  EXPECT_TRUE(answers[0]);
  ASSERT_FALSE(answers[1]);
  EXPECT_EQ(answers[1].error().code, ErrorCode::unavailable);
  EXPECT_THAT(answers[1].error().message, HasSubstr(GetParam().says));
  EXPECT_THAT(answers[1].error().message, HasSubstr("("));  // what to do
  EXPECT_TRUE(answers[2]);
  EXPECT_THAT(server_.seen("B"), SizeIs(4));
  EXPECT_THAT(server_.seen("C"), SizeIs(1));
  EXPECT_THAT(log_.of("store.gave_up"), SizeIs(1));
}

INSTANTIATE_TEST_SUITE_P(
    All, RedisPassingTrouble,
    ::testing::Values(Passing{"LOADING Redis is loading the dataset in memory", 1},
                      Passing{"BUSY Redis is busy running a script.", 1},
                      Passing{"TRYAGAIN Multiple keys request during rehashing of slot", 1},
                      Passing{"ASK 3999 127.0.0.1:6381", 1},
                      Passing{"CLUSTERDOWN The cluster is down", 1},
                      Passing{"NOREPLICAS Not enough good replicas to write.", 1},
                      Passing{"READONLY You can't write against a read only replica.", 2},
                      Passing{"MASTERDOWN Link with MASTER is down", 2}));

TEST_F(RedisTrouble, no_room_is_said_at_once) {
  server_.next("A", "-OOM command not allowed when used memory > 'maxmemory'.\r\n");
  server_.next("B", "-MISCONF Redis is configured to save RDB snapshots, but it cannot.\r\n");
  Session session(options(), clock_);
  const auto answers = session.run(commands({{"A"}, {"B"}, {"C"}}));
  EXPECT_EQ(answers[0].error().code, ErrorCode::exhausted);
  EXPECT_EQ(answers[1].error().code, ErrorCode::exhausted);
  EXPECT_TRUE(answers[2]);
  EXPECT_THAT(clock_.slept(), IsEmpty());
}

TEST_F(RedisTrouble, scripts_that_were_forgotten_are_loaded_and_only_those_calls_sent_again) {
  const Script script("one", "return 1");
  const std::array<const Script*, 1> scripts = {&script};
  server_.next("B", "-NOSCRIPT No matching script. Please use EVAL.\r\n");
  server_.next("D", "-NOSCRIPT No matching script. Please use EVAL.\r\n");
  SessionOptions with_scripts = options();
  with_scripts.scripts = scripts;
  Session session(with_scripts, clock_);
  EXPECT_THAT(texts_of(session.run(commands({{"A"}, {"B"}, {"C"}, {"D"}}))),
              ElementsAre("OK", "OK", "OK", "OK"));
  EXPECT_THAT(server_.seen(), ElementsAre("SCRIPT LOAD return 1", "A", "B", "C", "D",
                                          "SCRIPT LOAD return 1", "B", "D"));
  EXPECT_THAT(clock_.slept(), IsEmpty());
}

TEST_F(RedisTrouble, a_server_that_never_keeps_scripts_is_given_up) {
  server_.always("B", "-NOSCRIPT No matching script. Please use EVAL.\r\n");
  Session session(options(), clock_);
  const auto answers = session.run(commands({{"B"}}));
  ASSERT_FALSE(answers[0]);
  EXPECT_EQ(answers[0].error().code, ErrorCode::unavailable);
  EXPECT_THAT(clock_.slept(), SizeIs(3));
}

TEST_F(RedisTrouble, a_slot_that_has_moved_is_followed_at_once) {
  ScriptedRedis other;
  server_.next("B", "-MOVED 3999 " + other.place() + "\r\n");
  Session session(options(), clock_);
  EXPECT_THAT(texts_of(session.run(commands({{"A"}, {"B"}, {"C"}}))),
              ElementsAre("OK", "OK", "OK"));
  EXPECT_THAT(server_.seen(), ElementsAre("A", "B", "C"));
  EXPECT_THAT(other.seen(), ElementsAre("B"));
  EXPECT_THAT(clock_.slept(), IsEmpty());
  // And it stays there, also over a new connection.
  other.hang_up();
  EXPECT_THAT(texts_of(session.run(commands({{"D"}}))), ElementsAre("OK"));
  EXPECT_THAT(other.seen("D"), SizeIs(1));
  EXPECT_THAT(server_.seen("D"), IsEmpty());
}

TEST_F(RedisTrouble, a_node_without_a_name_is_on_the_host_that_says_so) {
  ScriptedRedis other;
  server_.next("B", "-MOVED 3999 :" + std::to_string(other.port()) + "\r\n");
  Session session(options(), clock_);
  EXPECT_THAT(texts_of(session.run(commands({{"B"}}))), ElementsAre("OK"));
  EXPECT_THAT(other.seen(), ElementsAre("B"));
}

TEST_F(RedisTrouble, a_node_that_is_not_there_leads_back_to_the_address) {
  server_.next("B", "-MOVED 3999 127.0.0.1:1\r\n");
  Session session(options(), clock_);
  EXPECT_THAT(texts_of(session.run(commands({{"B"}}))), ElementsAre("OK"));
  EXPECT_THAT(server_.seen(), ElementsAre("B", "B"));
  EXPECT_THAT(clock_.slept(), SizeIs(1));
}

TEST_F(RedisTrouble, nodes_that_send_us_round_in_circles_are_given_up) {
  server_.always("B", "-MOVED 3999 " + server_.place() + "\r\n");
  Session session(options(), clock_);
  const auto answers = session.run(commands({{"B"}}));
  ASSERT_FALSE(answers[0]);
  EXPECT_EQ(answers[0].error().code, ErrorCode::unavailable);
  EXPECT_THAT(clock_.slept(), SizeIs(3));
}

// A server ends so with what it takes for no protocol at all, before it has read it to its end.
TEST_F(RedisTrouble, an_answer_before_the_question_is_out_is_the_last) {
  const std::string large(std::size_t{64} << 20U, 'x');
  ScriptedRedis::Reply refusal =
      ScriptedRedis::hanging_up_after("-ERR Protocol error: invalid bulk length\r\n");
  server_.at_once(refusal);
  Session session(options(), clock_);
  const auto answers = session.run(commands({{"A", large}}));
  ASSERT_FALSE(answers[0]);
  EXPECT_THAT(answers[0].error().message, HasSubstr("Protocol error"));
}

TEST_F(RedisTrouble, half_an_answer_counts_as_none) {
  server_.next("B", ScriptedRedis::hanging_up_after("$10\r\nhal"));
  Session session(options(), clock_);
  EXPECT_THAT(texts_of(session.run(commands({{"A"}, {"B"}, {"C"}}))),
              ElementsAre("OK", "OK", "OK"));
  EXPECT_THAT(server_.seen("A"), SizeIs(1));  // it was answered
  EXPECT_THAT(server_.seen("B"), SizeIs(2));
  EXPECT_EQ(server_.connections(), 2);
}

// T6
TEST_F(RedisTrouble, a_silent_server_is_left_for_a_new_connection) {
  server_.next("A", ScriptedRedis::silent());
  SessionOptions hasty = options();
  hasty.answer_timeout = 1s;
  Session session(hasty, clock_);
  EXPECT_THAT(texts_of(session.run(commands({{"A"}}))), ElementsAre("OK"));
  EXPECT_EQ(server_.connections(), 2);
  EXPECT_THAT(log_.of("store.retry")[0].fields.at("error"), HasSubstr("silent for 1000 ms"));
}

// T8: a network that comes back late must not bring what was sent again meanwhile.
TEST_F(RedisTrouble, what_was_not_answered_is_broken_off_before_it_is_sent_again) {
  server_.next("A", ScriptedRedis::silent());
  int resets_before_the_second = -1;
  server_.next("A", [&](const ScriptedRedis::Words&) {
    const SteadyTime give_up_at = system_clock().now() + 30s;
    while (server_.resets() == 0 && system_clock().now() < give_up_at)
      system_clock().sleep_for(1ms);
    resets_before_the_second = server_.resets();
    return ScriptedRedis::Act{.says = "+OK\r\n"};
  });
  SessionOptions hasty = options();
  hasty.answer_timeout = 1s;
  Session session(hasty, clock_);
  EXPECT_THAT(texts_of(session.run(commands({{"A"}}))), ElementsAre("OK"));
  EXPECT_EQ(resets_before_the_second, 1);
}

TEST_F(RedisTrouble, an_answer_that_keeps_coming_may_take_longer_than_a_silence) {
  // Longer than the limit in all, far shorter between any two pieces. Each is what the server says
  // to one more command; the answers to those come with the last.
  server_.next("A", "$3\r\n");
  for (const char* const piece : {"a", "b", "c", "\r\n+1\r\n+2\r\n+3\r\n+4\r\n"}) {
    server_.next("NEXT", [piece](const ScriptedRedis::Words&) {
      system_clock().sleep_for(600ms);
      return ScriptedRedis::Act{.says = piece};
    });
  }
  SessionOptions hasty = options();
  hasty.answer_timeout = 2s;
  Session session(hasty, clock_);
  const auto answers = session.run(commands({{"A"}, {"NEXT"}, {"NEXT"}, {"NEXT"}, {"NEXT"}}));
  EXPECT_THAT(texts_of(answers), ElementsAre("abc", "1", "2", "3", "4"));
  EXPECT_THAT(clock_.slept(), IsEmpty());
}

TEST_F(RedisTrouble, whoever_does_not_speak_as_redis_does_is_named) {
  server_.always("A", "HTTP/1.1 400 Bad Request\r\n\r\n");
  Session session(options(), clock_);
  const auto answers = session.run(commands({{"A"}}));
  ASSERT_FALSE(answers[0]);
  EXPECT_EQ(answers[0].error().code, ErrorCode::unavailable);
  EXPECT_THAT(answers[0].error().message, HasSubstr("does not speak as Redis does"));
}

// Else what it says next would be taken for the answer to something else.
TEST_F(RedisTrouble, whoever_says_more_than_he_was_asked_is_left) {
  server_.next("A", "+OK\r\n+and more\r\n");
  Session session(options(), clock_);
  EXPECT_THAT(texts_of(session.run(commands({{"A"}}))), ElementsAre("OK"));
  EXPECT_THAT(texts_of(session.run(commands({{"B"}}))), ElementsAre("OK"));
  EXPECT_EQ(server_.connections(), 2);
}

// It says so unasked, and hangs up.
TEST_F(RedisTrouble, too_many_clients_is_waited_for) {
  server_.next("A", ScriptedRedis::hanging_up_after("-ERR max number of clients reached\r\n"));
  Session session(options(), clock_);
  EXPECT_THAT(texts_of(session.run(commands({{"A"}}))), ElementsAre("OK"));
  EXPECT_THAT(log_.of("store.retry")[0].fields.at("error"), HasSubstr("maxclients"));
}

// T6: health checks.
TEST_F(RedisTrouble, an_idle_connection_is_tried_before_it_is_used) {
  Session session(options(), clock_);
  (void)session.run(commands({{"A"}}));
  clock_.advance(9s);
  (void)session.run(commands({{"A"}}));
  EXPECT_THAT(server_.seen("PING"), IsEmpty());
  clock_.advance(10s);
  EXPECT_THAT(texts_of(session.run(commands({{"A"}}))), ElementsAre("OK"));
  EXPECT_THAT(server_.seen("PING"), SizeIs(1));
  EXPECT_EQ(server_.connections(), 1);
}

TEST_F(RedisTrouble, an_idle_connection_that_is_dead_is_replaced_without_a_retry) {
  Session session(options(), clock_);
  (void)session.run(commands({{"A"}}));
  server_.next("PING", ScriptedRedis::hanging_up_after(""));
  clock_.advance(10s);
  EXPECT_THAT(texts_of(session.run(commands({{"A"}}))), ElementsAre("OK"));
  EXPECT_EQ(server_.connections(), 2);
  EXPECT_THAT(clock_.slept(), IsEmpty());
  EXPECT_THAT(log_.entries(), IsEmpty());
}

TEST_F(RedisTrouble, a_server_that_loads_is_waited_for_with_the_greeting_too) {
  server_.next("SELECT", "-LOADING Redis is loading the dataset in memory\r\n");
  SessionOptions with_database = options();
  with_database.address.database = 2;
  Session session(with_database, clock_);
  EXPECT_THAT(texts_of(session.run(commands({{"A"}}))), ElementsAre("OK"));
  EXPECT_THAT(clock_.slept(), SizeIs(1));
}

TEST_F(RedisTrouble, a_name_that_it_does_not_take_is_no_reason_to_stay_away) {
  server_.next("CLIENT", "-NOPERM this user has no permissions to run the 'client' command\r\n");
  SessionOptions named = options();
  named.name = "somebody";
  Session session(named, clock_);
  EXPECT_THAT(texts_of(session.run(commands({{"A"}}))), ElementsAre("OK"));
}

TEST_F(RedisTrouble, after_stop_there_is_nothing_but_unavailable) {
  Session session(options(), clock_);
  (void)session.run(commands({{"A"}}));
  session.stop();
  const auto answers = session.run(commands({{"A"}}));
  ASSERT_FALSE(answers[0]);
  EXPECT_EQ(answers[0].error().code, ErrorCode::unavailable);
  EXPECT_THAT(server_.seen("A"), SizeIs(1));
  EXPECT_THAT(log_.entries(), IsEmpty());
}

}  // namespace
}  // namespace holdfast::stores::redis::session_trouble_test
