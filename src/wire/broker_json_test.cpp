#include "wire/broker_json.hpp"

#include <gtest/gtest.h>

#include "wire/wire_testing.hpp"

namespace holdfast::wire::broker_json_test {
namespace {

using namespace std::chrono_literals;
using testing::written;

BrokerInfo full_broker() {
  return {.name = "main",
          .url = "amqp://***@h",
          .kind = "rabbitmq",
          .patterns = {"*.dlq", "x"},
          .reachable = false,
          .since = WallTime(1'700'000'000s),
          .error = "away",
          .looked = WallTime(1'700'000'001s),
          .queues = {{.name = "a.dlq",
                      .kind = "quorum",
                      .ready = 7,
                      .unacknowledged = 2,
                      .consumers = 1,
                      .is_approximate = false,
                      .delivery_limit = 5,
                      .dead_letter = BrokerDeadLetter{.exchange = "dlx", .routing_key = "k"},
                      .rates = BrokerQueueRates{.over = 10s, .change = -1.5, .in = 0.5, .out = 2},
                      .oldest_published = WallTime(1'600'000'000s),
                      .recovery = "r"},
                     {.name = "b.dlq", .kind = "classic"}}};
}

TEST(BrokerJson, a_broker_comes_back_as_it_was) {
  const BrokerInfo broker = full_broker();
  EXPECT_EQ(read_broker(written(broker)).value(), broker);
  const BrokerInfo unseen{.name = "new", .url = "sqs://r", .kind = "sqs", .patterns = {"*"}};
  EXPECT_EQ(read_broker(written(unseen)).value(), unseen);
}

TEST(BrokerJson, a_list_says_how_much_each_has) {
  const std::string text = written(BrokerList{.brokers = {full_broker()}});
  EXPECT_NE(text.find(R"("queue_count":2,"messages":9)"), text.npos) << text;
  BrokerInfo without_queues = full_broker();
  without_queues.queues.clear();
  EXPECT_EQ(read_brokers(text).value().brokers.front(), without_queues);
}

}  // namespace
}  // namespace holdfast::wire::broker_json_test
