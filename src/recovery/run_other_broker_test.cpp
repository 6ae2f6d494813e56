// Messages that are brought back to another broker.
#include <gmock/gmock.h>

#include "support/recovery_world.hpp"

namespace holdfast::recovery::run_other_broker_test {
namespace {

using namespace std::chrono_literals;
using ports::Fate;
using testing::dead;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ModelBroker;
using testing::World;

struct TwoBrokers : World {
  TwoBrokers() {
    to = &other;
    options.to_place = "amqp://other/%2f";
    options.to_user = "bob";
    options.limits.empty = 1s;
    broker.queues.erase("target");
    other.queues["target"];
  }

  ModelBroker other{loop};
};

TEST(OtherBroker, gets_the_copies_and_the_first_is_told_when_they_are_confirmed) {
  TwoBrokers world;
  world.put(3);
  world.other.answers = false;
  world.start();
  EXPECT_EQ(world.broker.acknowledged, 0U);
  world.other.answer();
  const Summary& summary = world.finish();
  EXPECT_TRUE(summary.all_done());
  EXPECT_EQ(summary.recovered.total(), 3U);
  EXPECT_EQ(summary.to_place, "amqp://other/%2f");
  EXPECT_THAT(world.other.ids("target"), ElementsAre("m1", "m2", "m3"));
  EXPECT_THAT(world.broker.ids("dlq"), IsEmpty());
  EXPECT_EQ(world.broker.acknowledged, 3U);
}

TEST(OtherBroker, must_have_the_target_before_anything_is_taken) {
  TwoBrokers world;
  world.put(1);
  world.other.queues.clear();
  world.broker.queues["target"];  // there is one here, but that is not meant
  const Summary& summary = world.run();
  EXPECT_EQ(summary.ended, Ended::failed);
  EXPECT_THAT(summary.error->message, HasSubstr("amqp://other"));
  EXPECT_THAT(world.broker.ids("dlq"), ElementsAre("m1"));
}

TEST(OtherBroker, that_takes_nothing_leaves_all_where_it_is) {
  TwoBrokers world;
  world.put(3);
  world.options.limits.stall = 5s;
  world.other.fault = [](const ports::Outgoing&) {
    return ports::Sent{Fate::unsent, {ErrorCode::unavailable, "publish", "blocked"}};
  };
  const Summary& summary = world.run();
  EXPECT_EQ(summary.ended, Ended::stall);
  EXPECT_EQ(summary.duplicates, 0U);
  EXPECT_EQ(world.broker.ids("dlq").size(), 3U);
  EXPECT_EQ(world.broker.acknowledged, 0U);
  EXPECT_THAT(world.seen.warnings.front().text, HasSubstr("amqp://other"));
}

// It cannot go there, and its next return would be its end: it begins anew where it is.
TEST(OtherBroker, that_takes_nothing_ends_no_message_at_its_limit) {
  for (const Fate fate : {Fate::unsent, Fate::unknown}) {
    TwoBrokers world;
    world.broker.facts = testing::counts(2);
    world.broker.counts_returns = true;
    world.broker.queues["dlq"].push_back({.message = dead("m1"), .handed_back = 2});
    world.options.limits.stall = 5s;
    world.other.unknown_arrives = false;
    world.other.fault = [&](const ports::Outgoing&) {
      return ports::Sent{fate, {ErrorCode::unavailable, "publish", "blocked"}};
    };
    const Summary& summary = world.run();
    EXPECT_EQ(summary.ended, Ended::stall);
    EXPECT_THAT(world.broker.destroyed, IsEmpty());
    EXPECT_THAT(world.broker.ids("dlq"), ElementsAre("m1"));
    EXPECT_EQ(world.broker.queues["dlq"].front().handed_back, 0);
    EXPECT_EQ(summary.renewed, 1U);
  }
}

TEST(OtherBroker, whose_answer_is_lost_gets_a_message_again) {
  TwoBrokers world;
  world.put(2);
  bool lost = false;
  world.other.fault = [&](const ports::Outgoing&) -> std::optional<ports::Sent> {
    if (std::exchange(lost, true)) return std::nullopt;
    return ports::Sent{Fate::unknown, {ErrorCode::unavailable, "publish", "cut"}};
  };
  const Summary& summary = world.run();
  EXPECT_EQ(summary.recovered.total(), 2U);
  EXPECT_EQ(summary.duplicates, 1U);
  EXPECT_EQ(world.other.ids("target").size(), 3U);
  EXPECT_THAT(world.broker.ids("dlq"), IsEmpty());
}

TEST(OtherBroker, keeps_its_copies_when_the_connection_to_the_first_is_lost) {
  TwoBrokers world;
  world.put(4);
  world.other.answers = false;
  world.start();
  world.broker.cut();
  world.loop.settle();
  world.other.answer();
  const Summary& summary = world.finish();
  EXPECT_EQ(summary.recovered.total(), 4U);
  EXPECT_EQ(world.other.ids("target").size(), 4U + summary.duplicates);
  EXPECT_THAT(world.broker.ids("dlq"), IsEmpty());
}

TEST(OtherBroker, gets_nothing_of_what_is_kept_parked_or_renewed) {
  TwoBrokers world;
  world.options.park = "park";
  world.broker.queues["park"];
  world.options.rules.routes = {.to = Routes::To::origin_queue};
  world.other.queues["work"];
  ports::Message without_origin{.body = "x", .headers = {}};
  without_origin.message_id = "none";
  world.broker.put("dlq", without_origin);
  world.broker.put("dlq", dead("one"));
  const Summary& summary = world.run();
  EXPECT_EQ(summary.parked, 1U);
  EXPECT_THAT(world.broker.ids("park"), ElementsAre("none"));
  EXPECT_THAT(world.other.ids("work"), ElementsAre("one"));
  EXPECT_EQ(world.other.published.size(), 1U);
}

TEST(OtherBroker, is_asked_for_the_targets_of_a_dry_run) {
  TwoBrokers world;
  world.put(2);
  world.options.dry = true;
  world.other.queues.clear();
  world.broker.queues["target"];
  const Summary& summary = world.run();
  EXPECT_EQ(summary.would_fail, 2U);
  EXPECT_EQ(summary.planned, 0U);
}

TEST(OtherBroker, takes_messages_in_the_name_of_who_we_are_there) {
  TwoBrokers world;
  world.options.user = "ann";
  ports::Message message = dead("one");
  message.user_id = "ann";
  world.broker.put("dlq", message);
  world.run();
  ASSERT_EQ(world.other.published.size(), 1U);
  EXPECT_EQ(world.other.published.front().message.user_id, std::nullopt);
  EXPECT_EQ(ports::text_of(world.other.published.front().message.headers, kSavedUser), "ann");
}

// What was copied to one broker is not at another.
TEST(OtherBroker, a_copy_elsewhere_is_none_here) {
  TwoBrokers world;
  world.journals = true;
  world.put(1);
  world.broker.acknowledges = false;
  world.start();
  world.broker.close(7, [] {});  // killed
  world.broker.acknowledges = true;
  ASSERT_THAT(world.other.ids("target"), ElementsAre("m1"));
  world.options.rules.run = "run 2";
  world.options.to_place = "amqp://third/%2f";
  EXPECT_EQ(world.run().recognised, 0U);
  EXPECT_THAT(world.other.ids("target"), ElementsAre("m1", "m1"));
}

TEST(OtherBroker, is_known_again_to_have_a_copy) {
  TwoBrokers world;
  world.journals = true;
  world.put(1);
  world.broker.acknowledges = false;
  world.start();
  world.broker.close(7, [] {});  // killed
  world.broker.acknowledges = true;
  world.options.rules.run = "run 2";
  EXPECT_EQ(world.run().recognised, 1U);
  EXPECT_THAT(world.other.ids("target"), ElementsAre("m1"));
}

}  // namespace
}  // namespace holdfast::recovery::run_other_broker_test
