#include "seeing/readiness.hpp"

#include <gtest/gtest.h>

#include <holdfast/testing/fake_clock.hpp>

#include "core/time_text.hpp"

namespace holdfast::seeing::readiness_test {
namespace {

using namespace std::chrono_literals;
using ports::BrokerWay;

struct ReadinessTest : ::testing::Test {
  holdfast::testing::FakeClock clock;
  BrokerStates states{clock};
  std::shared_ptr<BrokerState> state =
      states.add({.place = "amqp://mq/%2f", .name = "RabbitMQ at mq:5672"});
  const Error refused{ErrorCode::unavailable, "connect to the broker", "connection refused"};

  std::string now() {
    std::string text;
    append_rfc3339(text, clock.wall_now());
    return text.substr(0, 19) + 'Z';
  }
  std::string text() {
    const auto problems = readiness_of(states, true).problems;
    return problems.empty() ? "" : problems[0].text;
  }
  bool accepts(bool has_own_queues) { return readiness_of(states, has_own_queues).accepts; }
};

TEST_F(ReadinessTest, a_broker_that_is_there_or_was_not_tried_yet_is_no_problem) {
  state->carried = {{"mail", true}};
  EXPECT_EQ(text(), "");
  EXPECT_TRUE(accepts(false));
  state->connected(BrokerWay::consume);
  EXPECT_EQ(text(), "");
  std::string json;
  wire::JsonWriter writer(json);
  write(writer, readiness_of(states, false));
  EXPECT_EQ(json, R"({"status":"ready","problems":[]})");
}

TEST_F(ReadinessTest, says_what_waits_for_a_missing_broker_and_what_works) {
  state->carried = {{"mail", false}, {"bill", true}, {"scan", true}};
  state->recoveries = {"night"};
  const std::string since = now();
  state->disconnected(BrokerWay::consume, refused, false);
  clock.advance(1min);
  EXPECT_EQ(text(),
            "RabbitMQ at mq:5672 is not reachable since " + since +
                ": connection refused; tasks of queue \"mail\" are accepted and kept in the "
                "store, and published when it can be used again; tasks of queues \"bill\" "
                "and \"scan\" are refused until then, since their answer waits for the "
                "broker; deliveries over it wait; recovery \"night\" waits; everything else "
                "works");
  std::string json;
  wire::JsonWriter writer(json);
  write(writer, readiness_of(states, false));
  EXPECT_TRUE(json.starts_with(R"({"status":"degraded","problems":[{"broker":"amqp://mq/%2f",)"
                               R"("since":")" +
                               since.substr(0, 19) + R"(.000000Z","text":"RabbitMQ at mq)"))
      << json;
}

TEST_F(ReadinessTest, says_what_waits_for_a_broker_that_is_short_of_memory) {
  state->carried = {{"mail", false}};
  state->connected(BrokerWay::consume);
  state->connected(BrokerWay::publish);
  state->blocked(true);
  EXPECT_EQ(text(),
            "RabbitMQ at mq:5672 takes no messages since " + now() +
                ", being short of memory or disk; tasks of queue \"mail\" are accepted and "
                "kept in the store, and published when it can be used again; deliveries over "
                "it go on; everything else works");
}

TEST_F(ReadinessTest, names_only_some_of_many_queues) {
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g"})
    state->carried.push_back({name, false});
  state->disconnected(BrokerWay::consume, refused, false);
  EXPECT_NE(text().find("queues \"a\", \"b\", \"c\", \"d\", \"e\" and 2 more are accepted"),
            std::string::npos)
      << text();
}

TEST_F(ReadinessTest, accepts_tasks_unless_every_queue_waits_for_a_missing_broker) {
  state->carried = {{"mail", true}};
  state->disconnected(BrokerWay::consume, refused, false);
  EXPECT_FALSE(accepts(false));
  EXPECT_TRUE(accepts(true)) << "of other queues";
  state->carried.push_back({"log", false});
  EXPECT_TRUE(accepts(false)) << "that are recorded, and that is enough";
  state->carried.pop_back();
  const auto other = states.add({.place = "sqs://eu-central-1", .name = "SQS in eu-central-1"});
  other->carried = {{"jobs", true}};
  other->connected(BrokerWay::consume);
  EXPECT_TRUE(accepts(false)) << "of a broker that is there";
}

TEST_F(ReadinessTest, a_server_whose_recovery_cannot_reach_its_broker_accepts_all_the_same) {
  state->recoveries = {"night", "day"};
  state->disconnected(BrokerWay::consume, refused, false);
  EXPECT_TRUE(accepts(false));
  EXPECT_NE(text().find("; recoveries \"night\" and \"day\" wait; "), std::string::npos) << text();
}

}  // namespace
}  // namespace holdfast::seeing::readiness_test
