// Taking tasks: which, in which order, and when not.
#include <gmock/gmock.h>

#include "conformance/record_text.hpp"
#include "conformance/store_conformance.hpp"

namespace holdfast::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_P(StoreConformance, claim_makes_a_task_running_with_the_next_token) {
  ports::NewTask task = new_task();
  task.key = "k";
  task.limits.attempts = 2;
  task.deadline = now_ + 1h;
  submit(task);
  now_ += 5s;
  const TaskRecord before = find(task.id);
  const auto answer =
      ask(ports::Claim{.queue = kQueue, .max = 1, .owner = "worker 7", .lease = 12s, .now = now_});

  ASSERT_EQ(answer.tasks.size(), 1U);
  TaskRecord expected = before;
  core::apply(core::claim(before.task, now_).value(), expected.task);
  expected.changed = now_;
  expected.owner = "worker 7";
  expected.lease_end = now_ + 12s;
  EXPECT_EQ(expected.task.token.value, 1U);
  EXPECT_EQ(text_of(find(task.id)), text_of(expected));
  expected.key.clear();  // of Find only
  EXPECT_EQ(text_of(answer.tasks[0]), text_of(expected));
  reopen();
  EXPECT_EQ(find(task.id).owner, "worker 7");
}

TEST_P(StoreConformance, a_claim_tells_how_and_since_when_its_task_has_waited) {
  ports::NewTask task = new_task();
  task.due = now_ - 3s;
  submit(task);
  const TaskRecord first = claim_one();
  EXPECT_EQ(first.waited_as, core::State::pending);
  EXPECT_EQ(first.was_due, now_ - 3s);
  ASSERT_EQ(move(first, Event::error, State::retrying), Done::applied);
  const WallTime due = find(task.id).task.due;
  now_ = due + 5s;
  const TaskRecord again = claim_one();
  EXPECT_EQ(again.waited_as, core::State::retrying);
  EXPECT_EQ(again.was_due, due);
}

TEST_P(StoreConformance, claims_go_by_priority_then_due_time_then_submission) {
  const auto with = [&](int priority, Duration due) {
    ports::NewTask task = new_task();
    task.priority = priority;
    task.due = now_ + due;
    return task;
  };
  const auto lowest = with(ports::kLowestPriority, -10s);
  const auto late = with(0, -1s);
  const auto early = with(0, -5s);
  auto late_too = with(0, -1s);
  late_too.id = id_of(0);  // ids do not matter
  const auto high = with(1, 0s);
  const auto highest = with(ports::kHighestPriority, 0s);
  const auto not_due = with(ports::kHighestPriority, 1us);
  submit_all({lowest, late, early, late_too, high, highest, not_due});
  reopen();

  EXPECT_THAT(claim_ids(4), ElementsAre(highest.id, high.id, early.id, late.id));
  EXPECT_THAT(claim_ids(4), ElementsAre(late_too.id, lowest.id));
}

TEST_P(StoreConformance, of_tasks_that_came_back_the_first_submitted_still_goes_first) {
  const auto ids = submit_many(3);
  const auto claimed = claim(3).tasks;
  ASSERT_EQ(move(claimed[2], Event::hand_back, State::pending), Done::applied);
  ASSERT_EQ(move(claimed[0], Event::hand_back, State::pending), Done::applied);
  EXPECT_THAT(claim_ids(3), ElementsAre(ids[0], ids[2]));
}

TEST_P(StoreConformance, times_at_the_ends_of_what_can_be_told_are_kept) {
  ports::NewTask at_once = new_task();
  at_once.due = WallTime::min();
  at_once.deadline = WallTime::max();
  ports::NewTask never = new_task();
  never.due = WallTime::max();
  ports::NewTask late = new_task();
  late.deadline = WallTime::min();
  for (const auto& task : {at_once, never, late})
    submit(task);
  EXPECT_EQ(find(at_once.id).task.due, WallTime::min());
  EXPECT_EQ(find(at_once.id).task.deadline, WallTime::max());
  EXPECT_EQ(find(never.id).task.due, WallTime::max());
  EXPECT_EQ(find(late.id).task.deadline, WallTime::min());
  const auto answer = ask(ports::Claim{.queue = kQueue, .max = 9, .owner = "me", .now = now_});
  ASSERT_EQ(answer.tasks.size(), 2U);
  EXPECT_EQ(answer.tasks[0].id, at_once.id);
  EXPECT_EQ(answer.tasks[1].id, late.id);
  EXPECT_EQ(answer.next_due, WallTime::max());
}

TEST_P(StoreConformance, a_delayed_task_is_not_claimed_before_it_is_due) {
  ports::NewTask task = new_task();
  task.due = now_ + 10s;
  submit(task);
  EXPECT_EQ(state_of(task.id), State::pending);

  auto answer = claim(10);
  EXPECT_THAT(answer.tasks, IsEmpty());
  EXPECT_EQ(answer.next_due, task.due);
  EXPECT_FALSE(answer.blocked);
  now_ = task.due - 1us;
  EXPECT_THAT(claim_ids(10), IsEmpty());
  now_ = task.due;
  answer = claim(10);
  EXPECT_THAT(ids_of(answer.tasks), ElementsAre(task.id));
  EXPECT_EQ(answer.next_due, std::nullopt);
}

TEST_P(StoreConformance, next_due_is_the_earliest_of_what_is_left_due_or_not) {
  ports::NewTask due = new_task();
  due.due = now_ - 20s;
  ports::NewTask later = new_task();
  later.due = now_ + 10s;
  later.priority = 50;
  ports::NewTask latest = new_task();
  latest.due = now_ + 30s;
  latest.priority = -50;
  ports::NewTask elsewhere = new_task();
  elsewhere.queue = "other";
  elsewhere.due = now_ - 1h;
  submit_all({latest, due, later, elsewhere});

  EXPECT_EQ(claim(0).next_due, due.due);
  EXPECT_EQ(claim(1).next_due, later.due);
  now_ += 10s;
  EXPECT_EQ(claim(1).next_due, latest.due);
  now_ += 20s;
  EXPECT_EQ(claim(1).next_due, std::nullopt);
}

TEST_P(StoreConformance, claim_takes_no_more_than_asked_for) {
  const auto ids = submit_many(5);
  EXPECT_THAT(claim_ids(0), IsEmpty());
  EXPECT_THAT(claim_ids(2), ElementsAre(ids[0], ids[1]));
  EXPECT_THAT(claim_ids(100), ElementsAre(ids[2], ids[3], ids[4]));
  EXPECT_THAT(claim_ids(100), IsEmpty());
}

TEST_P(StoreConformance, claim_of_a_queue_that_nobody_knows_gives_nothing) {
  submit();
  const auto answer = claim(5, "no such queue");
  EXPECT_THAT(answer.tasks, IsEmpty());
  EXPECT_EQ(answer.next_due, std::nullopt);
  EXPECT_FALSE(answer.blocked);
  EXPECT_EQ(ask(ports::Count()).size(), 1U) << "asking for it does not make it";
}

TEST_P(StoreConformance, queues_do_not_mix) {
  std::vector<ports::NewTask> tasks;
  for (const char* queue : {"mail", "Mail", "mail ", "m\xc3\xa4il", "", "%", "mai_"}) {
    tasks.push_back(new_task());
    tasks.back().queue = queue;
  }
  submit_all(tasks);
  for (const auto& task : tasks) {
    const auto answer = claim(10, task.queue);
    EXPECT_THAT(ids_of(answer.tasks), ElementsAre(task.id)) << task.queue;
    EXPECT_EQ(answer.tasks.at(0).queue, task.queue);
    EXPECT_EQ(answer.next_due, std::nullopt);
  }
}

TEST_P(StoreConformance, pending_and_retrying_tasks_wait_in_one_line) {
  submit();
  const TaskRecord first = claim_one();
  ASSERT_EQ(move(first, Event::error, State::retrying), Done::applied);
  const WallTime due = find(first.id).task.due;

  ports::NewTask before = new_task();
  before.due = due - 1s;
  ports::NewTask after = new_task();
  after.due = due + 1s;
  submit_all({after, before});
  now_ = due - 1us;
  EXPECT_THAT(claim_ids(1), ElementsAre(before.id));
  EXPECT_EQ(claim(1).next_due, due);
  now_ = due + 1s;
  EXPECT_THAT(claim_ids(5), ElementsAre(first.id, after.id));
}

TEST_P(StoreConformance, tokens_grow_with_each_claim) {
  submit();
  for (std::uint64_t round = 1; round <= 30; ++round) {
    const TaskRecord running = claim_one();
    EXPECT_EQ(running.task.token.value, round);
    ASSERT_EQ(move(running, Event::hand_back, State::pending), Done::applied);
    if (round == 15) reopen();
  }
}

TEST_P(StoreConformance, a_claim_tells_what_earlier_attempts_left) {
  submit();
  ASSERT_EQ(move(claim_one(), Event::error, State::retrying), Done::applied);
  now_ += 1min;
  const TaskRecord again = claim_one();
  EXPECT_EQ(again.task.spent.attempts, 1);
  EXPECT_EQ(again.task.previous_wait, 3s);
  EXPECT_EQ(text_of(again.task.last_failure), text_of(full_failure()));
  EXPECT_EQ(again.payload, "to: 1");
  EXPECT_THAT(again.attempts, IsEmpty()) << "of Find only";
}

TEST_P(StoreConformance, terminal_tasks_are_not_claimed) {
  for (const State state : {State::succeeded, State::failed, State::dead, State::canceled}) {
    const TaskRecord record = task_in(state);
    now_ += 1h;
    EXPECT_THAT(claim_ids(10, record.queue), IsEmpty()) << to_string(state);
  }
}

TEST_P(StoreConformance, a_deadline_does_not_keep_a_task_from_being_claimed) {
  ports::NewTask task = new_task();
  task.deadline = now_ - 1s;
  submit(task);
  EXPECT_THAT(claim_ids(1), ElementsAre(task.id)) << "whoever claims settles it as expired";
}

TEST_P(StoreConformance, a_paused_queue_gives_none_and_says_so) {
  const auto ids = submit_many(2);
  ask(ports::Configure{.queue = kQueue, .paused = true});
  reopen();
  const auto blocked = claim(5);
  EXPECT_THAT(blocked.tasks, IsEmpty());
  EXPECT_TRUE(blocked.blocked);
  EXPECT_EQ(blocked.next_due, now_);
  submit();  // accepted all the same

  ask(ports::Configure{.queue = kQueue, .paused = false});
  const auto resumed = claim(5);
  EXPECT_EQ(resumed.tasks.size(), 3U);
  EXPECT_FALSE(resumed.blocked);
}

TEST_P(StoreConformance, pausing_one_queue_leaves_others_alone) {
  submit();
  ask(ports::Configure{.queue = "other", .paused = true});
  EXPECT_FALSE(claim(0).blocked);
  EXPECT_TRUE(claim(0, "other").blocked) << "also while it is empty";
  EXPECT_EQ(claim(5).tasks.size(), 1U);
}

TEST_P(StoreConformance, what_runs_in_a_paused_queue_is_settled_as_ever) {
  submit();
  const TaskRecord running = claim_one();
  ask(ports::Configure{.queue = kQueue, .paused = true});
  EXPECT_THAT(ask(ports::Renew{{{running.id, running.task.token}}, now_ + 1h}), ElementsAre(true));
  EXPECT_EQ(move(running, Event::success, State::succeeded), Done::applied);
}

TEST_P(StoreConformance, a_queue_runs_no_more_at_once_than_its_concurrency) {
  submit_many(5);
  ask(ports::Configure{.queue = kQueue, .concurrency = 2});
  reopen();
  const auto first = claim(10);
  ASSERT_EQ(first.tasks.size(), 2U);
  EXPECT_TRUE(first.blocked) << "with these two it is at its limit";
  EXPECT_EQ(first.next_due, now_);
  EXPECT_TRUE(claim(10).tasks.empty());

  ASSERT_EQ(move(first.tasks[0], Event::success, State::succeeded), Done::applied);
  EXPECT_FALSE(claim(0).blocked);
  EXPECT_EQ(claim(10).tasks.size(), 1U);
  ASSERT_EQ(move(first.tasks[1], Event::error, State::retrying), Done::applied);
  EXPECT_EQ(claim(10).tasks.size(), 1U) << "a task that waits again does not run";
}

TEST_P(StoreConformance, concurrency_counts_the_running_tasks_of_every_owner) {
  submit_many(5);
  ask(ports::Configure{.queue = kQueue, .concurrency = 3});
  const auto by = [&](const char* owner) {
    return ask(ports::Claim{.queue = kQueue, .max = 2, .owner = owner, .now = now_}).tasks.size();
  };
  EXPECT_EQ(by("worker 1"), 2U);
  EXPECT_EQ(by("worker 2"), 1U);
  EXPECT_EQ(by("worker 1"), 0U);
  now_ += 24h;
  EXPECT_EQ(by("worker 1"), 0U) << "a lease that has ended is rescued first";
}

TEST_P(StoreConformance, concurrency_can_be_lowered_below_what_runs_and_lifted_again) {
  submit_many(5);
  const auto running = claim(3).tasks;
  ask(ports::Configure{.queue = kQueue, .concurrency = 1});
  EXPECT_TRUE(claim(5).blocked);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(move(running[static_cast<std::size_t>(i)], Event::success, State::succeeded),
              Done::applied);
    EXPECT_TRUE(claim(5).tasks.empty());
  }
  ask(ports::Configure{.queue = kQueue, .concurrency = 0});
  const auto rest = claim(5);
  EXPECT_EQ(rest.tasks.size(), 2U);
  EXPECT_FALSE(rest.blocked);
}

TEST_P(StoreConformance, a_lease_without_end_is_kept) {
  const TaskId id = submit();
  ask(ports::Claim{.queue = kQueue, .owner = "me", .lease = Duration::max(), .now = now_});
  EXPECT_GT(find(id).lease_end, now_ + 24h * 365 * 100);
  now_ += 24h * 365 * 50;
  EXPECT_THAT(ask(ports::Overdue{.now = now_}), IsEmpty());
}

}  // namespace
}  // namespace holdfast::conformance
