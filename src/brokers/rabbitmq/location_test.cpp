#include <gtest/gtest.h>

#include "brokers/rabbitmq/rabbitmq.hpp"

namespace holdfast::brokers::rabbitmq::location_test {
namespace {

TEST(Location, reads_every_part) {
  const auto at = parse_location("amqps://ann:s%40crt@mq.example.org:5679/shop%2feu");
  ASSERT_TRUE(at) << at.error().text();
  EXPECT_TRUE(at->tls);
  EXPECT_EQ(at->user, "ann");
  EXPECT_EQ(at->password, "s@crt");
  EXPECT_EQ(at->host, "mq.example.org");
  EXPECT_EQ(at->port, 5679);
  EXPECT_EQ(at->vhost, "shop/eu");
}

TEST(Location, has_the_usual_values_for_what_is_left_out) {
  for (const char* const url : {"amqp://mq", "amqp://mq/", "amqp://mq/%2f", "amqp://mq:5672/%2F"}) {
    const auto at = parse_location(url);
    ASSERT_TRUE(at) << url << at.error().text();
    EXPECT_EQ(at->vhost, "/");
    EXPECT_EQ(at->port, 5672);
    EXPECT_EQ(at->user, "guest");
    EXPECT_EQ(at->password, "guest");
  }
  EXPECT_EQ(parse_location("amqps://mq")->port, 5671);
  EXPECT_EQ(parse_location("amqp://[::1]:7777/")->host, "::1");
  EXPECT_EQ(parse_location("amqp://[::1]:7777/")->port, 7777);
}

TEST(Location, takes_the_queue_from_the_last_part) {
  EXPECT_EQ(parse_location("amqp://mq/%2f/app.dlq", true)->queue, "app.dlq");
  EXPECT_EQ(parse_location("amqp://mq/%2f/app.dlq", true)->vhost, "/");
  EXPECT_EQ(parse_location("amqp://mq/app.dlq", true)->vhost, "/");
  EXPECT_EQ(parse_location("amqp://mq/shop/a%2fb", true)->queue, "a/b");
  EXPECT_EQ(parse_location("amqp://mq/shop/a%2fb", true)->vhost, "shop");
  EXPECT_FALSE(parse_location("amqp://mq/", true));
  EXPECT_FALSE(parse_location("amqp://mq/shop/", true));
}

TEST(Location, reads_several_hosts_of_a_broker) {
  const auto at = parse_location("amqp://ann:s,crt@mq1,mq2:5673,[::1],[fe80::2]:7777/%2f/q", true);
  ASSERT_TRUE(at) << at.error().text();
  const std::vector<Host> all = {{"mq1", 5672}, {"mq2", 5673}, {"::1", 5672}, {"fe80::2", 7777}};
  EXPECT_EQ(at->hosts(), all);
  EXPECT_EQ(at->password, "s,crt");
  EXPECT_EQ(at->queue, "q");
  EXPECT_EQ(at->text(), "amqp://ann@mq1,mq2:5673,[::1],[fe80::2]:7777/%2f/q");
  EXPECT_EQ(parse_location("amqps://a,b")->hosts().back(), (Host{"b", 5671}));
  EXPECT_EQ(parse_location("amqp://a")->hosts().size(), 1U);
  for (const char* const url :
       {"amqp://a,", "amqp://,a", "amqp://a,,b", "amqp://a:x,b", "amqp://a,b:70000", "amqp://a,a"})
    EXPECT_FALSE(parse_location(url)) << url;
}

TEST(Location, refuses_what_is_no_broker_and_never_repeats_a_password) {
  for (const char* const url :
       {"", "http://mq", "amqp://", "amqp://u:planted@", "amqp://u:planted%4@mq",
        "amqp://u:planted@mq:x", "amqp://u:planted@mq:70000", "amqp://u:planted@mq:0",
        "amqp://u:planted@mq/a/b", "amqp://u:planted@mq/a?heartbeat=1", "amqp://u:planted@[::1"}) {
    const auto at = parse_location(url);
    ASSERT_FALSE(at) << url;
    EXPECT_EQ(at.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(at.error().text().find("planted"), std::string::npos);
  }
}

TEST(Location, is_shown_without_its_password) {
  EXPECT_EQ(parse_location("amqp://ann:planted@mq:5673/a%2fb")->text(), "amqp://ann@mq:5673/a%2fb");
  EXPECT_EQ(parse_location("amqps://mq/%2f/q", true)->text(), "amqps://mq/%2f/q");
}

}  // namespace
}  // namespace holdfast::brokers::rabbitmq::location_test
