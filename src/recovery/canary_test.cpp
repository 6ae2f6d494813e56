#include "recovery/canary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/recovery_world.hpp"

namespace holdfast::recovery::canary_test {
namespace {

using namespace std::chrono_literals;
using testing::counts;
using testing::dead;
using testing::death;
using ::testing::HasSubstr;
using testing::World;

struct CanaryWorld : World {
  std::unique_ptr<CanaryRun> staged;

  void begin(std::uint64_t messages = 3) {
    outcome.reset();
    staged = std::make_unique<CanaryRun>(Run::Parts{.broker = broker,
                                                    .loop = loop,
                                                    .clock = clock,
                                                    .random = random,
                                                    .observer = seen,
                                                    .journal = journals ? &journal : nullptr,
                                                    .backup = backs_up ? &backup : nullptr},
                                         options, Canary{.messages = messages, .wait = 30s});
    staged->start([this](Run::Outcome done) { outcome = std::move(done); });
    loop.settle();
  }
  // Until so many are there.
  void pass_until_recovered(std::size_t count) {
    for (int i = 0; i < 600 && broker.ids("target").size() < count; ++i)
      loop.pass(100ms);
    ASSERT_EQ(broker.ids("target").size(), count);
    loop.pass(2s);
  }
  // Dies as its consumer gives it up.
  void dies(const std::string& why = "rejected") {
    auto& target = broker.queues["target"];
    ports::Message message = target.front().message;
    target.pop_front();
    ports::set_field(message.headers, "x-death",
                     ports::Field(ports::Field::Value(
                         ports::FieldArray{death("target", why, "", "target", 1'893'455'990)})));
    broker.put("dlq", std::move(message));
  }
};

TEST(Canary, the_rest_is_recovered_if_none_comes_back) {
  CanaryWorld world;
  world.put(10);
  world.begin();
  world.pass_until_recovered(3);
  EXPECT_EQ(world.broker.ids("dlq").size(), 7U);
  world.loop.pass(20s);
  EXPECT_EQ(world.broker.ids("target").size(), 3U) << "it has not waited";
  const Summary& summary = world.finish();
  EXPECT_TRUE(summary.all_done());
  EXPECT_EQ(summary.found, 10U);
  EXPECT_EQ(summary.recovered.total(), 10U);
  EXPECT_EQ(summary.left, 0U);
  EXPECT_EQ(summary.arrived + summary.vanished, 0U);
  EXPECT_EQ(summary.canary->messages, 3U);
  EXPECT_EQ(summary.canary->came_back.total(), 0U);
  EXPECT_EQ(world.seen.at_start, 10U);
}

TEST(Canary, the_rest_stays_if_one_comes_back_and_its_error_is_named) {
  CanaryWorld world;
  world.put(10);
  world.begin();
  world.pass_until_recovered(3);
  world.dies("expired");
  const Summary& summary = world.finish();
  EXPECT_EQ(summary.ended, Ended::canary);
  EXPECT_FALSE(summary.all_done());
  EXPECT_EQ(summary.recovered.total(), 3U);
  EXPECT_EQ(summary.left, 8U);
  EXPECT_EQ(summary.arrived, 1U);
  EXPECT_EQ(summary.vanished, 0U);
  EXPECT_EQ(summary.canary->came_back.by_name().at("expired"), 1U);
  EXPECT_EQ(summary.canary->stopped_by, "1 of 3 messages came back to the queue: 1 expired");
  EXPECT_EQ(world.broker.ids("target").size(), 2U);
}

TEST(Canary, one_that_comes_back_at_once_is_noticed_too) {
  CanaryWorld world;
  world.put(6);
  world.begin();
  ASSERT_EQ(world.broker.ids("target").size(), 3U);
  world.dies();  // before the first part has ended
  const Summary& summary = world.finish();
  EXPECT_EQ(summary.ended, Ended::canary);
  EXPECT_EQ(summary.canary->came_back.by_name().at("rejected"), 1U);
}

TEST(Canary, messages_of_others_do_not_stop_it) {
  CanaryWorld world;
  world.put(5);
  world.begin();
  world.pass_until_recovered(3);
  world.put(2, "new");
  const Summary& summary = world.finish();
  EXPECT_TRUE(summary.all_done());
  EXPECT_EQ(summary.recovered.total(), 7U);
  EXPECT_EQ(summary.arrived, 2U);
  EXPECT_EQ(summary.vanished, 0U);
}

TEST(Canary, one_that_comes_back_among_others_is_found) {
  CanaryWorld world;
  world.put(5);
  world.begin();
  world.pass_until_recovered(3);
  world.dies();
  world.put(2, "new");
  EXPECT_EQ(world.finish().ended, Ended::canary);
}

// A consumer that acknowledges, and publishes the message anew without the headers that it had.
TEST(Canary, one_that_is_published_anew_without_its_headers_is_known_by_its_id) {
  CanaryWorld world;
  world.put(10);
  world.begin();
  world.pass_until_recovered(3);
  ports::Message message = world.broker.queues["target"].front().message;
  world.broker.queues["target"].pop_front();
  message.headers = {{"x-error", "boom"}};
  world.broker.put("dlq", std::move(message));
  const Summary& summary = world.finish();
  EXPECT_EQ(summary.ended, Ended::canary);
  EXPECT_FALSE(summary.all_done());
  EXPECT_EQ(summary.recovered.total(), 3U);
  EXPECT_EQ(summary.canary->stopped_by, "1 of 3 messages came back to the queue: 1 unknown: boom");
}

TEST(Canary, growth_by_messages_that_cannot_be_told_apart_stops_it) {
  CanaryWorld world;
  for (int i = 0; i < 10; ++i) {
    ports::Message message = dead("");
    message.message_id.reset();
    message.body = "the same";
    world.broker.put("dlq", std::move(message));
  }
  world.begin();
  world.pass_until_recovered(3);
  ports::Message again{.body = "the same", .headers = {}};
  again.message_id = "another";
  world.broker.put("dlq", std::move(again));
  const Summary& summary = world.finish();
  EXPECT_EQ(summary.ended, Ended::canary);
  EXPECT_EQ(summary.recovered.total(), 3U);
  EXPECT_EQ(summary.canary->came_back.total(), 0U);
  EXPECT_EQ(summary.canary->stopped_by,
            "the queue has grown by 1 message, and 8 messages in it cannot be told from those of "
            "the canary: the same body, and another message id or none");
}

TEST(Canary, of_messages_that_all_look_alike_goes_on_if_the_queue_has_not_grown) {
  CanaryWorld world;
  world.broker.other_consumers = 1;
  for (int i = 0; i < 6; ++i) {
    ports::Message message = dead("m" + std::to_string(i));
    message.body = "the same";
    world.broker.put("dlq", std::move(message));
  }
  world.begin();
  EXPECT_EQ(world.finish().recovered.total(), 6U);
}

TEST(Likenesses, of_more_than_they_keep_say_so) {
  Likenesses likenesses(2);
  likenesses.note(dead("a"));
  likenesses.note(dead("b"));
  EXPECT_TRUE(likenesses.has_them_all());
  likenesses.note(dead("c"));
  EXPECT_FALSE(likenesses.has_them_all());
  EXPECT_EQ(likenesses.of(dead("a")), Likenesses::Likeness::id);
  EXPECT_EQ(likenesses.of(dead("c")), Likenesses::Likeness::none);
}

TEST(Canary, kept_messages_are_no_part_of_it) {
  CanaryWorld world;
  world.options.rules.routes = {.map = {{"scan", {.routing_key = "target"}}}};
  for (int i = 0; i < 4; ++i)
    world.broker.put("dlq", dead("odd" + std::to_string(i), "unheard"));
  world.put(5);
  world.begin();
  world.pass_until_recovered(3);
  const Summary& summary = world.finish();
  EXPECT_EQ(summary.recovered.total(), 5U);
  EXPECT_EQ(summary.skipped.total(), 4U);
  EXPECT_EQ(summary.left, 4U);
}

TEST(Canary, parked_messages_are_counted_once) {
  CanaryWorld world;
  world.broker.queues["review"];
  world.options.park = "review";
  world.options.rules.routes = {.map = {{"scan", {.routing_key = "target"}}}};
  for (int i = 0; i < 2; ++i)
    world.broker.put("dlq", dead("odd" + std::to_string(i), "unheard"));
  world.put(5);
  world.broker.put("dlq", dead("odd9", "unheard"));
  world.begin();
  const Summary& summary = world.finish();
  EXPECT_EQ(summary.skipped.total(), 3U);
  EXPECT_EQ(summary.parked, 3U);
  EXPECT_EQ(summary.recovered.total(), 5U);
  EXPECT_EQ(summary.vanished + summary.arrived, 0U);
}

TEST(Canary, that_cannot_be_sent_stops_it) {
  CanaryWorld world;
  world.options.rules.routes = {.to = Routes::To::origin_queue};
  world.put(6);
  world.begin();
  const Summary& summary = world.finish();
  EXPECT_EQ(summary.ended, Ended::canary);
  EXPECT_THAT(summary.canary->stopped_by, HasSubstr("could not be sent to \"work\""));
  EXPECT_EQ(world.broker.ids("dlq").size(), 6U);
}

TEST(Canary, a_limit_is_one_of_all) {
  CanaryWorld world;
  world.options.limit = 5;
  world.put(9);
  world.begin();
  const Summary& summary = world.finish();
  EXPECT_EQ(summary.recovered.total(), 5U);
  EXPECT_TRUE(summary.all_done());
  CanaryWorld small;
  small.options.limit = 2;
  small.put(9);
  small.begin();
  EXPECT_EQ(small.finish().recovered.total(), 2U);
}

TEST(Canary, of_all_messages_is_watched_too) {
  CanaryWorld world;
  world.put(2);
  world.begin();
  world.pass_until_recovered(2);
  world.loop.pass(5s);
  ASSERT_FALSE(world.outcome);
  world.dies();
  EXPECT_EQ(world.finish().ended, Ended::canary);
}

TEST(Canary, without_one_it_is_a_recovery) {
  CanaryWorld world;
  world.put(4);
  world.staged = std::make_unique<CanaryRun>(Run::Parts{.broker = world.broker,
                                                        .loop = world.loop,
                                                        .clock = world.clock,
                                                        .random = world.random,
                                                        .observer = world.seen},
                                             world.options, std::nullopt);
  world.staged->start([&](Run::Outcome done) { world.outcome = std::move(done); });
  EXPECT_EQ(world.finish().recovered.total(), 4U);
  EXPECT_FALSE(world.outcome->summary.canary);
  EXPECT_EQ(world.seen.at_start, 4U);
}

// P5: to look is to return.
TEST(Canary, P5_of_a_queue_that_must_not_be_looked_through_stops_if_it_changes) {
  CanaryWorld world;
  world.broker.counts_returns = true;
  world.broker.facts = counts(2);
  world.put(8);
  world.begin();
  world.pass_until_recovered(3);
  world.put(1, "new");
  const Summary& summary = world.finish();
  EXPECT_EQ(summary.ended, Ended::canary);
  EXPECT_THAT(summary.canary->stopped_by, HasSubstr("delivery limit of 2"));
  EXPECT_TRUE(world.broker.destroyed.empty());
  EXPECT_EQ(world.broker.ids("dlq").size(), 6U);
}

TEST(Canary, P5_of_a_queue_with_a_limit_loses_nothing) {
  CanaryWorld world;
  world.broker.counts_returns = true;
  world.broker.facts = counts(3);
  world.put(8);
  for (auto& stored : world.broker.queues["dlq"])
    stored.handed_back = 2;
  world.begin();
  world.pass_until_recovered(3);
  world.put(1, "new");
  const Summary& summary = world.finish();
  EXPECT_TRUE(world.broker.destroyed.empty());
  EXPECT_EQ(summary.recovered.total(), 9U);
  EXPECT_TRUE(world.broker.ids("dlq").empty());
}

TEST(Canary, ends_when_it_is_asked_while_it_waits) {
  CanaryWorld world;
  world.put(6);
  world.begin();
  world.pass_until_recovered(3);
  world.staged->stop();
  world.loop.settle();
  ASSERT_TRUE(world.outcome);
  EXPECT_EQ(world.outcome->summary.ended, Ended::asked);
  EXPECT_EQ(world.outcome->summary.recovered.total(), 3U);
  EXPECT_FALSE(world.outcome->summary.all_done());
  EXPECT_EQ(world.broker.ids("dlq").size(), 3U);
}

}  // namespace
}  // namespace holdfast::recovery::canary_test
