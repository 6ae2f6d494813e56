// Runs on queues that destroy what is returned too often: what is at its limit and in hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recovery/run.hpp"
#include "support/recovery_world.hpp"

namespace holdfast::recovery::run_returns_test {
namespace {

using namespace std::chrono_literals;
using ports::Fate;
using testing::counts;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::World;

struct LimitedWorld : World {
  explicit LimitedWorld(std::int64_t limit) {
    broker.counts_returns = true;
    broker.facts = counts(limit);
  }

  void keep_all() { options.rules.routes = {.map = {{"other", {.routing_key = "target"}}}}; }
  auto& stored(std::size_t at) { return broker.queues["dlq"].at(at); }

  // The broker has proved that it takes messages, and answers nothing after that.
  void start_and_wait_for_ever() {
    broker.fault = [this](const ports::Outgoing&) -> std::optional<ports::Sent> {
      broker.answers = broker.published.size() < 2;
      return std::nullopt;
    };
    start();
    broker.fault = nullptr;
  }
  // Answers what was sent so far with this, and all that comes later as usual.
  void answer_with(Fate fate) {
    broker.fault = [=](const ports::Outgoing&) { return std::optional(ports::Sent{.fate = fate}); };
    broker.answer();
    broker.fault = nullptr;
  }
};

TEST(RunReturns, P5_a_broker_proves_twice_in_a_row_that_it_takes_messages) {
  LimitedWorld world(5);
  world.keep_all();
  world.put(1);
  world.broker.unknown_arrives = false;
  world.broker.fault = [&](const ports::Outgoing&) -> std::optional<ports::Sent> {
    if (world.broker.published.size() != 2) return std::nullopt;
    return ports::Sent{.fate = Fate::unknown};
  };
  static_cast<void>(world.run());
  EXPECT_EQ(world.broker.published.size(), 4U);
}

TEST(RunReturns, P5_a_dry_run_takes_nothing_where_a_look_could_be_the_end) {
  LimitedWorld world(2);
  world.options.dry = true;
  world.put(3);
  EXPECT_EQ(world.run().ended, Ended::failed);
  ASSERT_TRUE(world.outcome->summary.error);
  EXPECT_EQ(world.outcome->summary.error->code, ErrorCode::conflict);
  EXPECT_EQ(world.stored(0).handed_back, 0);
}

// What is kept, and what is only looked at, opens the window as well as what is recovered.
TEST(RunReturns, takes_more_at_a_time_whatever_becomes_of_it) {
  for (const bool dry : {false, true}) {
    LimitedWorld world(20);
    world.keep_all();
    world.options.dry = dry;
    world.options.window = 8;
    world.put(30);
    world.start();
    world.loop.pass(1s);
    EXPECT_THAT(world.broker.widths, ElementsAre(2, 4, 8));
    world.broker.cut();
    static_cast<void>(world.finish());
    EXPECT_THAT(world.broker.widths, ElementsAre(2, 4, 8, 1, 2, 4, 8));  // a new connection
  }
}

TEST(RunReturns, takes_more_at_a_time_when_it_sees_again_what_it_has_renewed) {
  LimitedWorld world(20);
  world.keep_all();
  world.options.window = 8;
  world.options.renew_at = 1;
  world.put(4);
  for (std::size_t at = 0; at < 4; ++at)
    world.stored(at).handed_back = 1;
  EXPECT_EQ(world.run().renewed, 4U);
  EXPECT_THAT(world.broker.widths, ElementsAre(2, 4, 8));
}

TEST(RunReturns, takes_half_a_second_ahead_at_a_rate) {
  LimitedWorld world(20);
  world.options.window = 1000;
  world.options.rate = 20;
  world.put(60);
  static_cast<void>(world.run());
  EXPECT_THAT(world.broker.widths, ElementsAre(2, 4, 8, 10));
}

TEST(RunReturns, P5_does_not_end_while_the_copy_of_such_a_message_is_not_answered) {
  LimitedWorld world(2);
  world.put(1);
  world.stored(0).handed_back = 2;
  world.start_and_wait_for_ever();
  world.current->stop();
  world.loop.pass(60s);
  EXPECT_FALSE(world.outcome);
  world.answer_with(Fate::confirmed);
  EXPECT_EQ(world.finish().recovered.total(), 1U);
  EXPECT_THAT(world.broker.destroyed, IsEmpty());
}

TEST(RunReturns, P5_does_not_end_while_such_a_message_waits_for_its_turn) {
  LimitedWorld world(2);
  world.options.rate = 0.02;
  world.options.limits.stall = 1h;
  world.put(2);
  world.stored(1).handed_back = 2;
  world.start();
  world.loop.pass(1s);
  world.current->stop();
  world.loop.pass(30s);
  EXPECT_FALSE(world.outcome);
  static_cast<void>(world.finish());
  EXPECT_THAT(world.broker.destroyed, IsEmpty());
}

// A lost connection has ended them, wherever in the run they were: they are sent all the same.

TEST(RunReturns, P5_what_was_lost_under_way_is_sent_again_unless_its_copy_is_there) {
  for (const Fate fate : {Fate::unsent, Fate::confirmed}) {
    LimitedWorld world(2);
    world.put(1);
    world.stored(0).handed_back = 2;
    world.start_and_wait_for_ever();
    world.broker.cut();
    world.loop.pass(1s);
    EXPECT_THAT(world.broker.destroyed, ElementsAre("m1"));
    world.answer_with(fate);
    const Summary& summary = world.finish();
    EXPECT_EQ(summary.recovered.total(), 1U);
    EXPECT_EQ(summary.duplicates, 0U);
    ASSERT_THAT(world.broker.ids("target"), ElementsAre("m1"));
    EXPECT_EQ(world.broker.queues["target"][0].message.body, "body of m1");
  }
}

TEST(RunReturns, P5_what_was_lost_while_it_was_put_aside_is_sent_again) {
  LimitedWorld world(2);
  world.keep_all();
  world.put(1);
  world.stored(0).handed_back = 2;
  bool is_full = true;
  world.broker.fault = [&](const ports::Outgoing& out) -> std::optional<ports::Sent> {
    if (out.to.routing_key != "dlq" || !is_full) return std::nullopt;
    return ports::Sent{Fate::refused, {ErrorCode::exhausted, "publish", "the queue is full"}};
  };
  world.start();
  world.loop.pass(10s);
  world.broker.cut();
  is_full = false;
  static_cast<void>(world.finish());
  EXPECT_THAT(world.broker.ids("dlq"), ElementsAre("m1"));
}

TEST(RunReturns, P5_what_was_lost_while_it_waited_for_its_turn_is_sent_again) {
  LimitedWorld world(2);
  world.options.rate = 1;
  world.put(2);
  world.stored(1).handed_back = 2;
  world.start();
  world.loop.pass(500ms);
  world.broker.cut();
  EXPECT_EQ(world.finish().vanished, 0U);
  EXPECT_THAT(world.broker.ids("target"), ElementsAre("m1", "m2"));
}

TEST(RunReturns, P5_what_was_lost_before_its_first_copy_was_answered_is_sent_again) {
  LimitedWorld world(2);
  world.put(1);
  world.stored(0).handed_back = 1;
  world.start_and_wait_for_ever();
  for (int i = 0; i < 2; ++i) {
    world.broker.cut();
    world.loop.pass(1s);
  }
  EXPECT_THAT(world.broker.destroyed, ElementsAre("m1"));
  world.answer_with(Fate::unsent);
  static_cast<void>(world.finish());
  EXPECT_THAT(world.everywhere(), ElementsAre("m1"));
}

TEST(RunReturns, what_was_lost_counts_once_towards_a_limit) {
  LimitedWorld world(2);
  world.options.limit = 2;
  world.put(3);
  world.stored(0).handed_back = 2;
  world.start_and_wait_for_ever();
  world.broker.cut();
  world.loop.pass(1s);
  world.answer_with(Fate::unsent);
  EXPECT_EQ(world.finish().recovered.total(), 2U);
  EXPECT_EQ(world.broker.queues["dlq"].size(), 1U);
}

// Each loss is a return of what it has renewed and holds, too.
TEST(RunReturns, P5_what_it_has_renewed_outlives_lost_connections) {
  for (const bool dry : {false, true}) {
    const std::int64_t limit = dry ? 3 : 2;
    LimitedWorld world(limit);
    world.keep_all();
    world.options.dry = dry;
    world.put(3);
    for (std::size_t at = 0; at < 3; ++at)
      world.stored(at).handed_back = limit - 1;
    world.start();
    for (int i = 0; i < 5; ++i) {
      world.loop.pass(1s);
      world.broker.cut();
    }
    EXPECT_EQ(world.finish().vanished, 0U);
    EXPECT_THAT(world.broker.destroyed, IsEmpty()) << dry;
    EXPECT_THAT(world.everywhere(), ElementsAre("m1", "m2", "m3"));
  }
}

// It came when the run had ended already, and is not to be returned either.
TEST(RunReturns, P5_what_comes_while_the_consumer_is_drained_is_not_returned) {
  LimitedWorld world(2);
  world.keep_all();
  world.put(1);
  world.start();
  world.loop.pass(1s);
  world.put(1, "n");
  world.stored(0).handed_back = 2;
  world.broker.on_its_way = 1;
  world.current->stop();
  EXPECT_EQ(world.finish().renewed, 1U);
  EXPECT_THAT(world.broker.destroyed, IsEmpty());
  EXPECT_THAT(world.everywhere(), ElementsAre("m1", "n1"));
}

// An original came again at its limit, and waits for the answer to its first copy.
TEST(RunReturns, P5_does_not_end_while_such_a_message_waits_for_an_answer) {
  LimitedWorld world(2);
  world.put(1);
  world.stored(0).handed_back = 1;
  world.start_and_wait_for_ever();
  world.broker.cut();
  world.loop.pass(1s);
  world.current->stop();
  world.loop.pass(30s);
  world.answer_with(Fate::unsent);
  static_cast<void>(world.finish());
  EXPECT_THAT(world.everywhere(), ElementsAre("m1"));
}

// Its queue has ended it, and whether its copy is there is not known yet.
TEST(RunReturns, P5_does_not_end_while_it_has_the_only_copy_of_a_message) {
  for (const Fate fate : {Fate::unsent, Fate::confirmed}) {
    LimitedWorld world(2);
    world.put(1);
    world.stored(0).handed_back = 2;
    world.start_and_wait_for_ever();
    world.current->stop();
    world.broker.cut();
    world.loop.pass(30s);
    EXPECT_FALSE(world.outcome);
    world.answer_with(fate);
    EXPECT_EQ(world.finish().duplicates, 0U);
    EXPECT_THAT(world.everywhere(), ElementsAre("m1"));
  }
}

}  // namespace
}  // namespace holdfast::recovery::run_returns_test
