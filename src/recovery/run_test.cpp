#include "recovery/run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/recovery_world.hpp"

namespace holdfast::recovery::run_test {
namespace {

using namespace std::chrono_literals;
using ports::Fate;
using testing::dead;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::World;

ports::Sent sent(Fate fate, const char* what = "test") {
  return {fate, {ErrorCode::unavailable, "publish", what}};
}

TEST(Run, V1_brings_messages_back_in_their_order) {
  World world;
  world.put(10);
  const Summary& summary = world.run();
  EXPECT_THAT(world.broker.ids("target"),
              ElementsAre("m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10"));
  EXPECT_THAT(world.broker.ids("dlq"), IsEmpty());
  EXPECT_EQ(world.seen.at_start, 10U);
  EXPECT_EQ(summary.recovered.by_name().at("target"), 10U);
  EXPECT_EQ(summary.ended, Ended::empty);
  EXPECT_EQ(summary.left, 0U);
  EXPECT_TRUE(summary.all_done());
  EXPECT_EQ(world.broker.most_in_flight, 4U);  // the window
}

// V1
TEST(Run, V1_publishes_first_and_acknowledges_what_is_confirmed) {
  World world;
  world.put(3);
  static_cast<void>(world.run());
  for (const char* id : {"m1", "m2", "m3"}) {
    const auto at = [&](const std::string& what) {
      return std::ranges::find(world.broker.log, what + " " + id) - world.broker.log.begin();
    };
    EXPECT_LT(at("publish"), at("confirm"));
    EXPECT_LT(at("confirm"), at("ack"));
  }
}

// V4
TEST(Run, V4_a_window_of_one_is_one_at_a_time) {
  World world;
  world.options.window = 1;
  world.put(3);
  static_cast<void>(world.run());
  EXPECT_THAT(world.broker.log,
              ElementsAre("publish m1", "confirm m1", "ack m1", "publish m2", "confirm m2",
                          "ack m2", "publish m3", "confirm m3", "ack m3"));
}

// V2, V5
TEST(Run, V2_V5_what_no_queue_takes_stays_and_the_rest_goes_on) {
  World world;
  world.put(5);
  world.broker.fault = [](const ports::Outgoing& outgoing) -> std::optional<ports::Sent> {
    if (outgoing.message.message_id == "m2") return sent(Fate::returned);
    if (outgoing.message.message_id == "m4") return sent(Fate::refused, "queue is full");
    return std::nullopt;
  };
  const Summary& summary = world.run();
  EXPECT_THAT(world.broker.ids("target"), ElementsAre("m1", "m3", "m5"));
  EXPECT_THAT(world.broker.ids("dlq"), ElementsAre("m2", "m4"));
  EXPECT_EQ(summary.failed.by_name().at("target"), 2U);
  EXPECT_EQ(summary.left, 2U);
  EXPECT_FALSE(summary.all_done());
  ASSERT_EQ(world.seen.count(Warning::Kind::failed), 2U);
  EXPECT_THAT(world.seen.warnings[0].text, HasSubstr("\"m2\""));
  EXPECT_THAT(world.seen.warnings[1].text, HasSubstr("queue is full"));
}

TEST(Run, V6_trap_2_unknown_messages_are_seen_once_with_a_window_of_one) {
  World world;
  world.options.window = 1;
  world.options.rules.routes = {.map = {{"scan", {.routing_key = "target"}}}};
  world.broker.put("dlq", dead("x1", "nobody"));
  world.broker.put("dlq", dead("x2", "nobody"));
  world.put(2);
  const Summary& summary = world.run();
  EXPECT_THAT(world.broker.ids("target"), ElementsAre("m1", "m2"));
  EXPECT_THAT(world.broker.ids("dlq"), ElementsAre("x1", "x2"));
  EXPECT_EQ(summary.skipped.total(), 2U);
  EXPECT_EQ(summary.ended, Ended::empty);
  EXPECT_EQ(world.broker.published.size(), 2U);
}

TEST(Run, warnings_of_kept_messages_are_few) {
  World world;
  world.options.rules.routes = {.map = {{"other", {.routing_key = "target"}}}};
  world.put(50);
  EXPECT_EQ(world.run().skipped.total(), 50U);
  EXPECT_EQ(world.seen.count(Warning::Kind::skipped), 11U);
}

TEST(Run, fails_before_anything_where_a_queue_is_missing) {
  World world;
  world.put(1);
  world.broker.queues.erase("target");
  EXPECT_EQ(world.run().ended, Ended::failed);
  EXPECT_THAT(world.broker.published, IsEmpty());
  World no_park;
  no_park.put(1);
  no_park.options.park = "review";
  EXPECT_EQ(no_park.run().error->code, ErrorCode::not_found);
  World no_dlq;
  no_dlq.broker.queues.erase("dlq");
  EXPECT_EQ(no_dlq.run().error->code, ErrorCode::not_found);
  EXPECT_FALSE(no_dlq.outcome->summary.all_done());
}

TEST(Run, parks_what_it_keeps_where_people_look) {
  World world;
  world.options.park = "review";
  world.broker.queues["review"];
  world.options.rules.routes = {.map = {{"scan", {.routing_key = "target"}}}};
  world.put(1);
  world.broker.put("dlq", dead("x1", "nobody"));
  world.broker.fault = [](const ports::Outgoing& outgoing) -> std::optional<ports::Sent> {
    if (outgoing.to.routing_key == "target") return sent(Fate::returned);
    return std::nullopt;
  };
  const Summary& summary = world.run();
  EXPECT_EQ(world.everywhere().size(), 2U);
  EXPECT_EQ(world.broker.queues["review"].size(), 2U);
  EXPECT_EQ(summary.parked, 2U);
  EXPECT_EQ(summary.skipped.total(), 1U);
  EXPECT_EQ(summary.failed.total(), 1U);
  EXPECT_EQ(summary.left, 0U);
  EXPECT_EQ(summary.vanished, 0U);
  EXPECT_FALSE(summary.all_done());
  for (const auto& stored : world.broker.queues["review"])
    EXPECT_TRUE(ports::text_of(stored.message.headers, kKeptBecause));
}

TEST(Run, a_review_queue_that_takes_nothing_loses_nothing) {
  World world;
  world.options.park = "review";
  world.broker.queues["review"];
  world.options.rules.routes = {.map = {{"other", {.routing_key = "target"}}}};
  world.put(2);
  world.broker.fault = [](const ports::Outgoing&) { return sent(Fate::refused); };
  const Summary& summary = world.run();
  EXPECT_THAT(world.broker.ids("dlq"), ElementsAre("m1", "m2"));
  EXPECT_EQ(summary.parked, 0U);
  EXPECT_EQ(summary.skipped.total(), 2U);
}

TEST(Run, what_the_filter_leaves_is_no_failure) {
  World world;
  world.options.rules.filter = Filter::parse(std::vector<std::string>{"id=m2"}).value();
  world.put(3);
  const Summary& summary = world.run();
  EXPECT_THAT(world.broker.ids("target"), ElementsAre("m2"));
  EXPECT_THAT(world.broker.ids("dlq"), ElementsAre("m1", "m3"));
  EXPECT_EQ(summary.passed, 2U);
  EXPECT_TRUE(summary.all_done());
}

TEST(Run, a_limit_is_kept_to_the_message) {
  World world;
  world.options.limit = 7;
  world.put(20);
  const Summary& summary = world.run();
  EXPECT_EQ(summary.recovered.total(), 7U);
  EXPECT_EQ(summary.ended, Ended::limit);
  EXPECT_EQ(world.broker.queues["dlq"].size(), 13U);
  EXPECT_EQ(world.broker.ids("dlq").front(), "m8");
  EXPECT_TRUE(summary.all_done());
}

TEST(Run, a_limit_leaves_the_others_untouched) {
  World world;
  world.options.limit = 2;
  world.put(5);
  static_cast<void>(world.run());
  for (const auto& stored : world.broker.queues["dlq"])
    EXPECT_EQ(stored.handed_back, 0);
}

TEST(Run, a_rate_is_kept) {
  World world;
  world.options.rate = 2;
  world.put(20);
  world.start();
  world.loop.pass(5s);
  const auto after = world.broker.published.size();
  EXPECT_GE(after, 9U);
  EXPECT_LE(after, 12U);
  EXPECT_EQ(world.finish().recovered.total(), 20U);
}

// V3
TEST(Run, V3_in_doubt_it_sends_again_and_says_so) {
  World world;
  world.put(6);
  int calls = 0;
  world.broker.fault = [&](const ports::Outgoing&) -> std::optional<ports::Sent> {
    return ++calls <= 4 ? std::optional(sent(Fate::unknown, "connection reset")) : std::nullopt;
  };
  const Summary& summary = world.run();
  EXPECT_THAT(world.broker.ids("target"), ElementsAre("m1", "m2", "m3", "m4",  // in doubt
                                                      "m1", "m2", "m3", "m4", "m5", "m6"));
  EXPECT_EQ(summary.duplicates, 4U);
  EXPECT_EQ(summary.recovered.total(), 6U);
  EXPECT_THAT(world.broker.ids("dlq"), IsEmpty());
}

TEST(Run, V3_what_was_not_sent_is_sent_in_its_order_later) {
  World world;
  world.put(8);
  int calls = 0;
  world.broker.fault = [&](const ports::Outgoing&) -> std::optional<ports::Sent> {
    ++calls;
    // The first of the window goes through, and then nothing for a while.
    return calls >= 2 && calls <= 9 ? std::optional(sent(Fate::unsent, "blocked")) : std::nullopt;
  };
  const Summary& summary = world.run();
  EXPECT_THAT(world.broker.ids("target"),
              ElementsAre("m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8"));
  EXPECT_EQ(summary.duplicates, 0U);
  EXPECT_EQ(world.seen.count(Warning::Kind::connection), 1U);
}

TEST(Run, V10_stalls_when_nothing_can_be_sent) {
  World world;
  world.put(8);
  world.broker.fault = [](const ports::Outgoing&) { return sent(Fate::unsent, "blocked"); };
  const Summary& summary = world.run();
  EXPECT_EQ(summary.ended, Ended::stall);
  EXPECT_GE(summary.took, 30s);
  EXPECT_LE(summary.took, 31s);
  EXPECT_EQ(world.broker.queues["dlq"].size(), 8U);
  EXPECT_FALSE(summary.all_done());
}

TEST(Run, V10_stalls_when_confirms_do_not_come) {
  World world;
  world.put(8);
  world.broker.answers = false;
  const Summary& summary = world.run();
  EXPECT_EQ(summary.ended, Ended::stall);
  EXPECT_EQ(world.broker.queues["dlq"].size(), 8U);
  EXPECT_EQ(summary.duplicates, 4U);  // that the broker may still take
  world.broker.answer();              // too late, and to nobody
}

TEST(Run, V10_an_empty_queue_ends_it_at_once) {
  World world;
  const Summary& summary = world.run();
  EXPECT_EQ(summary.ended, Ended::empty);
  EXPECT_LE(summary.took, 200ms);
  EXPECT_EQ(summary.found, 0U);
  EXPECT_EQ(summary.left, 0U);
  EXPECT_TRUE(summary.all_done());
}

TEST(Run, V10_a_queue_that_was_emptied_ends_it_after_the_time_that_confirms_it) {
  World world;
  world.put(1);
  const Summary& summary = world.run();
  EXPECT_EQ(summary.ended, Ended::empty);
  EXPECT_GE(summary.took, 5s);
  EXPECT_LE(summary.took, 6s);
  EXPECT_TRUE(summary.all_done());
}

// V10
TEST(Run, V10_the_total_ends_it_with_a_summary) {
  World world;
  world.options.limits.total = 10s;
  world.options.rate = 1;
  world.put(100);
  const Summary& summary = world.run();
  EXPECT_EQ(summary.ended, Ended::total);
  EXPECT_GE(summary.recovered.total(), 9U);
  EXPECT_EQ(world.everywhere().size(), 100U);
  EXPECT_EQ(*summary.left, 100U - summary.recovered.total());
  EXPECT_FALSE(summary.all_done());
}

TEST(Run, V10_a_queue_that_others_fill_does_not_keep_it_for_ever) {
  World world;
  world.put(5);
  world.start();
  for (int second = 0; second < 60 && !world.outcome; ++second) {
    world.broker.put("dlq", dead("new" + std::to_string(second)));
    world.loop.pass(1s);
  }
  ASSERT_TRUE(world.outcome);
  EXPECT_EQ(world.outcome->summary.ended, Ended::caught_up);
  EXPECT_LE(world.outcome->summary.took, 11s);
  EXPECT_GE(world.outcome->summary.recovered.total(), 14U);
}

TEST(Run, N3_what_dies_again_at_once_is_not_brought_back_in_a_circle) {
  World world;
  world.options.rules.routes = {.to = Routes::To::queue, .queue = "dlq"};  // the shortest circle
  world.put(3);
  const Summary& summary = world.run();
  EXPECT_EQ(summary.recovered.total(), 3U);
  EXPECT_EQ(summary.skipped.total(), 3U);
  EXPECT_EQ(world.broker.queues["dlq"].size(), 3U);
}

TEST(Run, a_stop_waits_for_what_is_under_way) {
  World world;
  world.put(10);
  world.broker.answers = false;
  world.start();
  world.current->stop();
  world.loop.pass(1s);
  EXPECT_FALSE(world.outcome);
  world.broker.answer();
  const Summary& summary = world.finish();
  EXPECT_EQ(summary.ended, Ended::asked);
  EXPECT_EQ(summary.recovered.total(), 4U);
  EXPECT_EQ(world.broker.acknowledged, 4U);
  EXPECT_EQ(summary.left, 6U);
  EXPECT_FALSE(summary.all_done());
}

TEST(Run, a_limit_counts_what_is_kept_and_parked) {
  World world;
  world.options.limit = 3;
  world.options.park = "review";
  world.options.rules.routes = {.to = Routes::To::review};
  world.broker.queues["review"];
  world.put(10);
  const Summary& summary = world.run();
  EXPECT_EQ(summary.ended, Ended::limit);
  EXPECT_EQ(summary.parked, 3U);
  EXPECT_TRUE(summary.all_done());
  EXPECT_EQ(world.broker.ids("dlq").size(), 7U);
}

TEST(Run, the_queue_itself_is_no_origin) {
  World world;
  world.options.rules.queue = "work";  // where they died first
  world.options.rules.routes = {.to = Routes::To::origin_queue};
  world.put(2);
  EXPECT_EQ(world.run().skipped.by_name().at("its target is this queue itself"), 2U);
}

TEST(Run, the_slowest_rate_is_not_the_fastest) {
  World world;
  world.options.rate = 1e-300;
  world.put(4);
  world.start();
  world.loop.pass(60s);
  EXPECT_EQ(world.broker.published.size(), 1U);
}

TEST(Run, a_slow_rate_is_no_lack_of_messages) {
  World world;
  world.options.rate = 0.2;
  world.options.window = 100;
  world.put(4);
  const Summary& summary = world.run();
  EXPECT_EQ(summary.recovered.total(), 4U);
  EXPECT_EQ(summary.ended, Ended::empty);
}

TEST(Run, a_stop_does_not_wait_for_ever) {
  World world;
  world.put(10);
  world.broker.answers = false;
  world.start();
  world.current->stop();
  const Summary& summary = world.finish(12s);
  EXPECT_EQ(summary.ended, Ended::asked);
  EXPECT_EQ(world.broker.queues["dlq"].size(), 10U);
}

TEST(Run, trap_2_what_was_handed_back_often_is_renewed_instead) {
  World world;
  world.broker.counts_returns = true;
  world.broker.facts = testing::counts(20);
  world.options.renew_at = 2;
  world.options.rules.routes = {.map = {{"other", {.routing_key = "target"}}}};
  world.put(2);
  const auto run_again = [&](const char* id) {
    world.options.rules.run = id;
    return world.run();
  };
  static_cast<void>(run_again("run 1"));
  static_cast<void>(run_again("run 2"));
  EXPECT_EQ(world.broker.queues["dlq"].front().handed_back, 2);
  const Summary third = run_again("run 3");
  EXPECT_EQ(third.renewed, 2U);
  EXPECT_EQ(third.skipped.total(), 2U);  // counted once, though it saw them again
  EXPECT_EQ(third.left, 2U);
  EXPECT_THAT(world.broker.ids("dlq"), ElementsAre("m1", "m2"));
  EXPECT_EQ(world.broker.queues["dlq"].front().handed_back, 1);
  EXPECT_NE(ports::find_field(world.broker.queues["dlq"].front().message.headers, "x-death"),
            nullptr);
  EXPECT_EQ(run_again("run 4").skipped.total(), 2U);  // they are as any other to the next
}

TEST(Run, journal_has_a_line_before_each_acknowledgement) {
  World world;
  world.journals = true;
  world.options.rules.routes = {.map = {{"scan", {.routing_key = "target"}}}};
  world.put(2);
  world.broker.put("dlq", dead("x1", "nobody"));
  static_cast<void>(world.run());
  EXPECT_THAT(world.journal.text, HasSubstr(R"("event":"begin","queue":"dlq","window":4})"));
  EXPECT_THAT(world.journal.text, HasSubstr(R"("event":"recovered","id":"m1","key":")"));
  EXPECT_THAT(world.journal.text, HasSubstr(R"("event":"kept","id":"x1","type":"nobody")"));
  EXPECT_THAT(world.journal.text, HasSubstr(R"("event":"end","ended":"empty","clean":true)"));
  EXPECT_THAT(world.journal.unsettled().confirmed, IsEmpty());
}

TEST(Run, V3_the_journal_knows_what_a_killed_run_has_copied) {
  World world;
  world.journals = true;
  world.put(6);
  world.broker.acknowledges = false;
  world.start();
  EXPECT_EQ(world.broker.ids("target").size(), 4U);
  world.broker.close(7, [] {});  // killed: the broker takes all of it back
  world.broker.acknowledges = true;
  EXPECT_EQ(world.journal.unsettled().confirmed.size(), 4U);
  world.options.rules.run = "run 2";
  const Summary& summary = world.run();
  EXPECT_THAT(world.broker.ids("target"), ElementsAre("m1", "m2", "m3", "m4", "m5", "m6"));
  EXPECT_EQ(summary.recognised, 4U);
  EXPECT_EQ(summary.recovered.total(), 2U);
  EXPECT_TRUE(summary.all_done());
}

TEST(Run, V3_P6_the_journal_knows_what_a_killed_run_had_under_way) {
  World world;
  world.journals = true;
  world.put(6);
  world.broker.answers = false;
  world.start();
  world.broker.close(7, [] {});  // killed: nobody knows whether its four copies are there
  world.broker.answers = true;
  EXPECT_EQ(world.journal.unsettled().in_doubt.size(), 4U);
  world.options.rules.run = "run 2";
  const Summary& summary = world.run();
  EXPECT_EQ(summary.recovered.total(), 6U);
  EXPECT_EQ(summary.duplicates, 4U);
}

TEST(Run, the_journal_takes_a_message_that_died_again_for_another) {
  World world;
  world.journals = true;
  world.put(1);
  world.broker.acknowledges = false;
  world.start();
  world.broker.close(7, [] {});
  world.broker.acknowledges = true;
  ports::Message again = dead("m1");
  again.headers[0].second = ports::Field(ports::Field::Value(
      ports::FieldArray{testing::death("work", "rejected", "jobs", "scan", 7)}));
  world.broker.queues["dlq"].clear();
  world.broker.queues["dlq"].push_back({.message = again, .redelivered = true});
  world.options.rules.run = "run 2";
  EXPECT_EQ(world.run().recovered.total(), 1U);
  EXPECT_THAT(world.broker.ids("target"), ElementsAre("m1", "m1"));
}

TEST(Run, a_journal_that_cannot_be_written_ends_it_and_loses_nothing) {
  World world;
  world.journals = true;
  world.put(10);
  world.start();
  EXPECT_EQ(world.broker.acknowledged, 10U);
  World full;
  full.journals = true;
  full.put(10);
  full.broker.answers = false;
  full.start();
  full.journal.broken = true;
  full.broker.answer();
  const Summary& summary = full.finish();
  EXPECT_EQ(summary.ended, Ended::failed);
  EXPECT_EQ(summary.error->message, "no space left on device");
  EXPECT_EQ(full.everywhere().size(), 10U);  // none twice, none lost
}

// P6
TEST(Run, what_is_left_is_asked_for_until_all_is_there_and_nothing_changes) {
  World world;
  world.options.rules.routes = {.map = {{"other", {.routing_key = "target"}}}};
  world.put(3);
  world.start();
  world.put(2, "n");
  world.loop.pass(1s);
  world.current->stop();
  world.broker.late_counts = {1, 1, 3};  // and then 5
  const Summary& summary = world.finish();
  EXPECT_EQ(summary.left, 5U);
  EXPECT_EQ(summary.arrived, 2U);
  EXPECT_EQ(summary.vanished, 0U);
}

// P6
TEST(Run, what_others_take_is_missed) {
  World world;
  world.options.window = 1;
  world.options.rate = 1;
  world.put(3);
  world.start();
  world.broker.queues["dlq"].pop_back();
  EXPECT_EQ(world.finish().vanished, 1U);
  EXPECT_FALSE(world.outcome->summary.all_done());
}

TEST(Run, an_empty_queue_of_others_is_waited_for) {
  World world;
  world.broker.other_consumers = 1;
  EXPECT_GE(world.run().took, 5s);
  EXPECT_EQ(world.outcome->summary.consumers, 1U);
  EXPECT_EQ(world.seen.count(Warning::Kind::queue), 1U);
}

TEST(Run, a_queue_that_somebody_deletes_ends_it) {
  World world;
  world.options.rules.routes = {.map = {{"other", {.routing_key = "target"}}}};
  world.put(1);
  world.start();
  world.broker.queues.erase("dlq");
  EXPECT_EQ(world.finish().ended, Ended::failed);
  ASSERT_TRUE(world.outcome->summary.error);
  EXPECT_EQ(world.outcome->summary.error->code, ErrorCode::not_found);
}

}  // namespace
}  // namespace holdfast::recovery::run_test
