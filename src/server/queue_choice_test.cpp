#include "server/queue_choice.hpp"

#include <gtest/gtest.h>

#include "core/name_pattern.hpp"
#include "server/recoveries.hpp"

namespace holdfast::server::queue_choice_test {
namespace {

TEST(QueuePattern, is_the_last_part_of_a_url) {
  const auto found = queue_pattern("amqp://ann:planted@mq:5673/shop%2feu/*.dlq");
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->broker_url, "amqp://ann:planted@mq:5673/shop%2feu");
  EXPECT_EQ((*found)->pattern, "*.dlq");
  EXPECT_EQ((*found)->name, "*.dlq");
  EXPECT_EQ((*found)->text, "amqp://ann@mq:5673/shop%2feu/*.dlq");
  EXPECT_EQ((*queue_pattern("amqp://mq/a?b"))->broker_url, "amqp://mq");
  EXPECT_EQ((*queue_pattern("sqs://eu-west-1/*-dlq"))->broker_url, "sqs://eu-west-1");
}

TEST(QueuePattern, is_none_where_a_queue_is_named) {
  for (const char* const url :
       {"amqp://mq/%2f/app.dlq", "amqp://mq/%2f/a%2ab", "amqp://u:p*w@mq/%2f/app.dlq",
        "amqp://u:p*w@mq", "sqs://eu-west-1/jobs-dlq", "env:NAME"}) {
    const auto found = queue_pattern(url);
    ASSERT_TRUE(found) << url;
    EXPECT_FALSE(*found) << url;
  }
}

TEST(QueuePattern, takes_what_is_encoded_for_itself) {
  const auto found = queue_pattern("amqp://mq/%2f/a%2ab*%5c%c3%a4");
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->name, "a*b*\\ä");
  const NamePattern pattern((*found)->pattern);
  EXPECT_TRUE(pattern.matches("a*bxyz\\ä"));
  EXPECT_FALSE(pattern.matches("axbxyz\\ä"));
}

TEST(QueuePattern, refuses_a_broker_that_is_none_and_never_repeats_a_password) {
  for (const char* const url :
       {"http://u:planted@mq/*", "amqp://u:planted@mq:x/%2f/*", "amqp://u:planted@mq/%2f/*%4"}) {
    const auto found = queue_pattern(url);
    ASSERT_FALSE(found) << url;
    EXPECT_EQ(found.error().message.find("planted"), std::string::npos);
  }
}

TEST(QueueChooser, has_each_queue_once_and_refuses_a_target) {
  QueueChooser chooser({}, {"retry.me"});
  ASSERT_TRUE(chooser.add("amqp://mq/%2f/a.dlq"));
  ASSERT_TRUE(chooser.add("amqp://mq/a.dlq"));
  ASSERT_TRUE(chooser.add("amqp://mq/other/a.dlq"));
  EXPECT_EQ(chooser.choice().queues.size(), 2U);
  const auto refused = chooser.add("amqp://mq/%2f/retry.me");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
}

TEST(QueuePattern, is_no_queue_that_a_server_recovers) {
  config::Recover recover;
  recover.to = "x";
  recover.from = config::plain_url("amqp://mq/%2f/*.dlq");
  const auto refused = settings_of(recover);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("%2a"), std::string::npos);
  recover.from = config::plain_url("amqp://mq/%2f/%2a.dlq");
  EXPECT_TRUE(settings_of(recover));
}

}  // namespace
}  // namespace holdfast::server::queue_choice_test
