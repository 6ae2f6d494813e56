#include "seeing/broker_states.hpp"

#include <gtest/gtest.h>

#include <holdfast/testing/fake_clock.hpp>

namespace holdfast::seeing::broker_states_test {
namespace {

using namespace std::chrono_literals;
using ports::BrokerWay;

struct BrokerStatesTest : ::testing::Test {
  holdfast::testing::FakeClock clock;
  BrokerStates states{clock};
  std::shared_ptr<BrokerState> state =
      states.add({.place = "amqp://mq/%2f", .name = "RabbitMQ at mq:5672"});
  const Error refused{ErrorCode::unavailable, "connect to the broker", "connection refused"};
};

TEST_F(BrokerStatesTest, nobody_knows_of_a_broker_before_it_was_tried) {
  EXPECT_FALSE(state->is_connected());
  EXPECT_FALSE(state->missing());
}

TEST_F(BrokerStatesTest, is_missing_since_the_first_failure_and_for_the_last_reason) {
  state->connected(BrokerWay::consume);
  EXPECT_TRUE(state->is_connected());
  const WallTime since = clock.wall_now();
  state->disconnected(BrokerWay::consume, {ErrorCode::unavailable, "", "closed by the peer"}, true);
  clock.advance(10s);
  state->disconnected(BrokerWay::consume, refused, false);
  ASSERT_TRUE(state->missing());
  EXPECT_EQ(state->missing()->since, since);
  EXPECT_EQ(state->missing()->why, "connection refused");
  EXPECT_FALSE(state->is_connected());
  EXPECT_EQ(state->lost(), 1U) << "an attempt that fails loses nothing";
  state->connected(BrokerWay::consume);
  EXPECT_FALSE(state->missing());
  EXPECT_TRUE(state->is_connected());
}

// It connects when there is something to publish, which may be in a week.
TEST_F(BrokerStatesTest, a_lost_connection_for_publishing_is_missed_only_when_it_cannot_be_made) {
  state->connected(BrokerWay::consume);
  state->connected(BrokerWay::publish);
  state->disconnected(BrokerWay::publish, refused, true);
  EXPECT_TRUE(state->is_connected());
  state->disconnected(BrokerWay::publish, refused, false);
  EXPECT_TRUE(state->missing());
  state->connected(BrokerWay::publish);
  EXPECT_TRUE(state->is_connected());
}

TEST_F(BrokerStatesTest, what_could_not_be_published_to_may_be_there_once_it_can_be_consumed) {
  state->disconnected(BrokerWay::publish, refused, false);
  state->disconnected(BrokerWay::consume, refused, false);
  state->connected(BrokerWay::consume);
  EXPECT_TRUE(state->is_connected());
}

TEST_F(BrokerStatesTest, is_blocked_until_it_says_otherwise_or_its_connection_is_lost) {
  state->connected(BrokerWay::publish);
  const WallTime since = clock.wall_now();
  state->blocked(true);
  clock.advance(5s);
  state->blocked(true);
  EXPECT_EQ(state->blocked_since(), since);
  state->disconnected(BrokerWay::consume, refused, true);
  EXPECT_TRUE(state->blocked_since());
  state->disconnected(BrokerWay::publish, refused, true);
  EXPECT_FALSE(state->blocked_since());
}

TEST_F(BrokerStatesTest, are_known_while_somebody_has_them) {
  EXPECT_EQ(states.all().size(), 1U);
  state.reset();
  EXPECT_TRUE(states.all().empty());
}

TEST_F(BrokerStatesTest, a_depth_that_could_not_be_read_or_is_old_is_not_shown) {
  states.set_depth("amqp://mq/%2f", "a.dlq", 3);
  states.set_depth("amqp://mq/%2f", "b.dlq", 5);
  states.set_depth("amqp://mq/%2f", "a.dlq", std::nullopt);
  ASSERT_EQ(states.depths().size(), 1U);
  EXPECT_EQ(states.depths()[0].queue, "b.dlq");
  EXPECT_EQ(states.depths()[0].messages, 5U);
  clock.advance(BrokerStates::kDepthLasts + 1s);
  EXPECT_TRUE(states.depths().empty());
}

}  // namespace
}  // namespace holdfast::seeing::broker_states_test
