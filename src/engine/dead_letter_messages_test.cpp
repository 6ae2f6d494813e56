// The dead-letter consumer of a queue that a broker carries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/carried_message.hpp"
#include "engine/dead_letter_consumer.hpp"
#include "support/carried_world.hpp"

namespace holdfast::engine::dead_letter_messages_test {
namespace {

using core::State;
using ports::Fate;
using testing::CarriedWorld;
using ::testing::ElementsAre;
using testing::failing;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::succeeding;
using testing::TestHandler;
using namespace std::chrono_literals;
using Rule = DeadLetters::Rule;

core::TaskPolicy three_attempts() {
  return {.attempts = 3, .wait = retry::fixed(1s)};
}

struct DeadWorld : CarriedWorld {
  void consume(DeadLetters rule = {}) {
    rule.queue = "q";
    engine->consume_dead_letters(std::move(rule));
    loop.settle();
  }
  [[nodiscard]] std::vector<std::string> said(std::string_view event) const {
    std::vector<std::string> messages;
    for (const auto& entry : log.of(event))
      messages.push_back(entry.message);
    return messages;
  }
  [[nodiscard]] std::string error(const TaskId& id) const {
    return record(id).task.last_failure.value_or(Failure()).message;
  }
  // One that is dead, with its message in the dead-letter queue.
  TaskId die(bool retry_on_failure = false) {
    const TaskId id = submit({.payload = "p", .retry_on_failure = retry_on_failure});
    loop.pass(5s);
    EXPECT_EQ(state(id), State::dead);
    return id;
  }
  // Another message like the one that lies in a queue.
  [[nodiscard]] ports::Message message_in(const std::string& queue) const {
    return queues->ready.at(queue).at(0).message;
  }
  void put_dead(ports::Message message) {
    queues->put("q.dlq", std::move(message));
    broker->deliver();
    loop.settle();
  }
  void pause_queue() {
    engine->configure({.queue = "q", .paused = true}, [](const auto&) {});
    loop.settle();
  }
};

TEST(DeadLetterMessages, C3_2_a_message_has_its_record_failed_and_is_deleted) {
  DeadWorld world;
  world.start(failing({.message = "timeout"}), three_attempts());
  world.consume();
  const TaskId id = world.submit({.payload = "p"});
  world.loop.pass(5s);
  EXPECT_EQ(world.state(id), State::failed);
  EXPECT_EQ(world.error(id), "[DLQ] Message moved to DLQ after 3 retries: timeout");
  EXPECT_EQ(world.queues->depth("q.dlq"), 0U);
  EXPECT_EQ(world.broker->unsettled(), 0U);
  EXPECT_THAT(world.said("dead_letters.received"), ElementsAre("Received 1 DLQ messages"));
  EXPECT_THAT(world.said("dead_letters.processed"),
              ElementsAre("DLQ message processed: " + id.text() + " -> failed"));
}

TEST(DeadLetterMessages, what_was_given_up_is_never_published_again) {
  DeadWorld world;
  world.start(failing({.message = "no"}), three_attempts());
  world.consume();
  const TaskId id = world.submit({.payload = "p"});
  world.loop.pass(5s);
  ASSERT_EQ(world.state(id), State::failed);
  const auto published = world.queues->published;
  world.loop.pass(3h);  // sweeps, and looks for what was lost
  world.live_again(failing({.message = "no"}), three_attempts());
  world.consume();
  world.loop.pass(3h);
  EXPECT_EQ(world.queues->published, published);
  EXPECT_EQ(world.queues->depth("q.dlq"), 0U);
  EXPECT_EQ(world.queues->depth("q"), 0U);
}

TEST(DeadLetterMessages, C3_3_one_that_asks_for_it_goes_back_to_its_queue) {  // N3
  DeadWorld world;
  const auto handler = failing({.message = "no"});
  world.start(handler, three_attempts());
  world.consume({.rule = Rule::redrive});
  const TaskId id = world.submit({.payload = "p", .retry_on_failure = true});
  world.loop.pass(1min);
  EXPECT_EQ(handler->started, 6U);
  EXPECT_EQ(world.state(id), State::failed);
  EXPECT_EQ(world.record(id).task.spent.replays, 1);
  EXPECT_THAT(world.said("dead_letters.processed"),
              ElementsAre("DLQ message processed: " + id.text() + " -> redriven",
                          "DLQ message processed: " + id.text() + " -> failed"));
  EXPECT_EQ(world.queues->depth("q.dlq"), 0U);
}

// C2.2
TEST(DeadLetterMessages, C2_2_retry_on_failure_goes_with_the_message_and_comes_back_with_it) {
  DeadWorld world;
  world.start(failing({.message = "no"}), {.attempts = 1});
  world.die(true);
  const ports::Message dead = world.message_in("q.dlq");
  EXPECT_EQ(ports::text_of(dead.headers, kRetryOnFailureHeader), "true");
  ports::Delivery delivery;
  delivery.message = dead;
  EXPECT_TRUE(adopted(delivery, "q", "t").retry_on_failure);
  world.queues->ready["q.dlq"].clear();
  world.die(false);
  EXPECT_FALSE(ports::find_field(world.message_in("q.dlq").headers, kRetryOnFailureHeader));
}

TEST(DeadLetterMessages, C2_2_foreign_messages_may_ask_in_any_way) {
  const auto asks = [](ports::Field value) {
    ports::Message message;
    ports::set_field(message.headers, kRetryOnFailureHeader, std::move(value));
    return asks_for_retry(message);
  };
  EXPECT_TRUE(asks(ports::Field::Value(true)));
  EXPECT_TRUE(asks(std::string("true")));
  EXPECT_TRUE(asks(std::string("1")));
  EXPECT_TRUE(asks(std::int64_t{1}));
  EXPECT_FALSE(asks(ports::Field::Value(false)));
  EXPECT_FALSE(asks(std::string("no")));
  EXPECT_FALSE(asks(std::int64_t{0}));
  EXPECT_FALSE(asks_for_retry({}));
}

// C3.4
TEST(DeadLetterMessages, C3_4_a_message_of_no_record_is_deleted_without_an_error) {
  DeadWorld world;
  world.start(failing({.message = "no"}), {.attempts = 1});
  const TaskId id = world.die();
  ports::Message message = world.message_in("q.dlq");
  const std::string unknown = "01912d68-783e-7a03-8467-5661c1243ad4";
  ports::set_field(message.headers, kTaskHeader, unknown);
  world.consume();
  world.put_dead(message);
  EXPECT_EQ(world.queues->depth("q.dlq"), 0U);
  EXPECT_EQ(world.broker->unsettled(), 0U);
  const auto told = world.log.of("dead_letters.not_found");
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].message, "Transaction not found: " + unknown + ", deleting DLQ message");
  EXPECT_LT(told[0].level, Level::error);
  EXPECT_EQ(world.state(id), State::failed);
}

TEST(DeadLetterMessages, one_that_names_no_task_is_kept_and_told_of_once) {
  DeadWorld world;
  world.start(failing({.message = "no"}), {.attempts = 1});
  world.consume({.batch = 2});
  for (int i = 0; i < 5; ++i)
    world.put_dead({.body = "whose?", .headers = {}});
  const TaskId id = world.submit({.payload = "p"});
  world.loop.pass(1min);
  EXPECT_EQ(world.state(id), State::failed) << "they are in nobody's way";
  EXPECT_EQ(world.said("dead_letters.kept").size(), 1U);
  bool stopped = false;
  world.engine->shut_down([&](const auto&) { stopped = true; });
  world.loop.pass(1min);
  EXPECT_TRUE(stopped);
  EXPECT_EQ(world.queues->depth("q.dlq"), 5U) << "handed back, none deleted";
}

TEST(DeadLetterMessages, one_of_a_queue_that_keeps_its_dead_letters_is_kept) {
  DeadWorld world;
  world.engine->serve({.name = "other"});
  world.start(failing({.message = "no"}), {.attempts = 1});
  world.die();
  ports::Message message = world.message_in("q.dlq");
  const TaskId other = world.submit({.queue = "other"});
  ASSERT_EQ(world.state(other), State::dead);
  world.consume();
  ports::set_field(message.headers, kTaskHeader, other.text());
  world.put_dead(message);
  EXPECT_EQ(world.state(other), State::dead);
  EXPECT_EQ(world.broker->unsettled(), 1U);
  // Of one that does not keep them it is dealt with, wherever its message lies.
  world.engine->consume_dead_letters({.queue = "other", .poll = 1h});
  world.put_dead(message);
  EXPECT_EQ(world.state(other), State::failed);
}

TEST(DeadLetterMessages, C3_7_a_duplicate_is_deleted_and_nothing_is_updated) {
  DeadWorld world;
  world.start(failing({.message = "no"}), {.attempts = 1});
  const TaskId id = world.die();
  const ports::Message twin = world.message_in("q.dlq");
  world.consume();
  ASSERT_EQ(world.state(id), State::failed);
  const auto before = world.record(id).task;
  world.put_dead(twin);
  EXPECT_EQ(world.record(id).task, before);
  EXPECT_THAT(
      world.said("dead_letters.duplicate"),
      ElementsAre("Transaction already failed: " + id.text() + ", deleting duplicate DLQ message"));
  EXPECT_EQ(world.broker->unsettled(), 0U);
  EXPECT_EQ(world.queues->depth("q.dlq"), 0U);
}

// The record is changed first: what comes between that and the acknowledgement ends as C3.7.
TEST(DeadLetterMessages, C3_7_what_was_done_and_not_answered_is_a_duplicate_at_the_next_poll) {
  DeadWorld world;
  world.start(failing({.message = "no"}), {.attempts = 1});
  const TaskId id = world.die();
  world.lane.carries_out_faults = true;
  world.lane.fault = [](const ports::Request& request) -> std::optional<Error> {
    if (!std::holds_alternative<ports::Asked<ports::Change>>(request)) return std::nullopt;
    return Error{ErrorCode::unavailable, "store", "the line broke"};
  };
  world.consume();
  EXPECT_EQ(world.state(id), State::failed);
  EXPECT_EQ(world.broker->unsettled(), 1U) << "not acknowledged";
  world.lane.fault = {};
  world.loop.pass(10s);
  EXPECT_EQ(world.broker->unsettled(), 0U);
  EXPECT_EQ(world.said("dead_letters.duplicate").size(), 1U);
  EXPECT_THAT(world.said("dead_letters.processed"), IsEmpty());
}

TEST(DeadLetterMessages, of_a_task_that_has_ended_otherwise_it_is_deleted) {
  DeadWorld world;
  world.start(failing({.message = "no"}), {.attempts = 1});
  const TaskId id = world.die();
  world.engine->discard(id, [](const auto&) {});
  world.loop.settle();
  ASSERT_EQ(world.state(id), State::canceled);
  world.consume();
  EXPECT_THAT(world.said("dead_letters.ended"),
              ElementsAre("Transaction already canceled: " + id.text() + ", deleting DLQ message"));
  EXPECT_EQ(world.state(id), State::canceled);
  EXPECT_EQ(world.queues->depth("q.dlq"), 0U);
}

TEST(DeadLetterMessages, of_a_task_that_was_brought_back_it_is_old_and_deleted) {
  DeadWorld world;
  const auto handler = std::make_shared<TestHandler>();
  world.start(handler, {.attempts = 1});
  const TaskId id = world.submit({.payload = "p"});
  ASSERT_TRUE(handler->runs.at(0)->begin());
  handler->runs.at(0)->finish(Failure{.message = "no"});
  world.loop.pass(1s);
  ASSERT_EQ(world.queues->depth("q.dlq"), 1U);
  world.engine->replay(id, {}, [](const auto&) {});
  world.loop.settle();
  ASSERT_EQ(world.state(id), State::running);
  world.consume();
  EXPECT_THAT(world.said("dead_letters.stale"),
              ElementsAre("Transaction brought back: " + id.text() + ", deleting old DLQ message"));
  EXPECT_EQ(world.queues->depth("q.dlq"), 0U);
  ASSERT_TRUE(handler->runs.at(1)->begin());
  handler->runs.at(1)->finish(core::Success{"done"});
  world.loop.settle();
  EXPECT_EQ(world.state(id), State::succeeded);
}

TEST(DeadLetterMessages, of_a_running_task_it_waits_until_that_has_ended) {
  DeadWorld world;
  const auto handler = std::make_shared<TestHandler>();
  world.start(handler);
  const TaskId id = world.submit({.payload = "p"});
  ASSERT_TRUE(handler->runs.at(0)->begin());
  world.consume();
  ports::Message message = message_for(world.record(id), nullptr);
  world.put_dead(message);
  world.loop.pass(25s);
  EXPECT_EQ(world.state(id), State::running);
  EXPECT_EQ(world.broker->unsettled(), 2U);
  handler->runs.at(0)->finish(core::Success{"done"});
  world.loop.pass(10s);
  EXPECT_EQ(world.broker->unsettled(), 0U);
  EXPECT_EQ(world.said("dead_letters.ended").size(), 1U);
}

// What a broker moves by itself: a limit of deliveries, a time to live.
TEST(DeadLetterMessages, a_message_that_the_broker_gave_up_has_its_waiting_task_failed) {
  DeadWorld world;
  world.start(succeeding());
  world.pause_queue();
  const TaskId id = world.submit({.payload = "p", .retry_on_failure = true});
  ASSERT_EQ(world.queues->depth("q"), 1U);
  ports::Message message = world.message_in("q");
  world.queues->ready["q"].clear();
  ports::set_field(message.headers, "x-delivery-count", std::int64_t{3});
  world.consume();
  world.put_dead(message);
  EXPECT_EQ(world.state(id), State::failed);
  EXPECT_EQ(world.error(id), "[DLQ] Message moved to DLQ after 3 retries");
  EXPECT_EQ(world.queues->depth("q.dlq"), 0U);
}

TEST(DeadLetterMessages, a_message_that_the_broker_gave_up_is_brought_back_with_its_lineage) {
  DeadWorld world;
  world.start(succeeding());
  world.pause_queue();
  const TaskId id = world.submit({.payload = "p", .retry_on_failure = true});
  ports::Message message = world.message_in("q");
  world.queues->ready["q"].clear();
  world.consume({.rule = Rule::redrive});
  world.put_dead(message);
  EXPECT_EQ(world.state(id), State::pending);
  EXPECT_EQ(world.record(id).task.spent.replays, 1);
  EXPECT_EQ(world.queues->depth("q"), 1U) << "it has a message again";
  EXPECT_EQ(world.queues->depth("q.dlq"), 0U);
  world.engine->configure({.queue = "q", .paused = false}, [](const auto&) {});
  world.loop.settle();
  EXPECT_EQ(world.state(id), State::succeeded);
}

TEST(DeadLetterMessages, one_from_before_its_last_attempt_is_old) {
  DeadWorld world;
  const auto handler = std::make_shared<TestHandler>();
  world.start(handler, {.attempts = 3, .wait = retry::fixed(1h)});
  const TaskId id = world.submit({.payload = "p"});
  const ports::Message first = message_for(world.record(id), nullptr);
  ASSERT_TRUE(handler->runs.at(0)->begin());
  handler->runs.at(0)->finish(Failure{.message = "no"});
  world.loop.pass(1s);
  ASSERT_EQ(world.state(id), State::retrying);
  world.consume();
  world.put_dead(first);
  EXPECT_EQ(world.state(id), State::retrying);
  EXPECT_EQ(world.said("dead_letters.stale").size(), 1U);
}

TEST(DeadLetterMessages, a_message_that_is_missing_is_made_up_for_by_the_store) {
  DeadWorld world;
  world.start(failing({.message = "no"}), {.attempts = 1});
  const TaskId id = world.die();
  world.queues->ready["q.dlq"].clear();
  world.consume();
  world.loop.pass(15s);
  EXPECT_EQ(world.state(id), State::failed);
  EXPECT_EQ(world.said("dead_letters.processed").size(), 1U);
}

TEST(DeadLetterMessages, the_store_leaves_time_for_the_message_to_come) {
  DeadWorld world;
  world.start(failing({.message = "no"}), {.attempts = 1});
  world.consume();
  world.loop.pass(9900ms);
  const TaskId id = world.submit({.payload = "p"});
  world.loop.pass(30s);
  EXPECT_EQ(world.state(id), State::failed);
  EXPECT_THAT(world.said("dead_letters.duplicate"), IsEmpty());
}

// C5.1
TEST(DeadLetterMessages, C5_1_with_or_without_a_message_it_takes_two_polls_at_most) {
  for (const bool is_missing : {false, true}) {
    DeadWorld world;
    world.start(failing({.message = "no"}), {.attempts = 1});
    world.consume();
    if (is_missing) {
      world.broker->fault = [](const ports::Outgoing& out) -> std::optional<Fate> {
        return out.to.routing_key == "q.dlq" ? std::optional(Fate::unsent) : std::nullopt;
      };
    }
    for (int i = 0; i < 20; ++i) {
      world.loop.pass(700ms);
      const TaskId id = world.submit({.payload = "p"});
      ASSERT_EQ(world.state(id), is_missing ? State::dead : State::failed);
      const WallTime died = world.record(id).attempts.at(0).ended;
      world.loop.pass(20s);
      ASSERT_EQ(world.state(id), State::failed);
      EXPECT_LE(world.record(id).changed - died, 20s);
    }
  }
}

TEST(DeadLetterMessages, a_lost_connection_brings_them_again) {
  DeadWorld world;
  world.start(failing({.message = "no"}), {.attempts = 1});
  const TaskId id = world.die();
  world.lane.fault = [](const ports::Request& request) -> std::optional<Error> {
    if (!std::holds_alternative<ports::Asked<ports::Change>>(request)) return std::nullopt;
    return Error{ErrorCode::unavailable, "store", "away"};
  };
  world.consume();
  ASSERT_EQ(world.said("dead_letters.failed").size(), 1U);
  world.lane.fault = {};
  world.broker->interrupt();
  world.loop.settle();
  EXPECT_EQ(world.said("dead_letters.interrupted").size(), 1U);
  EXPECT_EQ(world.state(id), State::failed);
  EXPECT_EQ(world.broker->unsettled(), 0U);
  EXPECT_EQ(world.queues->depth("q.dlq"), 0U);
}

TEST(DeadLetterMessages, C3_6_a_stop_gives_back_what_was_not_dealt_with) {
  DeadWorld world;
  world.start(failing({.message = "no"}), {.attempts = 1});
  const TaskId id = world.die();
  world.lane.fault = [](const ports::Request& request) -> std::optional<Error> {
    if (!std::holds_alternative<ports::Asked<ports::Find>>(request)) return std::nullopt;
    return Error{ErrorCode::unavailable, "store", "away"};
  };
  world.consume();
  bool stopped = false;
  world.engine->shut_down([&](const auto&) { stopped = true; });
  world.loop.pass(1min);
  EXPECT_TRUE(stopped);
  EXPECT_EQ(world.said("dead_letters.stopped").size(), 1U);
  EXPECT_EQ(world.queues->depth("q.dlq"), 1U);
  EXPECT_EQ(world.state(id), State::dead);
}

// Crashes, lost connections, lies about publishes, a store that is away: in the end each task has
// succeeded or is failed, and the dead-letter queue is empty (C5.3).
TEST(DeadLetterMessages, C5_3_none_is_left_whatever_happens) {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    DeadWorld world;
    std::uint32_t state = seed * 2654435761U;
    const auto chance = [&](std::uint32_t of) {
      state = state * 1664525U + 1013904223U;
      return (state >> 8U) % of == 0;
    };
    bool calm = false;
    const auto handler = [&] {
      return std::make_shared<TestHandler>([&](const std::shared_ptr<ports::Run>& run) {
        if (!run->begin()) return run->finish(core::HandedBack{});
        if (chance(2)) return run->finish(Failure{.message = "no"});
        run->finish(core::Success{});
      });
    };
    const DeadLetters rule{.rule = seed % 3 == 0 ? Rule::fail : Rule::redrive,
                           .redrive_rounds = static_cast<int>(seed % 4)};
    const core::TaskPolicy policy{.attempts = 2, .crashes = 1000, .wait = retry::fixed(2s)};
    const auto lie = [&](const auto&) -> std::optional<Fate> {
      if (calm || !chance(4)) return std::nullopt;
      world.broker->unknown_arrives = chance(2);
      return chance(2) ? Fate::unsent : Fate::unknown;
    };
    const auto begin = [&](auto how) {
      how();
      world.broker->fault = lie;
      world.consume(rule);
    };
    begin([&] { world.start(handler(), policy); });
    std::size_t accepted = 0;
    for (int step = 0; step < 100; ++step) {
      if (chance(2)) {
        world.engine->submit(
            {{.type = "t", .queue = "q", .payload = "p", .retry_on_failure = chance(2)}},
            [&](const auto& answers) {
              if (answers && answers->front()) ++accepted;
            });
      }
      world.lane.carries_out_faults = chance(2);
      world.lane.away.reset();
      if (chance(10)) world.lane.away = Error{ErrorCode::unavailable, "store", "away"};
      if (chance(8)) world.broker->interrupt();
      world.loop.pass(std::chrono::milliseconds(state % 4000));
      if (chance(12)) {
        world.lane.away.reset();
        begin([&] { world.live_again(handler(), policy); });
      }
    }
    calm = true;
    world.lane.away.reset();
    world.broker->fault = {};
    world.loop.pass(2h);
    const auto text = "seed " + std::to_string(seed) + world.broker->unsettled_text();
    EXPECT_EQ(world.at(State::succeeded) + world.at(State::failed), world.store.tasks().size())
        << text;
    EXPECT_GE(world.store.tasks().size(), accepted) << text;
    EXPECT_EQ(world.at(State::dead), 0U) << text;
    EXPECT_EQ(world.queues->depth("q.dlq"), 0U) << text;
    EXPECT_EQ(world.queues->depth("q"), 0U) << text;
    EXPECT_EQ(world.broker->unsettled(), 0U) << text;
    for (const auto& [id, task] : world.store.tasks()) {
      EXPECT_LE(task.record.task.spent.replays, rule.redrive_rounds) << text;
      if (task.record.task.state == State::failed) {
        EXPECT_THAT(task.record.task.last_failure->message, HasSubstr("[DLQ] ")) << text;
      }
    }
    ASSERT_TRUE(ports::ask(world.store, ports::Audit{})->clean()) << text;
  }
}

}  // namespace
}  // namespace holdfast::engine::dead_letter_messages_test
