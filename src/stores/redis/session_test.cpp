#include "stores/redis/session.hpp"

#include <array>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/testing.hpp>

#include "stores/redis/session_testing.hpp"
#include "support/cutting_proxy.hpp"
#include "support/redis_server.hpp"

// A session with a real server.
namespace holdfast::stores::redis::session_test {
namespace {

using namespace std::chrono_literals;
using namespace std::string_view_literals;
using testing::CuttingProxy;
using ::testing::ElementsAre;
using testing::FakeClock;
using ::testing::HasSubstr;
using testing::LogCapture;
using ::testing::Not;
using testing::RedisServer;
using ::testing::StartsWith;

TEST(RedisSession, answers_each_command_in_its_order) {
  const RedisServer server;
  Session session(options_for(server.url()));
  const auto answers =
      session.run(commands({{"SET", "a", "1"}, {"GET", "a"}, {"INCR", "a"}, {"GET", "none"}}));
  ASSERT_EQ(answers.size(), 4U);
  EXPECT_EQ(text_of(answers[0]), "OK");
  EXPECT_EQ(text_of(answers[1]), "1");
  EXPECT_EQ(answers[2]->view().integer(), 2);
  EXPECT_TRUE(answers[3]->view().is_nil());
  EXPECT_GT(session.connected_for(), Duration::zero());
}

TEST(RedisSession, an_empty_pipeline_asks_nobody) {
  Session session(options_for("redis://127.0.0.1:1"));
  EXPECT_TRUE(session.run(Pipeline()).empty());
  EXPECT_EQ(session.connected_for(), Duration::zero());
}

// The server stops to read while nobody takes its answers: whoever first writes all waits for ever.
TEST(RedisSession, reads_answers_while_it_writes_questions) {
  const RedisServer server;
  Session session(options_for(server.url()));
  const std::string large(std::size_t{1} << 20U, 'x');
  Pipeline pipeline;
  for (int n = 0; n < 100; ++n)
    pipeline.add(std::array{"ECHO"sv, std::string_view(large)});
  const auto answers = session.run(pipeline);
  ASSERT_EQ(answers.size(), 100U);
  for (const auto& answer : answers) {
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(answer->view().text().size(), large.size());
  }
}

TEST(RedisSession, carries_a_large_value_there_and_back) {
  const RedisServer server;
  Session session(options_for(server.url()));
  std::string large(std::size_t{64} << 20U, 'x');
  for (std::size_t at = 0; at < large.size(); at += 4093)
    large[at] = static_cast<char>(at);
  const auto answers = session.run(commands({{"SET", "a", large}, {"GET", "a"}}));
  ASSERT_TRUE(answers[0]) << answers[0].error().text();
  ASSERT_TRUE(answers[1]) << answers[1].error().text();
  EXPECT_TRUE(answers[1]->view().text() == large);
}

TEST(RedisSession, carries_many_small_commands) {
  const RedisServer server;
  Session session(options_for(server.url()));
  Pipeline pipeline;
  for (int n = 0; n < 20000; ++n)
    pipeline.add(std::array{"INCR"sv, "n"sv});
  const auto answers = session.run(pipeline);
  ASSERT_EQ(answers.size(), 20000U);
  for (std::size_t n = 0; n < answers.size(); ++n)
    ASSERT_EQ(answers[n]->view().integer(), static_cast<std::int64_t>(n + 1));
}

class RedisScripts : public ::testing::Test {
 protected:
  SessionOptions options() const {
    SessionOptions options = options_for(server_.url());
    options.scripts = scripts_;
    return options;
  }
  Pipeline call(std::string_view argument) const {
    Pipeline pipeline;
    pipeline.call(echo_, "{hf}", std::array{argument});
    return pipeline;
  }

  const RedisServer server_;
  const Script echo_{"echo", "redis.call('INCR', KEYS[1]) return {KEYS[1], ARGV[1]}"};
  const Script other_{"other", "return 7"};
  const std::array<const Script*, 2> scripts_ = {&echo_, &other_};
};

TEST_F(RedisScripts, are_loaded_with_the_connection_and_called_by_their_sha) {
  Session session(options());
  const auto answers = session.run(call("x"));
  ASSERT_TRUE(answers[0]) << answers[0].error().text();
  EXPECT_EQ(answers[0]->view()[0].text(), "{hf}");
  EXPECT_EQ(answers[0]->view()[1].text(), "x");
}

TEST_F(RedisScripts, are_loaded_again_when_the_server_has_forgotten_them) {
  LogCapture log;
  SessionOptions with_log = options();
  with_log.log = Logger(log);
  Session session(with_log);
  ASSERT_TRUE(session.run(call("x"))[0]);
  (void)server_.ask({"SCRIPT", "FLUSH"});
  const auto answers = session.run(call("y"));
  ASSERT_TRUE(answers[0]) << answers[0].error().text();
  EXPECT_EQ(answers[0]->view()[1].text(), "y");
  EXPECT_EQ(server_.ask({"GET", "{hf}"}).text, "2");
  EXPECT_TRUE(log.entries().empty());  // put right at once: nothing to tell
}

TEST_F(RedisScripts, that_do_not_compile_are_an_error_at_once) {
  const Script broken("broken", "return (");
  const std::array<const Script*, 1> scripts = {&broken};
  SessionOptions with_broken = options();
  with_broken.scripts = scripts;
  FakeClock clock;
  Session session(with_broken, clock);
  const auto answers = session.run(call("x"));
  ASSERT_FALSE(answers[0]);
  EXPECT_EQ(answers[0].error().code, ErrorCode::internal);
  EXPECT_THAT(answers[0].error().message, HasSubstr("ompil"));
  EXPECT_TRUE(clock.slept().empty());
}

// T6
TEST(RedisSession, connects_again_after_the_server_was_killed_and_restarted) {
  RedisServer server({.settings = {"--appendonly", "yes", "--appendfsync", "always"}});
  Session session(options_for(server.url()));
  ASSERT_TRUE(session.run(commands({{"SET", "a", "1"}}))[0]);
  server.kill();
  server.start();
  EXPECT_THAT(texts_of(session.run(commands({{"GET", "a"}}))), ElementsAre("1"));
}

// T6
TEST(RedisSession, gives_up_after_its_retries_when_nobody_is_there) {
  LogCapture log;
  FakeClock clock;
  SessionOptions options = options_for("redis://:secret@127.0.0.1:1");
  options.log = Logger(log, clock);
  Session session(options, clock);
  const auto answers = session.run(commands({{"PING"}, {"PING"}}));
  ASSERT_EQ(answers.size(), 2U);
  for (const auto& answer : answers) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::unavailable);
    EXPECT_THAT(answer.error().text(), HasSubstr("127.0.0.1 port 1: Connection refused"));
  }
  const auto slept = clock.slept();
  ASSERT_EQ(slept.size(), 3U);
  for (std::size_t n = 0; n < 3; ++n) {
    const Duration whole = 50ms * (1 << n);
    EXPECT_GE(slept[n], whole / 2);
    EXPECT_LE(slept[n], whole);
  }
  const auto retries = log.of("store.retry");
  ASSERT_EQ(retries.size(), 3U);
  EXPECT_EQ(retries[1].level, Level::warning);
  EXPECT_EQ(retries[1].fields.at("attempt"), "2");
  EXPECT_EQ(retries[1].fields.at("operation"), "talk to Redis");
  EXPECT_EQ(retries[1].fields.at("store"), "redis://127.0.0.1:1");
  EXPECT_THAT(retries[1].fields.at("error"), HasSubstr("Connection refused"));
  EXPECT_TRUE(retries[1].fields.contains("wait"));
  ASSERT_EQ(log.of("store.gave_up").size(), 1U);
  EXPECT_EQ(log.of("store.gave_up")[0].fields.at("attempts"), "4");
}

TEST(RedisSession, logs_in_chooses_its_database_and_says_its_name) {
  const RedisServer server({.password = "s3cret"});
  SessionOptions options = options_for(server.url() + "/3");
  options.name = "holdfast-test";
  Session session(options);
  const auto answers = session.run(commands({{"CLIENT", "INFO"}}));
  EXPECT_THAT(text_of(answers[0]), HasSubstr("name=holdfast-test "));
  EXPECT_THAT(text_of(answers[0]), HasSubstr(" db=3 "));
}

TEST(RedisSession, logs_in_as_a_user) {
  const RedisServer server;
  (void)server.ask({"ACL", "SETUSER", "ann", "on", ">p@ss/word", "~*", "+@all"});
  Session session(
      options_for("redis://ann:p%40ss%2fword@127.0.0.1:" + std::to_string(server.port())));
  EXPECT_THAT(texts_of(session.run(commands({{"ACL", "WHOAMI"}}))), ElementsAre("ann"));
}

// It does not get better by trying: whoever starts it wants to hear of it now.
TEST(RedisSession, is_refused_at_once_and_without_its_password_in_any_text) {
  const RedisServer server({.password = "s3cret"});
  const std::string place = "127.0.0.1:" + std::to_string(server.port());
  for (const std::string& login : {std::string("redis://:wr0ng@"), std::string("redis://"),
                                   std::string("redis://ann:wr0ng@")}) {
    LogCapture log;
    FakeClock clock;
    SessionOptions options = options_for(login + place);
    options.log = Logger(log, clock);
    Session session(options, clock);
    const auto answers = session.run(commands({{"PING"}}));
    ASSERT_FALSE(answers[0]);
    EXPECT_EQ(answers[0].error().code, ErrorCode::unavailable);
    EXPECT_THAT(answers[0].error().text(), HasSubstr("password"));
    EXPECT_THAT(answers[0].error().text(), Not(HasSubstr("wr0ng")));
    EXPECT_TRUE(clock.slept().empty());
    for (const auto& entry : log.entries()) {
      for (const auto& [name, value] : entry.fields)
        EXPECT_THAT(value, Not(HasSubstr("wr0ng"))) << name;
    }
  }
}

TEST(RedisSession, says_what_a_user_may_not_do) {
  const RedisServer server;
  (void)server.ask({"ACL", "SETUSER", "ann", "on", ">pw", "~hf*", "+@all"});
  Session session(options_for("redis://ann:pw@127.0.0.1:" + std::to_string(server.port())));
  const auto answers = session.run(commands({{"GET", "other"}, {"GET", "hf"}}));
  ASSERT_FALSE(answers[0]);
  EXPECT_EQ(answers[0].error().code, ErrorCode::unavailable);
  EXPECT_THAT(answers[0].error().message, StartsWith("the server says: NOPERM"));
  EXPECT_TRUE(answers[1]);
}

// A store that takes nothing more says so, and goes on to do what needs no room.
TEST(RedisSession, a_full_server_is_exhausted) {
  const RedisServer server({.settings = {"--maxmemory", "100kb"}});
  Session session(options_for(server.url()));
  const auto answers = session.run(commands({{"SET", "a", "1"}, {"GET", "a"}}));
  ASSERT_FALSE(answers[0]);
  EXPECT_EQ(answers[0].error().code, ErrorCode::exhausted);
  EXPECT_THAT(answers[0].error().message, HasSubstr("maxmemory"));
  EXPECT_TRUE(answers[1]);
}

TEST(RedisSession, a_foreign_key_is_corrupt_and_a_wrong_command_internal) {
  const RedisServer server;
  Session session(options_for(server.url()));
  const auto answers = session.run(
      commands({{"SET", "a", "1"}, {"LPUSH", "a", "x"}, {"NOSUCHTHING"}, {"GET", "a"}}));
  EXPECT_EQ(answers[1].error().code, ErrorCode::corrupt);
  EXPECT_EQ(answers[2].error().code, ErrorCode::internal);
  EXPECT_EQ(text_of(answers[3]), "1");
}

// T6, T8: a cut at any byte, on the way there or back, costs nothing but a retry.
TEST(RedisSession, a_cut_at_any_byte_leaves_no_command_without_its_answer) {
  const RedisServer server;
  CuttingProxy proxy(server.port());
  const std::string url = "redis://127.0.0.1:" + std::to_string(proxy.port());
  Pipeline pipeline;
  for (const std::string_view key : {"a"sv, "b"sv, "c"sv}) {
    pipeline.add(std::array{"SET"sv, key, "value of it"sv});
    pipeline.add(std::array{"GET"sv, key});
  }
  const std::size_t there = pipeline.bytes_from(0).size();
  const std::size_t back = 3 * std::string_view("+OK\r\n$11\r\nvalue of it\r\n").size();
  for (const auto& [side, bytes] : {std::pair(CuttingProxy::Side::to_broker, there),
                                    std::pair(CuttingProxy::Side::from_broker, back)}) {
    for (std::size_t at = 0; at < bytes; at += 3) {
      FakeClock clock;
      Session session(options_for(url), clock);
      proxy.cut_next_after_bytes(side, at);
      EXPECT_THAT(texts_of(session.run(pipeline)),
                  ElementsAre("OK", "value of it", "OK", "value of it", "OK", "value of it"))
          << at;
      EXPECT_TRUE(proxy.was_cut());
      EXPECT_EQ(clock.slept().size(), 1U);
    }
  }
}

TEST(RedisSession, follows_a_cluster_to_the_node_that_has_the_key) {
  const RedisServer owner({.cluster = true});
  const RedisServer other({.cluster = true, .all_slots = false});
  other.meet(owner);
  Session session(options_for(other.url()));
  EXPECT_THAT(texts_of(session.run(commands({{"SET", "{hf}a", "1"}, {"GET", "{hf}a"}}))),
              ElementsAre("OK", "1"));
  EXPECT_EQ(owner.ask({"GET", "{hf}a"}).text, "1");
}

TEST(RedisSession, tells_for_how_long_it_is_connected) {
  const RedisServer server;
  FakeClock clock;
  Session session(options_for(server.url()), clock);
  (void)session.run(commands({{"PING"}}));
  clock.advance(3s);
  EXPECT_EQ(session.connected_for(), 3s);
  (void)server.ask({"CLIENT", "KILL", "TYPE", "normal"});
  (void)session.run(commands({{"PING"}}));
  EXPECT_LT(session.connected_for(), 1s);
}

}  // namespace
}  // namespace holdfast::stores::redis::session_test
