#include <gmock/gmock.h>

#include "brokers/sqs/sqs.hpp"
#include "conformance/brokers/broker_conformance.hpp"
#include "support/scripted_sqs.hpp"

// Listing queues at a server that answers as it is told to.
namespace holdfast::conformance::sqs_list_faults_test {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using testing::ScriptedSqs;
using ::testing::SizeIs;

class SqsListFaults : public ::testing::Test {
 protected:
  SqsListFaults()
      : world([this](ports::Loop& loop, Logger log) {
          return brokers::sqs::open(
              loop,
              {.at = {.region = "us-east-1"},
               .endpoint = sqs.url(),
               .credentials = {.given = {.access_key = "id", .secret_key = "secret"}},
               .poll_wait = 1s,
               .connect_timeout = 20s},
              log);
        }) {}

  ScriptedSqs sqs;
  BrokerWorld world;
};

TEST_F(SqsListFaults, asks_page_after_page) {
  sqs.next("ListQueues", ScriptedSqs::says(R"({"QueueUrls":["http://sqs/1/app-b-dlq",
      "http://sqs/1/app-work"],"NextToken":"second"})"));
  sqs.next("ListQueues", ScriptedSqs::says(R"({"QueueUrls":["http://sqs/1/app-a-dlq"]})"));
  const auto listed = world.list_queues("app-*-dlq");
  ASSERT_TRUE(listed) << listed.error().text();
  EXPECT_THAT(*listed, ElementsAre(Field(&ports::QueueStatus::name, "app-a-dlq"),
                                   Field(&ports::QueueStatus::name, "app-b-dlq")));
  EXPECT_EQ(listed->front().ready, 0U);
  const auto asked = sqs.seen("ListQueues");
  ASSERT_THAT(asked, SizeIs(2));
  EXPECT_THAT(asked[0].body, HasSubstr(R"("QueueNamePrefix":"app-")"));
  EXPECT_THAT(asked[1].body, HasSubstr(R"("NextToken":"second")"));
  EXPECT_THAT(sqs.seen("GetQueueUrl"), SizeIs(0));  // the list has them
}

TEST_F(SqsListFaults, lists_a_queue_whose_attributes_it_may_not_read) {
  sqs.always("ListQueues", ScriptedSqs::says(R"({"QueueUrls":["http://sqs/1/a-dlq"]})"));
  sqs.always("GetQueueAttributes", ScriptedSqs::refuses("403 Forbidden", "AccessDenied"));
  const auto listed = world.list_queues("*");
  ASSERT_TRUE(listed) << listed.error().text();
  ASSERT_THAT(*listed, SizeIs(1));
  EXPECT_EQ(listed->front().ready, std::nullopt);
}

TEST_F(SqsListFaults, leaves_out_what_is_deleted_meanwhile) {
  sqs.always("ListQueues", ScriptedSqs::says(R"({"QueueUrls":["http://sqs/1/a-dlq"]})"));
  sqs.always("GetQueueAttributes", ScriptedSqs::refuses("400 Bad Request", "QueueDoesNotExist"));
  sqs.always("GetQueueUrl", ScriptedSqs::refuses("400 Bad Request", "QueueDoesNotExist"));
  const auto listed = world.list_queues("*");
  ASSERT_TRUE(listed) << listed.error().text();
  EXPECT_THAT(*listed, SizeIs(0));
}

TEST_F(SqsListFaults, says_which_permission_is_missing) {
  sqs.always("ListQueues", ScriptedSqs::refuses("403 Forbidden", "AccessDenied"));
  const auto listed = world.list_queues("*");
  ASSERT_FALSE(listed);
  EXPECT_THAT(listed.error().message, HasSubstr("sqs:ListQueues"));
  EXPECT_THAT(listed.error().message, HasSubstr("us-east-1"));
}

}  // namespace
}  // namespace holdfast::conformance::sqs_list_faults_test
