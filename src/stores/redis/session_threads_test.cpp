#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/testing.hpp>

#include "stores/redis/session.hpp"
#include "stores/redis/session_testing.hpp"
#include "support/scripted_redis.hpp"

namespace holdfast::stores::redis::session_threads_test {
namespace {

using namespace std::chrono_literals;
using testing::FakeClock;
using testing::ScriptedRedis;

// Runs one command on a thread of its own, and ends it from this one when `waiting` says so.
Result<void> stopped_when(Session& session, const std::function<void()>& waiting) {
  Result<void> answer = {};
  std::thread running([&] {
    auto answers = session.run(commands({{"A"}}));
    if (!answers[0]) answer = std::unexpected(answers[0].error());
  });
  waiting();
  session.stop();
  running.join();
  return answer;
}

TEST(RedisSessionStop, ends_a_wait_for_an_answer) {
  ScriptedRedis server;
  server.always("A", ScriptedRedis::silent());
  SessionOptions options = options_for(server.url());
  options.answer_timeout = 1h;
  Session session(options);
  const auto answer = stopped_when(session, [&] {
    while (server.seen("A").empty())
      system_clock().sleep_for(1ms);
  });
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::unavailable);
}

TEST(RedisSessionStop, ends_a_wait_for_the_next_attempt) {
  FakeClock clock(FakeClock::Sleeps::held);
  Session session(options_for("redis://127.0.0.1:1"), clock);
  const auto answer = stopped_when(session, [&] { clock.wait_for_sleepers(1); });
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::unavailable);
}

TEST(RedisSessionStop, ends_what_has_not_begun) {
  ScriptedRedis server;
  Session session(options_for(server.url()));
  session.stop();
  EXPECT_FALSE(session.run(commands({{"A"}}))[0]);
}

}  // namespace
}  // namespace holdfast::stores::redis::session_threads_test
