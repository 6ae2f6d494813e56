#include <gtest/gtest.h>

#include "brokers/sqs/sqs.hpp"

namespace holdfast::brokers::sqs::location_test {
namespace {

TEST(SqsLocation, reads_region_and_queue) {
  const auto both = parse_location("sqs://eu-central-1/jobs_2-x");
  ASSERT_TRUE(both) << both.error().text();
  EXPECT_EQ(both->region, "eu-central-1");
  EXPECT_EQ(both->queue, "jobs_2-x");
  EXPECT_EQ(both->text(), "sqs://eu-central-1/jobs_2-x");
  for (const char* const url : {"sqs://us-east-1", "sqs://us-east-1/"}) {
    const auto region = parse_location(url);
    ASSERT_TRUE(region) << url;
    EXPECT_EQ(region->queue, "");
    EXPECT_EQ(region->text(), "sqs://us-east-1");
  }
  EXPECT_EQ(parse_location("sqs://us-east-1/jobs.fifo")->queue, "jobs.fifo");
}

TEST(SqsLocation, refuses_what_is_none_and_never_repeats_it) {
  for (const char* const url :
       {"", "amqp://planted", "sqs://", "sqs:///planted", "sqs://Planted/q", "sqs://planted/a.b",
        "sqs://planted/a/b", "sqs://key:planted@us-east-1/q", "sqs://planted/.fifo",
        "sqs://planted/q?x=1"}) {
    const auto at = parse_location(url);
    ASSERT_FALSE(at) << url;
    EXPECT_EQ(at.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(at.error().text().find("lanted"), std::string::npos);
  }
}

TEST(SqsQueueName, is_what_sqs_takes) {
  EXPECT_TRUE(is_queue_name("a"));
  EXPECT_TRUE(is_queue_name(std::string(80, 'a')));
  EXPECT_FALSE(is_queue_name(std::string(81, 'a')));
  EXPECT_FALSE(is_queue_name(""));
  EXPECT_FALSE(is_queue_name("jobs.dlq"));
  EXPECT_FALSE(is_queue_name("jöbs"));
  EXPECT_TRUE(is_fifo("jobs.fifo"));
  EXPECT_FALSE(is_fifo("jobs"));
  EXPECT_EQ(dead_letter_name("jobs"), "jobs-dlq");
  EXPECT_EQ(dead_letter_name("jobs.fifo"), "jobs-dlq.fifo");
}

}  // namespace
}  // namespace holdfast::brokers::sqs::location_test
