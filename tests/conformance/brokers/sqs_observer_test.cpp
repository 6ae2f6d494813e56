#include <gmock/gmock.h>

#include "brokers/sqs/sqs.hpp"
#include "conformance/brokers/broker_conformance.hpp"
#include "support/scripted_sqs.hpp"

// What SQS, which has no connections, has an observer hear.
namespace holdfast::conformance::sqs_observer_test {
namespace {

using brokers::sqs::Options;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ScriptedSqs;
using ::testing::SizeIs;
using ::testing::StartsWith;

class SqsObserver : public ::testing::Test {
 protected:
  Options options() const {
    return {.at = {.region = "us-east-1"},
            .endpoint = sqs.url(),
            .credentials = {.given = {.access_key = "id", .secret_key = "secret"}},
            .connect_timeout = 20s};
  }
  static BrokerWorld::Open open_with(Options options) {
    return
        [options](ports::Loop& loop, Logger log) { return brokers::sqs::open(loop, options, log); };
  }

  ScriptedSqs sqs;
};

// What it is told is told on the loop, before the answer to what was asked.
struct Told final : ports::BrokerObserver {
  void connected(ports::BrokerWay /*way*/) noexcept override { all.emplace_back("connected"); }
  void disconnected(ports::BrokerWay /*way*/, const Error& why, bool was_up) noexcept override {
    all.push_back((was_up ? "lost: " : "failed: ") + why.message);
  }
  void blocked(bool /*is_blocked*/) noexcept override { all.emplace_back("blocked"); }

  std::vector<std::string> all;
};

TEST_F(SqsObserver, tells_its_observer_when_it_can_be_used_and_when_not) {
  Options watched = options();
  const auto told = std::make_shared<Told>();
  watched.observer = told;
  BrokerWorld world(open_with(watched));
  EXPECT_TRUE(world.depth("jobs"));
  EXPECT_TRUE(world.depth("jobs"));
  EXPECT_THAT(told->all, ElementsAre("connected"));
  // What this user may not do, or what is not there, says nothing of SQS.
  sqs.next("GetQueueAttributes", ScriptedSqs::refuses("403 Forbidden", "AccessDenied"));
  EXPECT_FALSE(world.depth("jobs"));
  sqs.always("GetQueueAttributes", ScriptedSqs::refuses("400 Bad Request", "QueueDoesNotExist"));
  EXPECT_FALSE(world.depth("jobs"));
  EXPECT_THAT(told->all, SizeIs(1));
  sqs.always("GetQueueAttributes", ScriptedSqs::refuses("403 Forbidden", "InvalidClientTokenId"));
  EXPECT_FALSE(world.depth("jobs"));
  EXPECT_THAT(told->all, ElementsAre("connected", HasSubstr("lost: InvalidClientTokenId")));
  sqs.always("GetQueueAttributes", nullptr);
  EXPECT_TRUE(world.depth("jobs"));
  EXPECT_EQ(told->all.back(), "connected");
}

TEST_F(SqsObserver, tells_its_observer_that_nobody_is_there) {
  Options nobody = options();
  nobody.endpoint = "http://127.0.0.1:1";
  const auto told = std::make_shared<Told>();
  nobody.observer = told;
  BrokerWorld world(open_with(nobody));
  EXPECT_FALSE(world.depth("jobs"));
  EXPECT_FALSE(world.depth("jobs"));
  EXPECT_THAT(told->all, ElementsAre(StartsWith("failed: ")));
}

}  // namespace
}  // namespace holdfast::conformance::sqs_observer_test
