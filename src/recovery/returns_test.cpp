#include "recovery/returns.hpp"

#include <array>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/recovery_world.hpp"

namespace holdfast::recovery::returns_test {
namespace {

using namespace std::chrono_literals;
using ports::Fate;
using ports::QueueFacts;
using ::testing::AllOf;
using testing::counts;
using testing::dead;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using testing::World;

std::string refusal(const QueueFacts& facts, bool dry = false,
                    std::optional<StatedLimit> stated = {}) {
  const auto rules = ReturnRules::make(facts, {.queue = "dlq", .dry = dry, .stated = stated});
  return rules ? "" : rules.error().message;
}

// P5
TEST(ReturnRules, P5_refuse_what_no_run_can_do_without_losing_messages) {
  EXPECT_THAT(refusal(counts(0)), AllOf(HasSubstr("delivery limit of 0"), HasSubstr("destroyed")));
  EXPECT_THAT(refusal(counts(1)), HasSubstr("delivery limit of 1"));
  EXPECT_EQ(refusal(counts(2)), "");
  EXPECT_EQ(refusal(counts(std::nullopt)), "");
  auto elsewhere = counts(1);
  elsewhere.dead_letter = ports::Address{.exchange = "graveyard"};
  EXPECT_THAT(refusal(elsewhere), HasSubstr("moved to exchange \"graveyard\""));
  EXPECT_THAT(refusal({.kind = QueueFacts::Kind::stream, .limit_is_known = true}),
              HasSubstr("is a stream"));
  EXPECT_EQ(refusal({.kind = QueueFacts::Kind::plain, .limit_is_known = true}), "");
}

// P5
TEST(ReturnRules, P5_refuse_a_dry_run_that_could_lose_messages) {
  EXPECT_THAT(refusal(counts(2), true), AllOf(HasSubstr("dry run"), HasSubstr("--park")));
  EXPECT_EQ(refusal(counts(3), true), "");
}

TEST(ReturnRules, refuse_a_limit_that_is_not_known_unless_it_is_stated) {
  const QueueFacts unknown{.kind = QueueFacts::Kind::counts, .unknown_because = "no API"};
  EXPECT_THAT(refusal(unknown),
              AllOf(HasSubstr("no API"), HasSubstr("--management"), HasSubstr("--delivery-limit")));
  EXPECT_THAT(refusal({.unknown_because = "access refused"}), HasSubstr("the type of queue"));
  EXPECT_EQ(refusal(unknown, false, StatedLimit{}), "");
  EXPECT_EQ(refusal(unknown, false, StatedLimit{5}), "");
  EXPECT_THAT(refusal(unknown, false, StatedLimit{1}), HasSubstr("delivery limit of 1"));
  // The argument of the queue is known; a policy can only lower it.
  const QueueFacts argument{.kind = QueueFacts::Kind::counts, .return_limit = 3};
  const auto rules = ReturnRules::make(argument, {.queue = "dlq", .stated = StatedLimit{}});
  EXPECT_EQ(rules->limit(), 3);
  const auto lower = ReturnRules::make(argument, {.queue = "dlq", .stated = StatedLimit{2}});
  EXPECT_EQ(lower->limit(), 2);
  // What the broker has said is not overruled, and what it said in part is enough to refuse.
  EXPECT_EQ(ReturnRules::make(counts(5), {.queue = "dlq", .stated = StatedLimit{2}})->limit(), 5);
  EXPECT_THAT(refusal({.kind = QueueFacts::Kind::counts, .return_limit = 1}),
              HasSubstr("delivery limit of 1"));
}

TEST(ReturnRules, renew_without_a_limit_only_what_may_have_one_after_all) {
  const QueueFacts unknown{.kind = QueueFacts::Kind::counts};
  const auto stated = ReturnRules::make(unknown, {.queue = "dlq", .stated = StatedLimit{}}).value();
  EXPECT_FALSE(stated.is_to_be_renewed(2, 3));
  EXPECT_TRUE(stated.is_to_be_renewed(3, 3));
  const auto known = ReturnRules::make(counts(std::nullopt), {.queue = "dlq"}).value();
  EXPECT_FALSE(known.is_to_be_renewed(1000, 3));
}

TEST(ReturnRules, count_down_to_the_last_return) {
  const auto rules = ReturnRules::make(counts(5), {.queue = "dlq"}).value();
  EXPECT_FALSE(rules.is_near(3));
  EXPECT_TRUE(rules.is_near(4));
  EXPECT_FALSE(rules.is_last(4));
  EXPECT_TRUE(rules.is_last(5));
  EXPECT_FALSE(rules.is_to_be_renewed(2, 3));
  EXPECT_TRUE(rules.is_to_be_renewed(3, 3));
  EXPECT_TRUE(rules.is_to_be_renewed(4, 100));  // the limit does not wait for what was asked
  const auto low = ReturnRules::make(counts(2), {.queue = "dlq"}).value();
  EXPECT_FALSE(low.is_near(0));
  EXPECT_TRUE(low.is_near(1));
  EXPECT_FALSE(ReturnRules().is_last(1000));
  EXPECT_FALSE(ReturnRules().is_to_be_renewed(1000, 3));
}

TEST(ReturnRules, a_stated_limit_is_a_number_or_none) {
  EXPECT_EQ(parse_stated_limit("").value(), std::nullopt);
  EXPECT_EQ(parse_stated_limit("none").value(), StatedLimit{});
  EXPECT_EQ(parse_stated_limit("20").value(), StatedLimit{20});
  for (const char* wrong : {"-1", "two", "2x", "1.5"})
    EXPECT_FALSE(parse_stated_limit(wrong)) << wrong;
}

TEST(DeliveryWindow, doubles_with_what_was_dealt_with_and_closes_near_the_limit) {
  DeliveryWindow window(6, true);
  EXPECT_EQ(window.size(), 1U);
  EXPECT_TRUE(window.dealt_with(1));
  EXPECT_EQ(window.size(), 2U);
  EXPECT_FALSE(window.dealt_with(1));
  EXPECT_TRUE(window.dealt_with(1));
  EXPECT_TRUE(window.dealt_with(4));
  EXPECT_EQ(window.size(), 6U);
  EXPECT_FALSE(window.dealt_with(100));
  EXPECT_TRUE(window.delivered(true));
  EXPECT_EQ(window.size(), 1U);
  EXPECT_FALSE(window.dealt_with(10));  // one at a time, as long as such messages come
  EXPECT_FALSE(window.delivered(false));
  EXPECT_TRUE(window.dealt_with(1));
  EXPECT_TRUE(window.restart());
  EXPECT_EQ(window.size(), 1U);
  EXPECT_FALSE(window.delivered(true));
  EXPECT_FALSE(window.restart());
  EXPECT_TRUE(window.dealt_with(1));  // what was near the limit went with the connection
}

TEST(DeliveryWindow, is_whole_from_the_beginning_where_returns_do_no_harm) {
  DeliveryWindow window(100, false);
  EXPECT_EQ(window.size(), 100U);
  EXPECT_FALSE(window.delivered(true));
  EXPECT_FALSE(window.restart());
  EXPECT_EQ(window.size(), 100U);
}

// P5: runs that end again and again after a few messages, at every limit.
TEST(RunWithReturnLimit, P5_runs_that_end_early_destroy_nothing) {
  for (const std::int64_t limit : {2, 3, 5, 20}) {
    World world;
    world.broker.counts_returns = true;
    world.broker.facts = counts(limit);
    world.options.window = 2000;
    world.options.rate = 20;
    world.options.limits.total = 1s;
    world.put(300);
    for (int i = 0; i < 30; ++i) {
      world.options.rules.run = "run " + std::to_string(i);
      static_cast<void>(world.run());
      ASSERT_THAT(world.broker.destroyed, IsEmpty()) << "limit " << limit << ", run " << i;
    }
    EXPECT_EQ(world.everywhere().size(), 300U);
    EXPECT_GT(world.broker.ids("target").size(), 200U);  // and they get on
  }
}

// P5: the broker is short of memory for longer than people wait.
TEST(RunWithReturnLimit, P5_takes_nothing_while_the_broker_takes_no_messages) {
  World world;
  world.broker.counts_returns = true;
  world.broker.facts = counts(5);
  world.put(300);
  world.broker.fault = [](const ports::Outgoing&) -> std::optional<ports::Sent> {
    return ports::Sent{Fate::unsent, {ErrorCode::unavailable, "publish", "alarm"}};
  };
  for (int i = 0; i < 20; ++i) {
    const Summary summary = world.run();
    EXPECT_EQ(summary.ended, Ended::stall);
    EXPECT_EQ(summary.left, 300U);
    EXPECT_FALSE(summary.all_done());
  }
  for (const auto& stored : world.broker.queues["dlq"])
    ASSERT_EQ(stored.handed_back, 0);
}

// A history of runs, each with its own troubles, from a seed.
void history(unsigned seed) {
  std::mt19937 dice(seed);
  const auto roll = [&](int sides) {
    return static_cast<int>(dice() % static_cast<unsigned>(sides));
  };
  World world;
  const std::int64_t limit = std::vector<std::int64_t>{2, 3, 5, 20}[dice() % 4];
  world.broker.counts_returns = true;
  world.broker.facts = counts(limit);
  world.options.window = 1U << roll(8);
  world.options.rules.routes = {.map = {{"scan", {.routing_key = "target"}}}};
  constexpr std::size_t kMessages = 60;
  for (std::size_t i = 0; i < kMessages; ++i)
    world.broker.put("dlq", dead("m" + std::to_string(i), roll(4) == 0 ? "nobody" : "scan"));
  for (int number = 0; number < 12; ++number) {
    world.options.rules.run = "run " + std::to_string(number);
    world.options.dry = limit > 2 && roll(4) == 0;
    world.options.limits.stall = 2s;
    world.options.rate = roll(3) == 0 ? 5 + roll(50) : 0;
    world.options.limit = roll(3) == 0 ? std::optional<std::uint64_t>(1 + roll(20)) : std::nullopt;
    bool alarm = false;
    world.broker.fault = [&](const ports::Outgoing&) -> std::optional<ports::Sent> {
      if (alarm) return ports::Sent{Fate::unsent, {ErrorCode::unavailable, "publish", "alarm"}};
      return std::nullopt;
    };
    world.start();
    std::string trail;
    for (int step = 0; step < 200 && !world.outcome; ++step) {
      world.loop.pass(50ms);
      if (step > 60 || roll(6) != 0) continue;
      constexpr std::array kTroubles = {"stop", "alarm", "cut", "mute", "answer", "more", "-"};
      const std::string trouble = kTroubles.at(static_cast<std::size_t>(roll(7)));
      trail += ' ' + trouble;
      if (trouble == "stop") world.current->stop();
      if (trouble == "alarm") alarm = !alarm;
      if (trouble == "cut") world.broker.cut();
      if (trouble == "mute") world.broker.answers = false;
      if (trouble == "answer") world.broker.answer();
      if (trouble == "more") world.broker.on_its_way = static_cast<std::size_t>(roll(3));
    }
    world.broker.on_its_way = 0;
    world.broker.answer();
    alarm = false;  // whoever holds what must not be returned, waits for that
    const Summary& summary = world.finish();
    // A lost connection may have ended a message at its limit; the run has sent it all the same.
    const auto all = world.everywhere();
    ASSERT_EQ(std::set<std::string>(all.begin(), all.end()).size(), kMessages)
        << "seed " << seed << ", limit " << limit << ", run " << number << ":" << trail;
    ASSERT_EQ(summary.vanished, 0U) << "seed " << seed << ", run " << number << ":" << trail;
  }
}

TEST(RunWithReturnLimit, P5_no_end_of_a_run_destroys_a_message) {
  for (unsigned seed = 1; seed <= 100; ++seed) {
    history(seed);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// P5: what a run has renewed is returned like any other message when a connection is lost.
TEST(RunWithReturnLimit, P5_renews_what_is_kept_as_often_as_connections_are_lost) {
  for (const bool dry : {false, true}) {
    World world;
    world.broker.counts_returns = true;
    world.broker.facts = counts(3);
    world.options.dry = dry;
    world.options.rules.routes = {.map = {{"other", {.routing_key = "target"}}}};
    world.put(5);
    world.start();
    for (int i = 0; i < 8; ++i) {
      world.loop.pass(1s);
      world.broker.cut();
    }
    const Summary& summary = world.finish();
    EXPECT_THAT(world.broker.destroyed, IsEmpty());
    EXPECT_EQ(summary.left, 5U);
    EXPECT_EQ(summary.skipped.total(), dry ? 0U : 5U);  // whoever looks after a cut has seen copies
  }
}

// A message that came with its last return, and whose queue does not take a new copy.
TEST(RunWithReturnLimit, P5_does_not_end_while_a_message_is_at_its_limit_in_hand) {
  World world;
  world.broker.counts_returns = true;
  world.broker.facts = counts(2);
  world.options.rules.routes = {.map = {{"other", {.routing_key = "target"}}}};
  world.put(1);
  world.broker.queues["dlq"].front().handed_back = 2;
  bool is_full = true;
  world.broker.fault = [&](const ports::Outgoing& out) -> std::optional<ports::Sent> {
    if (out.to.routing_key != "dlq" || !is_full) return std::nullopt;
    return ports::Sent{Fate::refused, {ErrorCode::exhausted, "publish", "the queue is full"}};
  };
  world.start();
  world.loop.pass(1s);
  world.current->stop();
  world.loop.pass(60s);
  EXPECT_FALSE(world.outcome);
  EXPECT_THAT(world.broker.destroyed, IsEmpty());
  EXPECT_GE(world.seen.count(Warning::Kind::queue), 1U);
  is_full = false;
  const Summary& summary = world.finish();
  EXPECT_EQ(summary.renewed, 1U);
  EXPECT_THAT(world.broker.ids("dlq"), ElementsAre("m1"));
  EXPECT_EQ(world.broker.queues["dlq"].front().handed_back, 0);
}

// Its queue has destroyed it with the connection; it is in hand, and nowhere else.
TEST(RunWithReturnLimit, P5_a_message_that_a_lost_connection_has_ended_is_sent_all_the_same) {
  World world;
  world.broker.counts_returns = true;
  world.broker.facts = counts(2);
  world.put(3);
  world.broker.queues["dlq"].front().handed_back = 2;
  bool away = false;
  world.broker.fault = [&](const ports::Outgoing& out) -> std::optional<ports::Sent> {
    if (!away || !out.message.message_id) return std::nullopt;
    return ports::Sent{Fate::unsent, {ErrorCode::unavailable, "publish", "away"}};
  };
  away = true;
  world.start();
  world.loop.pass(100ms);
  world.broker.cut();
  world.loop.pass(100ms);
  EXPECT_THAT(world.broker.destroyed, ElementsAre("m1"));
  away = false;
  const Summary& summary = world.finish();
  EXPECT_THAT(world.broker.ids("target"), ::testing::UnorderedElementsAre("m1", "m2", "m3"));
  EXPECT_EQ(summary.recovered.total(), 3U);
  EXPECT_EQ(summary.vanished, 0U);
}

TEST(RunWithReturnLimit, takes_more_at_a_time_the_more_was_dealt_with) {
  World world;
  world.broker.counts_returns = true;
  world.broker.facts = counts(5);
  world.options.window = 16;
  world.put(100);
  static_cast<void>(world.run());
  EXPECT_THAT(world.broker.widths, ElementsAre(2, 4, 8, 16));
  EXPECT_EQ(world.broker.ids("target").size(), 100U);
}

TEST(RunWithReturnLimit, takes_one_at_a_time_what_is_near_its_limit) {
  World world;
  world.broker.counts_returns = true;
  world.broker.facts = counts(2);
  world.options.window = 64;
  world.put(50);
  for (auto& stored : world.broker.queues["dlq"])
    stored.handed_back = 1;
  static_cast<void>(world.run());
  EXPECT_THAT(world.broker.widths, Each(Le(1U)));
  EXPECT_EQ(world.broker.most_in_flight, 1U);
  EXPECT_EQ(world.broker.ids("target").size(), 50U);
}

}  // namespace
}  // namespace holdfast::recovery::returns_test
