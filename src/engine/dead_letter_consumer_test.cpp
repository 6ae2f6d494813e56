#include "engine/dead_letter_consumer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/engine_world.hpp"

namespace holdfast::engine::dead_letter_consumer_test {
namespace {

using core::State;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::failing;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::succeeding;
using testing::TestHandler;
using testing::World;
using namespace std::chrono_literals;
using Rule = DeadLetters::Rule;

// As the relayer has it: three attempts, then it is a dead letter.
core::TaskPolicy three_attempts() {
  return {.attempts = 3, .wait = retry::fixed(1s)};
}

// A world whose queue "q" the store carries, and whose dead letters are looked after.
struct DeadWorld : World {
  void start(DeadLetters rule, std::shared_ptr<ports::Handler> handler,
             core::TaskPolicy policy = three_attempts()) {
    rule.queue = "q";
    engine->consume_dead_letters(std::move(rule));
    run(std::move(handler), std::move(policy));
  }
  [[nodiscard]] std::vector<std::string> said(std::string_view event) const {
    std::vector<std::string> messages;
    for (const auto& entry : log.of(event))
      messages.push_back(entry.message);
    return messages;
  }
  [[nodiscard]] std::string error(const TaskId& id) const {
    const auto& failure = record(id).task.last_failure;
    return failure ? failure->message : "";
  }
};

TEST(DeadLetterConsumer, C3_1_starts_together_with_the_main_consumer_and_polls_every_10_s) {
  DeadWorld world;
  world.start({}, succeeding());
  EXPECT_THAT(world.said("engine.consumers"),
              ElementsAre("Starting Main Consumer and DLQ Consumer together"));
  const auto started = world.log.of("dead_letters.started");
  ASSERT_EQ(started.size(), 1U);
  EXPECT_EQ(started[0].message, "DLQ Consumer started");
  EXPECT_EQ(started[0].fields.at("queue"), "q");
  EXPECT_EQ(started[0].fields.at("poll_interval_ms"), "10000");
  EXPECT_EQ(started[0].fields.at("wait_ms"), "10000") << "C3.5";
  EXPECT_EQ(started[0].fields.at("batch"), "10") << "C3.5";
  int polls = 0;
  world.lane.seen = [&](const ports::Request& request) {
    polls += std::holds_alternative<ports::Asked<ports::Count>>(request) ? 1 : 0;
  };
  world.loop.pass(60s);
  EXPECT_EQ(polls, 6) << "C3.5";
}

TEST(DeadLetterConsumer, C3_2_a_dead_letter_is_failed_with_what_it_died_of) {
  DeadWorld world;
  world.start({}, failing({.message = "network timeout", .kind = FailureKind::timeout}));
  const TaskId id = world.submit();
  world.loop.pass(3s);
  ASSERT_EQ(world.state(id), State::dead);
  world.loop.pass(10s);
  EXPECT_EQ(world.state(id), State::failed);
  EXPECT_EQ(world.error(id), "[DLQ] Message moved to DLQ after 3 retries: network timeout");
  EXPECT_EQ(world.record(id).attempts.size(), 4U) << "three attempts, and the note";
  EXPECT_THAT(world.said("dead_letters.received"), ElementsAre("Received 1 DLQ messages"));
  EXPECT_THAT(world.said("dead_letters.processed"),
              ElementsAre("DLQ message processed: " + id.text() + " -> failed"));
  EXPECT_EQ(world.engine->stats().count(core::Event::close), 1U);
  world.loop.pass(1min);
  EXPECT_EQ(world.said("dead_letters.processed").size(), 1U) << "once";
}

TEST(DeadLetterConsumer, C3_3_one_that_asks_for_it_is_brought_back_once_and_then_failed) {  // N3
  DeadWorld world;
  const auto handler = failing({.message = "no"});
  world.start({.rule = Rule::redrive}, handler);
  const TaskId id = world.submit({.retry_on_failure = true});
  world.loop.pass(12s);
  EXPECT_EQ(world.record(id).task.spent.replays, 1);
  EXPECT_THAT(world.said("dead_letters.processed"),
              ElementsAre("DLQ message processed: " + id.text() + " -> redriven"));
  world.loop.pass(20s);
  EXPECT_EQ(handler->started, 6U);
  EXPECT_EQ(world.state(id), State::failed);
  EXPECT_EQ(world.error(id), "[DLQ] Message moved to DLQ after 3 retries: no");
  EXPECT_THAT(world.said("dead_letters.processed"),
              ElementsAre("DLQ message processed: " + id.text() + " -> redriven",
                          "DLQ message processed: " + id.text() + " -> failed"));
}

TEST(DeadLetterConsumer, C3_3_one_that_is_brought_back_may_succeed) {
  DeadWorld world;
  int runs = 0;
  world.start({.rule = Rule::redrive},
              std::make_shared<TestHandler>([&](const std::shared_ptr<ports::Run>& run) {
                if (!run->begin()) return;
                if (++runs > 3) return run->finish(core::Success{"at last"});
                run->finish(Failure{.message = "no"});
              }));
  const TaskId id = world.submit({.retry_on_failure = true});
  world.loop.pass(1min);
  EXPECT_EQ(world.state(id), State::succeeded);
}

TEST(DeadLetterConsumer, C3_3_without_rounds_it_is_said_that_the_retry_is_disabled) {
  DeadWorld world;
  const auto handler = failing({.message = "no"});
  world.start({.rule = Rule::redrive, .redrive_rounds = 0}, handler);
  const TaskId id = world.submit({.retry_on_failure = true});
  world.loop.pass(20s);
  EXPECT_EQ(world.state(id), State::failed);
  EXPECT_EQ(handler->started, 3U);
  const auto warned = world.log.of("dead_letters.no_retry");
  ASSERT_EQ(warned.size(), 1U);
  EXPECT_EQ(warned[0].level, Level::warning);
  EXPECT_EQ(warned[0].message, "Retry requested but disabled");
  EXPECT_EQ(warned[0].fields.at("task"), id.text());
}

TEST(DeadLetterConsumer, C3_3_one_that_does_not_ask_for_it_is_failed_at_once) {
  DeadWorld world;
  const auto handler = failing({.message = "no"});
  world.start({.rule = Rule::redrive}, handler);
  const TaskId id = world.submit();
  world.loop.pass(20s);
  EXPECT_EQ(world.state(id), State::failed);
  EXPECT_EQ(handler->started, 3U);
  EXPECT_THAT(world.log.of("dead_letters.no_retry"), IsEmpty());
}

TEST(DeadLetterConsumer, with_fail_none_is_brought_back_whatever_it_asks_for) {
  DeadWorld world;
  const auto handler = failing({.message = "no"});
  world.start({}, handler);
  const TaskId id = world.submit({.retry_on_failure = true});
  world.loop.pass(1min);
  EXPECT_EQ(world.state(id), State::failed);
  EXPECT_EQ(handler->started, 3U);
}

// N3: the limit of its policy holds for whoever brings it back.
TEST(DeadLetterConsumer, N3_what_may_not_be_replayed_is_failed) {
  DeadWorld world;
  core::TaskPolicy policy = three_attempts();
  policy.replays = 0;
  world.start({.rule = Rule::redrive}, failing({.message = "no"}), policy);
  const TaskId id = world.submit({.retry_on_failure = true});
  world.loop.pass(20s);
  EXPECT_EQ(world.state(id), State::failed);
  const auto warned = world.log.of("dead_letters.no_retry");
  ASSERT_EQ(warned.size(), 1U);
  EXPECT_EQ(warned[0].message, "Retry requested but refused");
  EXPECT_THAT(warned[0].fields.at("error"), HasSubstr("its policy allows 0"));
}

TEST(DeadLetterConsumer, T5_a_queue_of_which_nothing_is_said_keeps_its_dead_letters) {
  DeadWorld world;
  world.engine->consume_dead_letters({.queue = "another"});
  world.run(failing({.message = "no"}), three_attempts());
  const TaskId id = world.submit({.retry_on_failure = true});
  world.loop.pass(1h);
  EXPECT_EQ(world.state(id), State::dead);
}

// C5.1
TEST(DeadLetterConsumer, C5_1_every_dead_letter_is_processed_within_two_polls) {
  DeadWorld world;
  world.start({}, failing({.message = "no"}), {.attempts = 1});
  for (int i = 0; i < 40; ++i) {
    world.loop.pass(700ms);
    const TaskId id = world.submit();
    ASSERT_EQ(world.state(id), State::dead);
    const WallTime died = world.record(id).changed;
    world.loop.pass(20s);
    ASSERT_EQ(world.state(id), State::failed);
    EXPECT_LT(world.record(id).changed - died, 20s);
  }
}

TEST(DeadLetterConsumer, C3_5_looks_at_ten_at_a_time_until_none_is_left) {
  DeadWorld world;
  const auto handler = failing({.message = "no"});
  world.start({}, handler, {.attempts = 1});
  world.engine->submit(std::vector<ports::NewTask>(25, {.type = "t", .queue = "q"}),
                       [](const auto&) {});
  world.loop.pass(10s);
  EXPECT_THAT(world.said("dead_letters.received"),
              ElementsAre("Received 10 DLQ messages", "Received 10 DLQ messages",
                          "Received 5 DLQ messages"));
  EXPECT_EQ(world.engine->stats().count(core::Event::close), 25U);
}

TEST(DeadLetterConsumer, leaves_the_dead_letters_of_other_queues_alone) {
  DeadWorld world;
  world.engine->serve({.name = "other"});
  world.start({}, failing({.message = "no"}), {.attempts = 1});
  const TaskId other = world.submit({.queue = "other"});
  const TaskId own = world.submit();
  world.loop.pass(1min);
  EXPECT_EQ(world.state(other), State::dead);
  EXPECT_EQ(world.state(own), State::failed);
}

TEST(DeadLetterConsumer, a_paused_queue_does_not_stop_it) {
  DeadWorld world;
  world.start({.rule = Rule::redrive}, failing({.message = "no"}), {.attempts = 1});
  const TaskId failed = world.submit();
  const TaskId redriven = world.submit({.retry_on_failure = true});
  world.engine->configure({.queue = "q", .paused = true}, [](const auto&) {});
  world.loop.pass(20s);
  EXPECT_EQ(world.state(failed), State::failed);
  EXPECT_EQ(world.state(redriven), State::pending);
}

TEST(DeadLetterConsumer, C3_6_stops_with_the_engine_and_says_so) {
  DeadWorld world;
  world.start({}, failing({.message = "no"}), {.attempts = 1});
  const TaskId id = world.submit();
  bool stopped = false;
  world.engine->shut_down([&](const auto& report) {
    stopped = true;
    EXPECT_EQ(report.finished, 0U) << "what it does is no attempt";
  });
  world.loop.settle();
  EXPECT_TRUE(stopped);
  EXPECT_THAT(world.said("dead_letters.stopped"), ElementsAre("DLQ Consumer stopped"));
  world.loop.pass(1h);
  EXPECT_EQ(world.state(id), State::dead) << "polling has ended";
}

TEST(DeadLetterConsumer, C3_6_what_is_under_way_at_the_stop_comes_to_its_end) {
  DeadWorld world;
  world.start({}, failing({.message = "no"}), {.attempts = 1});
  const TaskId id = world.submit();
  world.loop.pass(9s);
  world.lane.takes = 500ms;
  world.loop.pass(2200ms);  // counted and listed; it is being looked at
  ASSERT_EQ(world.state(id), State::dead);
  bool stopped = false;
  world.engine->shut_down([&](const auto&) { stopped = true; });
  world.loop.pass(3s);
  EXPECT_TRUE(stopped);
  EXPECT_EQ(world.state(id), State::failed);
  EXPECT_THAT(world.said("dead_letters.processed"), Not(IsEmpty()));
}

TEST(DeadLetterConsumer, C3_6_a_store_that_does_not_answer_does_not_keep_it_from_stopping) {
  DeadWorld world;
  world.start({}, failing({.message = "no"}), {.attempts = 1});
  world.submit();
  world.lane.takes = 24h;
  world.loop.pass(11s);
  world.engine->shut_down([](const auto&) {});
  world.loop.pass(1min);
  EXPECT_THAT(world.said("dead_letters.stopped"), ElementsAre("DLQ Consumer stopped"));
  world.loop.pass(48h);  // what is answered at last does no harm
}

TEST(DeadLetterConsumer, C6_2_errors_are_told_in_full_and_it_is_tried_again_at_the_next_poll) {
  DeadWorld world;
  world.start({}, failing({.message = "no"}), {.attempts = 1});
  const TaskId id = world.submit();
  world.lane.fault = [](const ports::Request& request) -> std::optional<Error> {
    if (!std::holds_alternative<ports::Asked<ports::Change>>(request)) return std::nullopt;
    return Error{ErrorCode::unavailable, "store", "disk on holiday"};
  };
  world.loop.pass(10s);
  const auto errors = world.log.of("dead_letters.failed");
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].level, Level::error);
  EXPECT_EQ(errors[0].fields.at("queue"), "q");
  EXPECT_EQ(errors[0].fields.at("task"), id.text());
  EXPECT_EQ(errors[0].fields.at("operation"), "change");
  EXPECT_EQ(errors[0].fields.at("error"), "store: disk on holiday");
  world.lane.fault = {};
  world.loop.pass(10s);
  EXPECT_EQ(world.state(id), State::failed);
}

TEST(DeadLetterConsumer, C6_2_a_store_that_cannot_be_looked_at_is_told_of) {
  for (const bool counts : {true, false}) {
    DeadWorld world;
    world.start({}, failing({.message = "no"}), {.attempts = 1});
    const TaskId id = world.submit();
    world.lane.fault = [&](const ports::Request& request) -> std::optional<Error> {
      const bool is_meant = counts ? std::holds_alternative<ports::Asked<ports::Count>>(request)
                                   : std::holds_alternative<ports::Asked<ports::List>>(request);
      if (!is_meant) return std::nullopt;
      return Error{ErrorCode::unavailable, "store", "away"};
    };
    world.loop.pass(10s);
    EXPECT_THAT(world.said("dead_letters.store"),
                ElementsAre("DLQ poll failed: tried again at the next poll"));
    world.lane.fault = {};
    world.loop.pass(10s);
    EXPECT_EQ(world.state(id), State::failed);
  }
}

TEST(DeadLetterConsumer, what_a_person_brings_back_meanwhile_is_left_alone) {
  DeadWorld world;
  world.start({}, failing({.message = "no"}), {.attempts = 1});
  const TaskId id = world.submit();
  bool replayed = false;
  world.lane.seen = [&](const ports::Request& request) {
    if (!std::holds_alternative<ports::Asked<ports::Change>>(request)) return;
    if (std::exchange(replayed, true)) return;
    world.engine->configure({.queue = "q", .paused = true}, [](const auto&) {});
    const core::Task& task = world.record(id).task;
    const auto brought_back = core::replay(task, {}, {}, world.clock.wall_now()).value();
    ports::Change change;
    change.changes.push_back({.id = id, .token = task.token, .transition = brought_back});
    ASSERT_TRUE(ports::ask(world.store, std::move(change)));
  };
  world.loop.pass(10s);
  EXPECT_TRUE(replayed);
  EXPECT_EQ(world.state(id), State::pending);
  EXPECT_THAT(world.said("dead_letters.processed"), IsEmpty());
}

TEST(DeadLetterConsumer, a_task_that_was_purged_meanwhile_is_no_error) {
  DeadWorld world;
  world.start({}, failing({.message = "no"}), {.attempts = 1});
  world.submit();
  world.lane.seen = [&](const ports::Request& request) {
    if (!std::holds_alternative<ports::Asked<ports::Change>>(request)) return;
    ASSERT_TRUE(ports::ask(world.store,
                           ports::Purge{.state = State::dead, .ended_before = WallTime::max()}));
  };
  world.loop.pass(20s);
  EXPECT_TRUE(world.store.tasks().empty());
  EXPECT_THAT(world.log.of("dead_letters.failed"), IsEmpty());
}

TEST(DeadLetterConsumer, another_rule_takes_its_place_and_none_keeps_them) {
  DeadWorld world;
  world.start({.poll = 1h}, failing({.message = "no"}), {.attempts = 1});
  const TaskId first = world.submit();
  world.engine->consume_dead_letters({.queue = "q", .poll = 5s});
  world.loop.pass(5s);
  EXPECT_EQ(world.state(first), State::failed);
  EXPECT_EQ(world.said("dead_letters.stopped").size(), 1U);
  EXPECT_EQ(world.said("dead_letters.started").size(), 2U);
  world.engine->keep_dead_letters("q");
  world.engine->keep_dead_letters("q");
  const TaskId second = world.submit();
  world.loop.pass(1h);
  EXPECT_EQ(world.state(second), State::dead);
  EXPECT_EQ(world.said("dead_letters.stopped").size(), 2U);
}

}  // namespace
}  // namespace holdfast::engine::dead_letter_consumer_test
