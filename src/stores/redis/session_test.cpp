#include "stores/redis/session.hpp"

#include <array>
#include <string>

#include <gtest/gtest.h>

#include <holdfast/testing.hpp>

#include "support/redis_server.hpp"

namespace holdfast::stores::redis {
namespace {

using namespace std::chrono_literals;
using namespace std::string_view_literals;
using testing::RedisServer;

SessionOptions at(const RedisServer& server) {
  return {.address = parse_address(server.url()).value()};
}

Pipeline commands(std::initializer_list<std::vector<std::string_view>> all) {
  Pipeline pipeline;
  for (const auto& words : all)
    pipeline.add(words);
  return pipeline;
}

std::string text_of(const Result<OwnedReply>& answer) {
  return answer ? std::string(answer->view().text()) : "! " + answer.error().text();
}

TEST(RedisSession, answers_each_command_in_its_order) {
  const RedisServer server;
  Session session(at(server));
  const auto answers = session.run(commands({{"SET", "a", "1"}, {"GET", "a"}, {"INCR", "a"}}));
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(text_of(answers[0]), "OK");
  EXPECT_EQ(text_of(answers[1]), "1");
  EXPECT_EQ(answers[2]->view().integer(), 2);
  EXPECT_GT(session.connected_for(), Duration::zero());
}

TEST(RedisSession, an_empty_pipeline_asks_nobody) {
  Session session({.address = parse_address("redis://127.0.0.1:1").value()});
  EXPECT_TRUE(session.run(Pipeline()).empty());
  EXPECT_EQ(session.connected_for(), Duration::zero());
}

// The server stops to read while nobody takes its answers: whoever first writes all waits for ever.
TEST(RedisSession, reads_answers_while_it_writes_questions) {
  const RedisServer server;
  Session session(at(server));
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

TEST(RedisSession, calls_scripts_by_their_sha) {
  const RedisServer server;
  const Script script("echo", "return {KEYS[1], ARGV[1]}");
  const std::array scripts = {&script};
  SessionOptions options = at(server);
  options.scripts = scripts;
  Session session(options);
  Pipeline pipeline;
  pipeline.call(script, "{hf}", std::array{"x"sv});
  auto answers = session.run(pipeline);
  ASSERT_TRUE(answers[0]) << answers[0].error().text();
  EXPECT_EQ(answers[0]->view()[0].text(), "{hf}");
  EXPECT_EQ(answers[0]->view()[1].text(), "x");
}

}  // namespace
}  // namespace holdfast::stores::redis
