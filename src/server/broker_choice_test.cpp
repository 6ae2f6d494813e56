#include "server/broker_choice.hpp"

#include <gtest/gtest.h>

namespace holdfast::server::broker_choice_test {
namespace {

bool are_same(const char* one, const char* other) {
  return is_same_broker(broker_place(one, false).value(), broker_place(other, false).value());
}

// V1: who recovers into the dead-letter queue itself, goes in a circle.
TEST(BrokerChoice, knows_a_broker_by_another_of_its_names) {
  EXPECT_TRUE(are_same("amqp://a:x@mq/%2f", "amqp://b:y@MQ:5672/%2f"));
  EXPECT_TRUE(are_same("amqp://127.0.0.1/%2f", "amqp://localhost/%2f"));
  EXPECT_TRUE(are_same("amqp://[::1]/%2f", "amqp://LOCALHOST/%2f"));
  EXPECT_TRUE(are_same("amqp://one,two/%2f", "amqp://two:5672,three/%2f"));
  EXPECT_TRUE(are_same("sqs://eu-west-1", "sqs://eu-west-1"));
}

TEST(BrokerChoice, knows_brokers_apart) {
  EXPECT_FALSE(are_same("amqp://mq/%2f", "amqp://mq/other"));
  EXPECT_FALSE(are_same("amqp://mq:5672/%2f", "amqp://mq:5673/%2f"));
  EXPECT_FALSE(are_same("amqp://one,two/%2f", "amqp://three/%2f"));
  EXPECT_FALSE(are_same("sqs://eu-west-1", "sqs://eu-west-2"));
  EXPECT_FALSE(are_same("amqp://mq/%2f", "sqs://eu-west-1"));
}

std::string key_of(const std::string& url, bool names_queue = true) {
  const auto place = broker_place(url, names_queue);
  return place ? place->key : place.error().message;
}

// V2: a journal is found again.
TEST(BrokerPlace, V2_has_one_key_however_it_is_named) {
  const std::string key = key_of("amqp://a:secret@mq1,mq2:5673/jobs/app.dlq");
  EXPECT_EQ(key, "amqp://mq1,mq2:5673/jobs/app.dlq");
  EXPECT_EQ(key_of("amqp://b@MQ2:5673,mq1:5672/jobs/app.dlq"), key);
  EXPECT_EQ(key_of("amqp://Mq1,mq2:5673/%6aobs/app.dlq"), key);
  EXPECT_NE(key_of("amqp://mq1,mq2:5673/jobs/App.dlq"), key);
  EXPECT_NE(key_of("amqp://mq1,mq2:5673/Jobs/app.dlq"), key);
  EXPECT_NE(key_of("amqp://mq1,mq3:5673/jobs/app.dlq"), key);
  EXPECT_EQ(key_of("amqp://b@MQ/jobs", false), key_of("amqp://mq/jobs", false));
}

}  // namespace
}  // namespace holdfast::server::broker_choice_test
