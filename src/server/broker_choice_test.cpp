#include "server/broker_choice.hpp"

#include <gtest/gtest.h>

namespace holdfast::server::broker_choice_test {
namespace {

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
