#include "engine/carrier.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/carried_message.hpp"
#include "support/carried_world.hpp"

namespace holdfast::engine::carrier_test {
namespace {

using core::State;
using ports::Fate;
using testing::CarriedWorld;
using testing::failing;
using ::testing::HasSubstr;
using testing::succeeding;
using testing::TestHandler;
using namespace std::chrono_literals;

core::TaskPolicy three_attempts() {
  return {.attempts = 3, .wait = retry::fixed(1s)};
}

// R6
TEST(Carrier, R6_declares_the_dead_letter_queue_and_the_queue_that_leads_to_it) {
  CarriedWorld world;
  world.start(succeeding());
  ASSERT_EQ(world.broker->opened.size(), 1U);
  const auto& queues = world.broker->opened[0].queues;
  ASSERT_EQ(queues.size(), 2U);
  EXPECT_EQ(queues[0].name, "q.dlq");
  EXPECT_EQ(queues[0].dead_letter, std::nullopt);
  EXPECT_EQ(queues[1].name, "q");
  EXPECT_EQ(queues[1].dead_letter, (ports::Address{"", "q.dlq"}));
}

TEST(Carrier, R7_reports_a_queue_that_is_otherwise_once_and_goes_on) {
  CarriedWorld world;
  world.carry();
  world.broker->found = ports::QueueFound::otherwise;
  world.run(failing({.message = "no"}), {.attempts = 1});
  world.submit({.payload = "p"});
  world.loop.pass(2s);
  EXPECT_EQ(world.log.of("carrier.queue_otherwise").size(), 2U) << "each of the two queues once";
  EXPECT_EQ(world.queues->depth("q.dlq"), 1U) << "dead-lettering works without the broker's help";
}

TEST(Carrier, a_task_goes_by_the_broker_and_its_message_goes_when_it_is_settled) {
  CarriedWorld world;
  const auto handler = std::make_shared<TestHandler>();
  world.start(handler);
  const TaskId id = world.submit({.payload = "{\"a\":1}"});
  ASSERT_EQ(handler->runs.size(), 1U);
  EXPECT_EQ(world.queues->published, 1U);
  EXPECT_EQ(world.broker->unsettled(), 1U);
  EXPECT_EQ(world.queues->acknowledged, 0U) << "acknowledged before it was settled";
  ASSERT_TRUE(handler->runs[0]->begin());
  handler->runs[0]->finish(core::Success{"done"});
  world.loop.settle();
  EXPECT_EQ(world.state(id), State::succeeded);
  EXPECT_EQ(world.queues->acknowledged, 1U);
  EXPECT_EQ(world.broker->unsettled(), 0U);
}

TEST(Carrier, nothing_is_claimed_that_was_not_delivered) {
  CarriedWorld world;
  const auto handler = std::make_shared<TestHandler>();
  world.carry();
  world.broker->fault = [](const auto&) { return Fate::unsent; };
  world.confirmed = false;
  world.run(handler);
  world.loop.pass(10s);
  EXPECT_EQ(handler->started, 0U);
}

TEST(Carrier, R1_an_unreachable_broker_is_tried_five_times_and_the_task_is_not_there) {
  CarriedWorld world;
  world.start(succeeding());
  world.broker->fault = [](const auto&) { return Fate::unsent; };
  const auto answer = world.try_submit("p", "key");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::unavailable);
  EXPECT_THAT(answer.error().text(), HasSubstr("connection refused"));
  EXPECT_THAT(answer.error().text(), HasSubstr("not recorded"));
  EXPECT_TRUE(world.store.tasks().empty());
  EXPECT_EQ(world.log.of("retry.wait").size(), 4U);
  // The key is free again.
  world.broker->fault = {};
  EXPECT_TRUE(world.try_submit("p", "key"));
  world.loop.settle();
  EXPECT_EQ(world.at(State::succeeded), 1U);
}

TEST(Carrier, R2_a_retry_that_succeeds_publishes_it_once) {
  CarriedWorld world;
  world.start(std::make_shared<TestHandler>());
  int failures = 2;
  world.broker->fault = [&](const auto&) -> std::optional<Fate> {
    if (failures-- > 0) return Fate::unsent;
    return std::nullopt;
  };
  ASSERT_TRUE(world.try_submit("p"));
  EXPECT_EQ(world.queues->published, 1U);
  ASSERT_EQ(world.log.of("retry.recovered").size(), 1U);
  EXPECT_EQ(world.log.of("retry.recovered")[0].fields.at("attempts"), "3");
}

// As a quorum queue does while its leader is being elected.
TEST(Carrier, R1_what_a_queue_refuses_for_a_moment_is_published_again) {
  CarriedWorld world;
  world.start(std::make_shared<TestHandler>());
  int refusals = 2;
  world.broker->fault = [&](const auto&) -> std::optional<Fate> {
    if (refusals-- > 0) return Fate::refused;
    return std::nullopt;
  };
  ASSERT_TRUE(world.try_submit("p"));
  EXPECT_EQ(world.queues->published, 1U);
}

TEST(Carrier, R1_a_key_that_is_given_twice_while_the_broker_is_away_has_one_answer) {
  CarriedWorld world;
  world.start(succeeding());
  world.broker->fault = [](const auto&) { return Fate::unsent; };
  std::vector<Result<ports::Submit::Accepted>> answers;
  for (int i = 0; i < 2; ++i) {
    world.engine->submit({{.type = "t", .queue = "q", .payload = "p", .key = "k"}},
                         [&](auto all) { answers.push_back(all.value().front()); });
    world.loop.pass(2s);
  }
  EXPECT_TRUE(answers.empty()) << "the second one waits for the first";
  world.loop.pass(30s);
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_FALSE(answers[0]);
  EXPECT_FALSE(answers[1]) << "nobody is told of a task that was taken back";
  EXPECT_TRUE(world.store.tasks().empty());
}

TEST(Carrier, a_broker_that_never_answers_leaves_the_task_recorded) {
  CarriedWorld world;
  world.start(succeeding());
  world.broker->answers = false;
  const auto answer = world.try_submit("p");
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().text(), HasSubstr("is recorded"));
  EXPECT_EQ(world.store.tasks().size(), 1U);
  bool stopped = false;
  world.engine->submit({{.type = "t", .queue = "q"}}, [](const auto&) {});
  world.loop.pass(1s);
  world.engine->shut_down([&](auto) { stopped = true; });
  world.loop.pass(20s);
  EXPECT_TRUE(stopped) << "a shutdown does not wait for ever";
}

TEST(Carrier, R1_what_may_have_been_sent_is_kept_and_the_answer_says_so) {
  CarriedWorld world;
  world.start(succeeding());
  world.broker->fault = [](const auto&) { return Fate::unknown; };
  world.broker->unknown_arrives = false;
  const auto answer = world.try_submit("p");
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().text(), HasSubstr("is recorded, and will be published"));
  EXPECT_EQ(world.at(State::pending), 1U);
  world.broker->fault = {};
  world.loop.pass(20s);
  EXPECT_EQ(world.at(State::succeeded), 1U) << "the sweep publishes it";
}

TEST(Carrier, a_task_that_need_not_be_confirmed_is_answered_when_recorded) {
  CarriedWorld world;
  world.confirmed = false;
  world.start(succeeding());
  world.broker->fault = [](const auto&) { return Fate::unsent; };
  const auto answer = world.try_submit("p");
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->outbound);
  world.loop.pass(20s);
  world.broker->fault = {};
  world.loop.pass(60s);
  EXPECT_EQ(world.at(State::succeeded), 1U);
}

TEST(Carrier, R5_R9_three_failures_and_it_is_in_the_dead_letter_queue) {
  CarriedWorld world;
  world.start(failing({.message = "scanner crashed"}), three_attempts());
  const TaskId id = world.submit({.payload = "p"});
  world.loop.pass(10s);
  EXPECT_EQ(world.state(id), State::dead);
  EXPECT_EQ(world.queues->depth("q"), 0U);
  EXPECT_EQ(world.broker->unsettled(), 0U);
  ASSERT_EQ(world.queues->depth("q.dlq"), 1U);
  EXPECT_EQ(world.broker->delays.size(), 2U);
  const ports::Message& letter = world.queues->ready["q.dlq"].front().message;
  EXPECT_EQ(ports::text_of(letter.headers, kErrorHeader), "scanner crashed");
  EXPECT_EQ(ports::text_of(letter.headers, kOriginHeader), "q");
  EXPECT_EQ(ports::text_of(letter.headers, kReasonHeader), "out of attempts");
  EXPECT_EQ(ports::number_of(letter.headers, kAttemptHeader), 3);
  EXPECT_TRUE(ports::text_of(letter.headers, kDeadAtHeader));
  EXPECT_EQ(letter.body, "p");
  EXPECT_EQ(world.log.of("task.dead_letter").size(), 1U);
}

TEST(Carrier, a_task_that_is_given_up_at_once_is_in_no_dead_letter_queue) {
  CarriedWorld world;
  world.carry();
  world.engine->handle(
      "t",
      {.handler = failing({.message = "insufficient funds"}),
       .classifier = std::make_shared<Classifier>(Classifier::make(presets::ethereum()).value())});
  world.engine->serve({.name = "q"});
  world.engine->start();
  const TaskId id = world.submit({.payload = "p"});
  world.loop.pass(2s);
  EXPECT_EQ(world.state(id), State::failed);
  EXPECT_EQ(world.queues->depth("q.dlq"), 0U);
  EXPECT_EQ(world.broker->unsettled(), 0U);
}

TEST(Carrier, a_foreign_message_becomes_a_task_and_keeps_its_headers_when_it_dies) {
  CarriedWorld world;
  world.start(failing({.message = "no"}), {.attempts = 2, .wait = retry::fixed(1s)});
  ports::Message message{.body = "hello", .headers = {{"tenant", "blue"}}};
  message.message_id = "m-1";
  message.user_id = "somebody";
  world.queues->put("q", message);
  world.queues->put("q", message);  // the same once more: a duplicate
  world.broker->deliver();
  world.loop.pass(10s);
  EXPECT_EQ(world.store.tasks().size(), 1U);
  ASSERT_EQ(world.queues->depth("q.dlq"), 1U);
  const ports::Message& letter = world.queues->ready["q.dlq"].front().message;
  EXPECT_EQ(ports::text_of(letter.headers, "tenant"), "blue");
  EXPECT_EQ(letter.message_id, "m-1");
  EXPECT_EQ(letter.user_id, std::nullopt) << "the broker would refuse it from us";
}

TEST(Carrier, R9_counts_of_a_foreign_system_are_honoured) {
  CarriedWorld world;
  world.start(failing({.message = "no"}), three_attempts());
  ports::FieldTable death{{"queue", "q"}, {"reason", "rejected"}, {"count", std::int64_t{2}}};
  ports::Message message{.body = "x",
                         .headers = {{"x-death", ports::Field::Value(ports::FieldArray{
                                                     ports::Field(ports::Field::Value(death))})}}};
  world.queues->put("q", message);
  world.broker->deliver();
  world.loop.settle();
  EXPECT_EQ(world.at(State::dead), 1U) << "the third failure";
  EXPECT_EQ(ports::find_field(world.queues->ready["q.dlq"].front().message.headers, "x-death"),
            nullptr);
}

TEST(Carrier, two_nameless_messages_of_the_same_content_are_two_tasks) {
  CarriedWorld world;
  world.start(std::make_shared<TestHandler>());
  world.queues->put("q", {.body = "same", .headers = {}});
  world.queues->put("q", {.body = "same", .headers = {}});
  world.broker->deliver();
  world.loop.settle();
  EXPECT_EQ(world.store.tasks().size(), 2U);
  // Delivered again after the connection was lost, they are known again.
  world.broker->interrupt();
  world.loop.settle();
  EXPECT_EQ(world.store.tasks().size(), 2U);
  EXPECT_EQ(world.broker->unsettled(), 2U);
}

TEST(Carrier, a_task_that_runs_when_the_connection_is_lost_is_settled_once) {
  CarriedWorld world;
  const auto handler = std::make_shared<TestHandler>();
  world.start(handler);
  const TaskId id = world.submit({.payload = "p"});
  ASSERT_EQ(handler->runs.size(), 1U);
  ASSERT_TRUE(handler->runs[0]->begin());
  world.broker->interrupt();
  world.loop.settle();
  EXPECT_EQ(handler->runs.size(), 1U);
  handler->runs[0]->finish(core::Success{"done"});
  world.loop.settle();
  EXPECT_EQ(world.state(id), State::succeeded);
  EXPECT_EQ(world.broker->unsettled(), 0U) << "the message that came again is acknowledged";
}

TEST(Carrier, a_crash_between_settling_and_acknowledging_runs_nothing_twice) {
  CarriedWorld world;
  world.start(succeeding());
  const TaskId id = world.submit({.payload = "p"});
  ASSERT_EQ(world.state(id), State::succeeded);
  // As if the acknowledgement had not arrived.
  world.queues->put("q", message_for(world.record(id), nullptr));
  const auto handler = std::make_shared<TestHandler>();
  world.live_again(handler);
  world.loop.pass(1s);
  EXPECT_EQ(handler->started, 0U);
  EXPECT_EQ(world.queues->depth("q"), 0U);
  EXPECT_EQ(world.broker->unsettled(), 0U);
}

TEST(Carrier, a_message_of_ours_without_a_record_is_adopted_with_its_id) {
  CarriedWorld world;
  world.start(succeeding());
  const TaskId id = world.submit({.payload = "p"});
  const ports::Message message = message_for(world.record(id), nullptr);
  CarriedWorld other;
  other.start(succeeding());
  other.queues->put("q", message);
  other.broker->deliver();
  other.loop.settle();
  EXPECT_EQ(other.state(id), State::succeeded);
}

TEST(Carrier, a_shutdown_gives_messages_back_and_spends_nothing) {
  CarriedWorld world;
  const auto handler = std::make_shared<TestHandler>();
  world.start(handler);
  const TaskId id = world.submit({.payload = "p"});
  bool stopped = false;
  world.engine->shut_down([&](auto) { stopped = true; });
  world.loop.pass(1s);
  EXPECT_TRUE(stopped);
  EXPECT_EQ(world.state(id), State::pending);
  EXPECT_EQ(world.queues->depth("q"), 1U);
  EXPECT_EQ(world.queues->published, 1U);
  world.live_again(succeeding());
  world.loop.settle();
  EXPECT_EQ(world.state(id), State::succeeded);
  EXPECT_EQ(world.queues->published, 1U) << "what was given back need not be published again";
}

TEST(Carrier, N7_a_shutdown_names_messages_that_had_no_name) {
  CarriedWorld world;
  world.start(std::make_shared<TestHandler>(), {});
  for (int i = 0; i < 8; ++i)
    world.queues->put("q", {.body = "same", .headers = {{"tenant", "blue"}}});
  world.broker->deliver();
  world.loop.settle();
  ASSERT_EQ(world.store.tasks().size(), 8U);
  bool stopped = false;
  world.engine->shut_down([&](auto) { stopped = true; });
  world.loop.pass(10s);
  EXPECT_TRUE(stopped);
  const auto handler = succeeding();
  world.live_again(handler);
  world.loop.pass(5min);
  EXPECT_EQ(handler->started, 8U) << "a deploy runs nothing twice";
  EXPECT_EQ(world.store.tasks().size(), 8U);
  EXPECT_EQ(world.at(State::succeeded), 8U);
}

TEST(Carrier, N7_a_shutdown_waits_for_the_records_of_what_it_names) {
  CarriedWorld world;
  world.carry();
  world.engine->start();  // nobody claims
  world.loop.settle();
  for (int i = 0; i < 8; ++i)
    world.queues->put("q", {.body = "same", .headers = {}});
  world.broker->deliver();
  world.loop.settle();
  ASSERT_EQ(world.store.tasks().size(), 8U);
  world.lane.takes = 100ms;  // the store answers after all else is done
  bool stopped = false;
  world.engine->shut_down([&](auto) { stopped = true; });
  world.loop.pass(2s);
  EXPECT_TRUE(stopped);
  world.lane.takes = {};
  const auto handler = succeeding();
  world.live_again(handler);
  world.loop.pass(5min);
  EXPECT_EQ(handler->started, 8U) << "none twice";
}

TEST(Carrier, a_queue_that_stands_still_is_not_consumed_by_the_next_life) {
  CarriedWorld world;
  world.start(std::make_shared<TestHandler>());
  world.engine->configure({.queue = "q", .paused = true}, [](const auto&) {});
  world.loop.settle();
  world.live_again(std::make_shared<TestHandler>());
  world.loop.settle();
  world.submit({.payload = "p"});
  EXPECT_EQ(world.broker->unsettled(), 0U);
}

TEST(Carrier, no_backlog_keeps_out_what_was_delivered) {
  CarriedWorld world;
  world.start(std::make_shared<TestHandler>());
  world.engine->configure({.queue = "q", .backlog = 1}, [](const auto&) {});
  for (int i = 0; i < 3; ++i)
    world.queues->put("q", {.body = "b" + std::to_string(i), .headers = {}});
  world.broker->deliver();
  world.loop.settle();
  EXPECT_EQ(world.store.tasks().size(), 3U);
}

TEST(Carrier, what_was_overtaken_is_published_again_on_a_queue_that_is_never_idle) {
  CarriedWorld world;
  const auto handler = std::make_shared<TestHandler>();
  world.start(handler);
  world.engine->configure({.queue = "q", .paused = true}, [](const auto&) {});
  world.loop.settle();
  const TaskId lost = world.submit({.payload = "lost"});
  world.queues->ready["q"].clear();
  world.engine->configure({.queue = "q", .paused = false}, [](const auto&) {});
  for (int minute = 0; minute < 15; ++minute) {
    world.submit({.payload = "m"});  // never settled: something is always at hand
    world.loop.pass(1min);
    if (handler->runs.size() > 6) {
      for (auto& run : handler->runs) {
        if (run->begin()) run->finish(core::Success{});
      }
      handler->runs.clear();
    }
  }
  EXPECT_NE(world.state(lost), State::pending);
}

TEST(Carrier, a_dead_letter_that_is_put_back_is_a_replay) {
  CarriedWorld world;
  bool works = false;
  const auto handler = std::make_shared<TestHandler>([&](const std::shared_ptr<ports::Run>& run) {
    if (!run->begin()) return;
    if (works) return run->finish(core::Success{});
    run->finish(Failure{.message = "no"});
  });
  world.start(handler, {.attempts = 1, .replays = 2});
  const TaskId id = world.submit({.payload = "p"});
  ASSERT_EQ(world.queues->depth("q.dlq"), 1U);
  const auto put_back = [&] {
    auto& dead = world.queues->ready["q.dlq"];
    world.queues->put("q", std::move(dead.front().message));
    dead.pop_front();
    world.broker->deliver();
    world.loop.settle();
  };
  put_back();
  EXPECT_EQ(world.state(id), State::dead);
  EXPECT_EQ(world.record(id).task.spent.replays, 1);
  ASSERT_EQ(world.queues->depth("q.dlq"), 1U);
  works = true;
  put_back();
  EXPECT_EQ(world.state(id), State::succeeded);
  EXPECT_EQ(world.queues->depth("q.dlq"), 0U);
  EXPECT_EQ(world.broker->unsettled(), 0U);
}

TEST(Carrier, of_two_dead_letters_of_one_task_the_later_brings_it_back) {
  CarriedWorld world;
  const auto handler = std::make_shared<TestHandler>([&](const std::shared_ptr<ports::Run>& run) {
    if (run->begin()) run->finish(Failure{.message = "no"});
  });
  world.start(handler, {.attempts = 1, .replays = 5});
  const TaskId id = world.submit({.payload = "p"});
  world.engine->replay(id, {}, [](const auto& done) { EXPECT_TRUE(done); });
  world.loop.settle();
  ASSERT_EQ(world.queues->depth("q.dlq"), 2U);
  auto& dead = world.queues->ready["q.dlq"];
  while (!dead.empty()) {
    world.queues->put("q", std::move(dead.front().message));
    dead.pop_front();
  }
  world.broker->deliver();
  world.loop.settle();
  EXPECT_EQ(world.record(id).task.spent.replays, 2);
  EXPECT_EQ(world.broker->unsettled(), 0U);
}

TEST(Carrier, N3_a_dead_letter_that_is_put_back_too_often_stays_one) {
  CarriedWorld world;
  world.start(failing({.message = "no"}), {.attempts = 1, .replays = 2});
  const TaskId id = world.submit({.payload = "p"});
  for (int i = 0; i < 5; ++i) {
    auto& dead = world.queues->ready["q.dlq"];
    ASSERT_EQ(dead.size(), 1U) << i;
    world.queues->put("q", std::move(dead.front().message));
    dead.pop_front();
    world.broker->deliver();
    world.loop.settle();
  }
  EXPECT_EQ(world.state(id), State::dead);
  EXPECT_EQ(world.record(id).task.spent.replays, 2);
  EXPECT_EQ(world.broker->unsettled(), 0U);
}

TEST(Carrier, a_replay_by_hand_publishes_anew) {
  CarriedWorld world;
  world.start(failing({.message = "no"}), {.attempts = 1});
  const TaskId id = world.submit({.payload = "p"});
  world.engine->replay(id, {}, [](const auto& done) { EXPECT_TRUE(done); });
  world.loop.settle();
  EXPECT_EQ(world.state(id), State::dead);
  EXPECT_EQ(world.queues->depth("q.dlq"), 2U) << "one for each death";
}

TEST(Carrier, a_canceled_task_has_its_message_taken_away) {
  CarriedWorld world;
  world.start(std::make_shared<TestHandler>());
  const WallTime later = world.clock.wall_now() + 5s;
  const TaskId id = world.submit({.payload = "p", .due = later});
  world.engine->cancel(id, [](const auto& done) { EXPECT_TRUE(done); });
  world.loop.pass(10s);
  EXPECT_EQ(world.state(id), State::canceled);
  EXPECT_EQ(world.queues->depth("q"), 0U);
  EXPECT_EQ(world.broker->unsettled(), 0U);
}

TEST(Carrier, workers_elsewhere_get_what_was_delivered) {
  CarriedWorld world;
  world.carry();
  world.engine->handle("t", {});
  world.engine->start();
  world.loop.settle();
  std::vector<ports::TaskRecord> lent;
  const auto lend = [&] {
    (void)world.engine->lend({.queue = "q", .max = 5, .worker = "w", .wait = 10s},
                             [&](auto tasks) { lent = tasks.value(); });
    world.loop.settle();
  };
  lend();
  EXPECT_TRUE(lent.empty());
  const TaskId id = world.submit({.payload = "p"});
  ASSERT_EQ(lent.size(), 1U) << "whoever waits is told at once";
  EXPECT_EQ(world.broker->unsettled(), 1U);
  world.engine->settle({id, lent[0].task.token}, core::Success{"done"}, std::nullopt,
                       [](const auto& done) { EXPECT_TRUE(done); });
  world.loop.settle();
  EXPECT_EQ(world.state(id), State::succeeded);
  EXPECT_EQ(world.broker->unsettled(), 0U);
}

TEST(Carrier, what_somebody_removed_from_the_broker_is_published_again) {
  CarriedWorld world;
  const auto handler = std::make_shared<TestHandler>();
  world.start(handler);
  world.engine->configure({.queue = "q", .paused = true}, [](const auto&) {});
  world.loop.settle();
  const TaskId id = world.submit({.payload = "p"});
  world.queues->ready["q"].clear();
  world.engine->configure({.queue = "q", .paused = false}, [](const auto&) {});
  world.loop.pass(30s);
  EXPECT_EQ(handler->started, 0U);
  world.loop.pass(5min);
  EXPECT_EQ(handler->started, 1U) << id.text();
}

TEST(Carrier, a_queue_whose_leader_is_lost_is_not_taken_for_an_empty_one) {
  CarriedWorld world;
  world.kind = ports::QueueWish::Kind::quorum;
  world.start(std::make_shared<TestHandler>());
  world.engine->configure({.queue = "q", .paused = true}, [](const auto&) {});
  world.loop.settle();
  world.submit({.payload = "p"});
  world.queues->ready["q"].clear();
  world.engine->configure({.queue = "q", .paused = false}, [](const auto&) {});
  world.broker->has_leader = false;
  world.loop.pass(5min);
  EXPECT_EQ(world.queues->published, 1U);
}

TEST(Carrier, a_store_that_is_away_leaves_foreign_messages_with_the_broker) {
  CarriedWorld world;
  world.start(succeeding());
  world.lane.away = Error{ErrorCode::unavailable, "store", "away"};
  world.queues->put("q", {.body = "x", .headers = {}});
  world.broker->deliver();
  world.loop.pass(3s);
  EXPECT_EQ(world.broker->unsettled(), 1U);
  world.lane.away.reset();
  world.loop.pass(30s);
  EXPECT_EQ(world.at(State::succeeded), 1U);
  EXPECT_EQ(world.broker->unsettled(), 0U);
}

}  // namespace
}  // namespace holdfast::engine::carrier_test
