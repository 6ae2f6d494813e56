// Settings and counts of queues, and the removal of what has ended.
#include <gmock/gmock.h>

#include "conformance/record_text.hpp"
#include "conformance/store_conformance.hpp"

namespace holdfast::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_P(StoreConformance, counts_tell_each_state_of_a_queue) {
  const std::pair<Event, State> moves[] = {
      {Event::hand_back, State::pending}, {Event::error, State::retrying},
      {Event::success, State::succeeded}, {Event::give_up, State::failed},
      {Event::ambiguous, State::dead},    {Event::cancel, State::canceled}};
  submit_many(30);
  const auto running = claim(30).tasks;
  auto next = running.begin();
  for (int times = 1; const auto& [event, to] : moves) {  // one by the first, two by the next …
    for (int i = 0; i < times; ++i)
      ASSERT_EQ(move(*next++, event, to), Done::applied);
    ++times;
  }
  reopen();
  EXPECT_THAT(counts().by_state, ElementsAre(1, 9, 2, 3, 4, 5, 6));
}

TEST_P(StoreConformance, counts_come_by_name) {
  EXPECT_THAT(ask(ports::Count()), IsEmpty());
  for (const char* queue : {"b", "\xc3\xa4", "B", "a", "ab", ""}) {
    ports::NewTask task = new_task();
    task.queue = queue;
    submit(task);
  }
  ask(ports::Configure{.queue = "aa", .paused = true});
  std::vector<std::string> names;
  for (const auto& counts : ask(ports::Count()))
    names.push_back(counts.queue);
  EXPECT_THAT(names, ElementsAre("", "B", "a", "aa", "ab", "b", "\xc3\xa4"));
}

TEST_P(StoreConformance, counts_tell_the_earliest_due_time) {
  ports::NewTask later = new_task();
  later.due = now_ + 20s;
  later.priority = 10;
  ports::NewTask sooner = new_task();
  sooner.due = now_ + 10s;
  submit_all({later, sooner});
  EXPECT_EQ(counts().oldest_due, sooner.due);
  now_ += 10s;
  const TaskRecord running = claim_one();
  EXPECT_EQ(counts().oldest_due, later.due);
  ASSERT_EQ(move(running, Event::error, State::retrying), Done::applied);
  EXPECT_EQ(counts().oldest_due, now_ + 7s);
  for (const TaskId& id : {later.id, sooner.id}) {
    ASSERT_EQ(move(find(id), Event::cancel, State::canceled), Done::applied);
  }
  EXPECT_EQ(counts().oldest_due, std::nullopt);
}

TEST_P(StoreConformance, configure_changes_what_is_given_and_keeps_the_rest) {
  const auto settings = [&] {
    const auto queue = counts();
    return std::pair(queue.paused, queue.concurrency);
  };
  ask(ports::Configure{.queue = kQueue, .paused = true});
  EXPECT_EQ(settings(), std::pair(true, 0));
  ask(ports::Configure{.queue = kQueue, .concurrency = 5});
  EXPECT_EQ(settings(), std::pair(true, 5));
  ask(ports::Configure{.queue = kQueue});
  EXPECT_EQ(settings(), std::pair(true, 5));
  reopen();
  EXPECT_EQ(settings(), std::pair(true, 5));
  ask(ports::Configure{.queue = kQueue, .paused = false});
  EXPECT_EQ(settings(), std::pair(false, 5));
  ask(ports::Configure{.queue = kQueue, .paused = true, .concurrency = 0});
  EXPECT_EQ(settings(), std::pair(true, 0));
}

TEST_P(StoreConformance, a_backlog_is_a_setting_like_the_others) {
  ask(ports::Configure{.queue = kQueue, .concurrency = 5, .backlog = 7});
  ask(ports::Configure{.queue = kQueue, .paused = true});
  EXPECT_EQ(counts().backlog, 7);
  EXPECT_EQ(code_of(try_ask(ports::Configure{.queue = kQueue, .concurrency = 1, .backlog = -1})),
            ErrorCode::invalid_argument);
  reopen();
  EXPECT_EQ(counts().backlog, 7);
  EXPECT_EQ(counts().concurrency, 5) << "nothing of what was refused was done";
  ask(ports::Configure{.queue = kQueue, .paused = false, .concurrency = 0});
  EXPECT_EQ(counts().backlog, 7) << "listed for that alone";
  ask(ports::Configure{.queue = kQueue, .backlog = 0});
  EXPECT_THAT(ask(ports::Count()), IsEmpty());
}

TEST_P(StoreConformance, a_queue_without_tasks_is_listed_while_it_has_a_setting) {
  ask(ports::Configure{.queue = "nothing given"});
  EXPECT_THAT(ask(ports::Count()), IsEmpty());
  ask(ports::Configure{.queue = kQueue, .paused = true});
  EXPECT_THAT(ask(ports::Count()), SizeIs(1));
  ask(ports::Configure{.queue = kQueue, .paused = false, .concurrency = 1});
  EXPECT_THAT(ask(ports::Count()), SizeIs(1));
  ask(ports::Configure{.queue = kQueue, .concurrency = 0});
  EXPECT_THAT(ask(ports::Count()), IsEmpty());
}

TEST_P(StoreConformance, a_concurrency_below_nothing_is_refused) {
  ask(ports::Configure{.queue = kQueue, .concurrency = 3});
  const auto answer = try_ask(ports::Configure{.queue = kQueue, .paused = true, .concurrency = -1});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(answer.error().message.find(kQueue), std::string::npos);
  EXPECT_FALSE(counts().paused) << "nothing of it was done";
  EXPECT_EQ(counts().concurrency, 3);
}

// T7
TEST_P(StoreConformance, purge_removes_what_ended_in_a_state_before_a_time) {
  submit_many(4);
  const auto running = claim(4).tasks;
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(move(running[i], Event::success, State::succeeded), Done::applied);
    now_ += 1s;
  }
  ASSERT_EQ(move(running[3], Event::cancel, State::canceled), Done::applied);
  const WallTime third = find(running[2].id).changed;
  EXPECT_EQ(ask(ports::Purge{.state = State::succeeded, .ended_before = third}), 2U);
  EXPECT_EQ(ask(ports::Purge{.state = State::succeeded, .ended_before = third}), 0U);
  reopen();
  EXPECT_EQ(ask(ports::Find{running[0].id}), std::nullopt);
  EXPECT_EQ(find(running[2].id).result, "sent") << "ended at that time, not before it";
  EXPECT_EQ(state_of(running[3].id), State::canceled);
}

TEST_P(StoreConformance, purge_takes_the_first_to_end_first_and_no_more_than_asked_for) {
  const auto ids = submit_many(6);
  const auto running = claim(6).tasks;
  for (const std::size_t i : {4U, 2U, 0U}) {  // two of them at one time, the first submitted first
    now_ += i == 0 ? 0s : 1s;
    ASSERT_EQ(move(running[i], Event::success, State::succeeded), Done::applied);
  }
  const auto purge = [&](std::size_t max) {
    return ask(ports::Purge{.state = State::succeeded, .ended_before = now_ + 1s, .max = max});
  };
  const auto left = [&] {
    auto all = list_ids({.state = State::succeeded});
    std::ranges::sort(all);
    return all;
  };
  EXPECT_EQ(purge(0), 0U);
  EXPECT_EQ(purge(1), 1U);
  EXPECT_THAT(left(), ElementsAre(ids[0], ids[2]));
  EXPECT_EQ(purge(1), 1U);
  EXPECT_THAT(left(), ElementsAre(ids[2]));
  EXPECT_EQ(purge(5), 1U);
  EXPECT_THAT(left(), IsEmpty());
}

// N5
TEST_P(StoreConformance, purged_tasks_are_counted_as_removed_by_their_state) {
  for (const State state : kAllStates) {
    (void)task_in(state);
    (void)task_in(state);
  }
  now_ += 1s;
  for (const State state : {State::succeeded, State::failed, State::dead, State::canceled}) {
    EXPECT_EQ(ask(ports::Purge{.state = state, .ended_before = now_, .max = 1}), 1U);
  }
  EXPECT_EQ(ask(ports::Purge{.state = State::dead, .ended_before = now_}), 1U);
  reopen();
  const auto report = ask(ports::Audit());
  EXPECT_EQ(report.accepted, 14U);
  EXPECT_THAT(report.present, ElementsAre(2, 2, 2, 1, 1, 0, 1));
  EXPECT_THAT(report.removed, ElementsAre(0, 0, 0, 1, 1, 2, 1));
}

TEST_P(StoreConformance, purge_refuses_states_that_have_not_ended) {
  for (const State state : {State::pending, State::running, State::retrying}) {
    const TaskRecord record = task_in(state);
    const auto answer = try_ask(ports::Purge{.state = state, .ended_before = now_ + 24h});
    ASSERT_FALSE(answer) << to_string(state);
    EXPECT_EQ(answer.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(answer.error().message.find(to_string(state)), std::string::npos);
    EXPECT_EQ(state_of(record.id), state);
  }
}

TEST_P(StoreConformance, a_queue_without_tasks_and_settings_is_not_listed) {
  ports::NewTask elsewhere = new_task();
  elsewhere.queue = "other";
  submit(elsewhere);
  (void)task_in(State::succeeded);
  ask(ports::Purge{.state = State::succeeded, .ended_before = now_ + 1s});
  ASSERT_THAT(ask(ports::Count()), SizeIs(1));
  EXPECT_EQ(ask(ports::Count())[0].queue, "other");
}

TEST_P(StoreConformance, settings_outlive_the_last_task_of_a_queue) {
  ask(ports::Configure{.queue = "succeeded", .concurrency = 4});
  (void)task_in(State::succeeded);
  ask(ports::Purge{.state = State::succeeded, .ended_before = now_ + 1s});
  EXPECT_EQ(counts("succeeded").concurrency, 4);
}

TEST_P(StoreConformance, a_purged_task_leaves_nothing_to_a_new_one_with_its_id) {
  const TaskRecord dead = task_in(State::dead, Fingerprint(4));
  ask(ports::Purge{.state = State::dead, .ended_before = now_ + 1s});
  ports::NewTask task = new_task();
  task.id = dead.id;
  submit(task);
  const TaskRecord fresh = find(dead.id);
  EXPECT_THAT(fresh.attempts, IsEmpty());
  EXPECT_EQ(fresh.task.last_failure, std::nullopt);
  EXPECT_EQ(fresh.task.token.value, 0U);
  EXPECT_EQ(fresh.task.spent, core::Spent());
}

}  // namespace
}  // namespace holdfast::conformance
