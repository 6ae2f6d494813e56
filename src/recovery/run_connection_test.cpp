// Runs whose connection is lost, or whose broker does not answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recovery/run.hpp"
#include "support/recovery_world.hpp"

namespace holdfast::recovery::run_connection_test {
namespace {

using namespace std::chrono_literals;
using ports::Fate;
using testing::dead;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::World;

TEST(RunConnection, V11_after_a_lost_connection_held_messages_are_counted_once) {
  World world;
  world.options.rules.routes = {.map = {{"other", {.routing_key = "target"}}}};
  world.put(3);
  world.start();
  world.loop.pass(1s);
  EXPECT_EQ(world.seen.last.skipped.total(), 3U);
  world.broker.cut();
  const Summary& summary = world.finish();
  EXPECT_EQ(summary.skipped.total(), 3U);
  EXPECT_EQ(summary.interruptions, 1U);
  EXPECT_THAT(world.broker.ids("dlq"), ElementsAre("m1", "m2", "m3"));
}

// P6: it takes no more then, so nothing of what it kept comes to be counted again.
TEST(RunConnection, V11_what_was_kept_is_counted_though_the_connection_is_lost_at_the_end) {
  World world;
  world.options.rules.routes = {.map = {{"other", {.routing_key = "target"}}}};
  world.put(3);
  world.start();
  world.loop.pass(1s);
  world.put(1, "n");
  world.broker.on_its_way = 1;
  world.current->stop();
  world.loop.pass(5ms);
  world.broker.cut();
  const Summary& summary = world.finish();
  EXPECT_EQ(summary.skipped.total(), 3U);
  EXPECT_EQ(summary.interruptions, 1U);
  EXPECT_EQ(summary.left, 4U);
}

TEST(RunConnection, V11_a_copy_whose_acknowledgement_was_lost_is_known_again) {
  World world;
  world.put(6);
  world.broker.acknowledges = false;
  world.start();
  EXPECT_EQ(world.broker.ids("target").size(), 4U);  // the window
  world.broker.acknowledges = true;
  world.broker.cut();
  const Summary& summary = world.finish();
  EXPECT_THAT(world.broker.ids("target"), ElementsAre("m1", "m2", "m3", "m4", "m5", "m6"));
  EXPECT_THAT(world.broker.ids("dlq"), IsEmpty());
  EXPECT_EQ(summary.recovered.total(), 6U);
  EXPECT_EQ(summary.recognised, 0U);  // they are counted as recovered
  EXPECT_EQ(summary.duplicates, 0U);
  EXPECT_EQ(summary.arrived, 0U);
}

TEST(RunConnection, V11_what_waits_for_its_turn_is_sent_once) {
  World world;
  world.options.rate = 1;
  world.put(4);
  world.start();
  world.loop.pass(500ms);
  world.broker.cut();
  EXPECT_EQ(world.finish().recovered.total(), 4U);
  EXPECT_THAT(world.broker.ids("target"), ElementsAre("m1", "m2", "m3", "m4"));
}

TEST(RunConnection, V11_without_an_id_it_is_sent_again_rather_than_lost) {
  World world;
  for (int i = 0; i < 2; ++i) {
    ports::Message message = dead("same");
    message.message_id.reset();
    world.broker.put("dlq", message);
  }
  world.broker.acknowledges = false;
  world.start();
  world.broker.acknowledges = true;
  world.broker.cut();
  const Summary& summary = world.finish();
  EXPECT_EQ(world.broker.queues["target"].size(), 4U);
  EXPECT_EQ(summary.duplicates, 2U);
  EXPECT_EQ(summary.recovered.total(), 2U);
}

TEST(RunConnection, two_messages_that_are_the_same_are_both_brought_back) {
  World world;
  world.put(1);
  world.put(1);
  world.start();
  static_cast<void>(world.finish());
  EXPECT_THAT(world.broker.ids("target"), ElementsAre("m1", "m1"));
  // Also if they were delivered before, to somebody who has gone.
  World again;
  again.put(1);
  again.put(1);
  for (auto& stored : again.broker.queues["dlq"])
    stored.redelivered = true;
  static_cast<void>(again.run());
  EXPECT_THAT(again.broker.ids("target"), ElementsAre("m1", "m1"));
}

TEST(RunConnection, V11_confirms_that_come_after_the_consumer_was_cut_are_no_second_copy) {
  World world;
  world.put(4);
  world.broker.answers = false;
  world.start();
  world.broker.cut(false);
  world.loop.settle();
  world.broker.answer();  // the copies are there; their originals come again
  world.loop.settle();
  world.broker.connect();
  const Summary& summary = world.finish();
  EXPECT_THAT(world.broker.ids("target"), ElementsAre("m1", "m2", "m3", "m4"));
  EXPECT_EQ(summary.recovered.total(), 4U);
  EXPECT_EQ(summary.recognised, 0U);  // they are counted as recovered
  EXPECT_THAT(world.broker.ids("dlq"), IsEmpty());
}

// The broker answers slowly: what was published by the time the consumer was cut is not confirmed
// when the originals come again.
TEST(RunConnection, V11_what_comes_again_waits_for_the_answer_to_its_first_copy) {
  World world;
  world.put(6);
  world.broker.answers = false;
  world.start();
  world.broker.cut();
  world.loop.pass(1s);
  EXPECT_EQ(world.broker.published.size(), 4U);
  world.broker.answer();
  const Summary& summary = world.finish();
  EXPECT_THAT(world.broker.ids("target"), ElementsAre("m1", "m2", "m3", "m4", "m5", "m6"));
  EXPECT_EQ(summary.recovered.total(), 6U);
  EXPECT_EQ(summary.recognised, 0U);  // they are counted as recovered
  EXPECT_EQ(summary.duplicates, 0U);
  EXPECT_THAT(world.broker.ids("dlq"), IsEmpty());
}

TEST(RunConnection, V11_what_comes_again_and_was_not_taken_is_sent_again) {
  World world;
  world.put(2);
  world.broker.answers = false;
  world.start();
  world.broker.cut();
  world.loop.pass(1s);
  world.broker.fault = [&](const ports::Outgoing&) {
    return world.broker.published.size() > 2 ? std::nullopt
                                             : std::optional(ports::Sent{.fate = Fate::unsent});
  };
  world.broker.answer();
  EXPECT_EQ(world.finish().recovered.total(), 2U);
  EXPECT_THAT(world.broker.ids("target"), ElementsAre("m1", "m2"));
  EXPECT_EQ(world.outcome->summary.duplicates, 0U);
  EXPECT_EQ(world.outcome->summary.redelivered, 0U);  // by this run only
}

TEST(RunConnection, V3_what_comes_again_and_may_be_there_is_counted_once_as_a_duplicate) {
  World world;
  world.put(1);
  world.broker.answers = false;
  world.start();
  world.broker.cut();
  world.loop.pass(1s);
  world.broker.fault = [&](const ports::Outgoing&) {
    return world.broker.published.size() > 1 ? std::nullopt
                                             : std::optional(ports::Sent{.fate = Fate::unknown});
  };
  world.broker.answer();
  EXPECT_EQ(world.finish().duplicates, 1U);
  EXPECT_THAT(world.broker.ids("target"), ElementsAre("m1", "m1"));
}

// P6: the originals stay, and the next run sends them again.
TEST(RunConnection, copies_of_unknown_fate_are_reported_if_it_ends_before_they_are_sent_again) {
  World world;
  world.put(2);
  world.broker.fault = [](const ports::Outgoing&) {
    return std::optional(ports::Sent{.fate = Fate::unknown});
  };
  world.start();
  world.current->stop();
  EXPECT_EQ(world.finish().duplicates, 2U);
  EXPECT_THAT(world.broker.ids("target"), ElementsAre("m1", "m2"));
  EXPECT_EQ(world.broker.queues["dlq"].size(), 2U);
}

// P6: the originals are back in the queue, and the next run sends them again.
TEST(RunConnection, copies_without_an_answer_are_reported_if_it_ends_after_a_lost_connection) {
  for (const bool is_answered : {false, true}) {
    World world;
    world.put(4);
    world.broker.answers = false;
    world.start();
    world.broker.cut();
    world.loop.pass(1s);
    world.current->stop();
    if (is_answered) world.broker.answer();
    EXPECT_EQ(world.finish().duplicates, 4U) << is_answered;
  }
}

TEST(RunConnection, V10_a_broker_that_stays_away_is_a_stall) {
  World world;
  world.put(4);
  world.broker.answers = false;
  world.start();
  world.broker.cut(false);
  const Summary& summary = world.finish();
  EXPECT_EQ(summary.ended, Ended::stall);
  EXPECT_LE(summary.took, 45s);
}

TEST(RunConnection, V10_connections_that_do_not_last_are_a_stall) {
  World world;
  world.options.rules.routes = {.map = {{"other", {.routing_key = "target"}}}};
  world.put(3);
  world.start();
  for (int second = 0; second < 60 && !world.outcome; ++second) {
    world.loop.pass(1s);
    world.broker.cut();
  }
  EXPECT_EQ(world.finish(1s).ended, Ended::stall);
  EXPECT_EQ(world.outcome->summary.skipped.total(), 3U);
}

TEST(RunConnection, ends_at_once_when_it_may_not_consume) {
  World world;
  world.put(1);
  world.start();
  world.broker.refuse({ErrorCode::unavailable, "consume", "the queue moves"});  // may be passing
  world.loop.pass(100ms);
  EXPECT_FALSE(world.outcome);
  world.broker.refuse({ErrorCode::invalid_argument, "consume", "exclusive"});
  EXPECT_EQ(world.finish(3s).ended, Ended::failed);
  ASSERT_TRUE(world.outcome->summary.error);
  EXPECT_EQ(world.outcome->summary.error->message, "exclusive");
}

TEST(RunConnection, a_queue_that_is_deleted_meanwhile_ends_it_and_what_went_with_it_is_counted) {
  World world;
  world.options.rate = 10;
  world.put(60);
  world.start();
  world.loop.pass(2500ms);
  const std::size_t copied = world.broker.ids("target").size();
  ASSERT_GT(copied, 10U);
  world.broker.remove("dlq");
  const Summary& summary = world.finish(10s);
  EXPECT_EQ(summary.ended, Ended::failed);
  ASSERT_TRUE(summary.error);
  EXPECT_EQ(summary.error->code, ErrorCode::not_found);
  EXPECT_EQ(summary.error->message, "queue \"dlq\" was deleted");
  EXPECT_EQ(summary.recovered.total(), world.broker.ids("target").size());
  EXPECT_EQ(summary.vanished, 60 - summary.recovered.total());
  EXPECT_EQ(summary.left, 0U);
  EXPECT_EQ(summary.duplicates, 0U);
  EXPECT_FALSE(summary.all_done());
}

TEST(RunConnection, a_queue_that_is_away_for_a_while_is_not_taken_for_deleted) {
  World world;
  world.options.rate = 10;
  world.put(8);
  world.start();
  world.loop.pass(300ms);
  world.broker.cut(false);
  world.loop.pass(10s);
  EXPECT_FALSE(world.outcome);
  world.broker.connect();
  EXPECT_EQ(world.finish().recovered.total(), 8U);
}

}  // namespace
}  // namespace holdfast::recovery::run_connection_test
