// Accepting tasks, and idempotency keys.
#include <algorithm>

#include <gmock/gmock.h>

#include "conformance/record_text.hpp"
#include "conformance/store_conformance.hpp"

namespace holdfast::conformance {
namespace {

using ::testing::ElementsAre;

constexpr const char* kTrace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST_P(StoreConformance, submit_keeps_everything_that_was_handed_in) {
  ports::NewTask task = new_task();
  task.payload = std::string("a\0b\xff", 4);
  task.priority = -7;
  task.due = now_ + 90s;
  task.deadline = now_ + 1h;
  task.key = "order 4711";
  task.limits = {.attempts = 9, .timeout = 1500ms};
  task.trace = kTrace;
  task.retry_on_failure = true;
  submit(task);
  reopen();

  TaskRecord expected;
  expected.id = task.id;
  expected.type = task.type;
  expected.queue = task.queue;
  expected.payload = task.payload;
  expected.priority = -7;
  expected.key = "order 4711";
  expected.limits = task.limits;
  expected.trace = kTrace;
  expected.retry_on_failure = true;
  expected.task.created = task.created;
  expected.task.due = task.due;
  expected.task.deadline = task.deadline;
  expected.changed = task.created;
  EXPECT_EQ(text_of(find(task.id)), text_of(expected));
}

TEST_P(StoreConformance, submit_keeps_an_absent_deadline_and_limits_absent) {
  const TaskRecord kept = find(submit());
  EXPECT_EQ(kept.task.deadline, std::nullopt);
  EXPECT_EQ(kept.limits, ports::OwnLimits());
  EXPECT_EQ(kept.key, "");
  EXPECT_EQ(kept.trace, "");
  EXPECT_FALSE(kept.retry_on_failure);
  EXPECT_EQ(kept.result, std::nullopt);
}

TEST_P(StoreConformance, submit_answers_each_in_the_order_it_was_given) {
  std::vector<ports::NewTask> tasks(50);
  std::ranges::generate(tasks, [&] { return new_task(); });
  std::swap(tasks[3], tasks[40]);  // not the order of ids
  const auto answers = submit_all(tasks);
  ASSERT_EQ(answers.size(), tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    EXPECT_EQ(answers[i].value().id, tasks[i].id);
    EXPECT_FALSE(answers[i]->existed);
  }
}

TEST_P(StoreConformance, submit_of_nothing_is_answered_with_nothing) {
  EXPECT_TRUE(submit_all({}).empty());
  EXPECT_EQ(ask(ports::Audit()).accepted, 0U);
}

TEST_P(StoreConformance, a_refused_task_keeps_no_other_from_being_accepted) {
  ports::NewTask first = new_task();
  first.key = "k";
  submit(first);

  ports::NewTask conflicting = new_task();
  conflicting.key = "k";
  const ports::NewTask good = new_task();
  ports::NewTask same_id = new_task();
  same_id.id = first.id;
  const ports::NewTask last = new_task();
  const auto answers = submit_all({conflicting, good, same_id, last});

  EXPECT_EQ(code_of(answers[0]), ErrorCode::conflict);
  EXPECT_EQ(answers[1].value().id, good.id);
  EXPECT_EQ(code_of(answers[2]), ErrorCode::conflict);
  EXPECT_EQ(answers[3].value().id, last.id);
  EXPECT_EQ(ask(ports::Find{conflicting.id}), std::nullopt);
  EXPECT_EQ(ask(ports::Audit()).accepted, 3U);
}

TEST_P(StoreConformance, a_conflict_names_the_key_or_the_id) {
  ports::NewTask first = new_task();
  first.key = "order 4711";
  submit(first);
  ports::NewTask other = new_task();
  other.key = first.key;
  const auto by_key = submit_all({other})[0];
  ASSERT_FALSE(by_key);
  EXPECT_NE(by_key.error().message.find("order 4711"), std::string::npos);
  ports::NewTask same_id = new_task();
  same_id.id = first.id;
  const auto by_id = submit_all({same_id})[0];
  ASSERT_FALSE(by_id);
  EXPECT_NE(by_id.error().message.find(first.id.text()), std::string::npos);
}

TEST_P(StoreConformance, the_same_key_and_body_is_the_same_task) {
  ports::NewTask first = new_task();
  first.key = "k";
  submit(first);
  reopen();

  ports::NewTask again = first;
  again.id = id_of(1000);
  again.priority = 50;  // no part of the body
  again.due = now_ + 1h;
  again.created = now_ + 1s;
  const auto answer = submit_all({again})[0];
  EXPECT_EQ(answer.value().id, first.id);
  EXPECT_TRUE(answer->existed);
  EXPECT_EQ(ask(ports::Find{again.id}), std::nullopt);
  EXPECT_EQ(find(first.id).priority, 0) << "what was accepted first stays as it was";
}

TEST_P(StoreConformance, the_same_key_with_another_body_is_a_conflict) {
  ports::NewTask first = new_task();
  first.key = "k";
  submit(first);
  for (std::string ports::NewTask::* const field :
       {&ports::NewTask::type, &ports::NewTask::queue, &ports::NewTask::payload}) {
    ports::NewTask other = first;
    other.id = id_of(1000);
    other.*field += "x";
    const auto answer = submit_all({other})[0];
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::conflict);
  }
  EXPECT_EQ(list().size(), 1U);
}

TEST_P(StoreConformance, keys_are_compared_byte_by_byte) {
  std::vector<ports::NewTask> tasks;
  for (const std::string& key :
       {std::string("k"), std::string("K"), std::string("k "), std::string("k\0", 2),
        std::string("k\0z", 3), std::string("\xc3\xa9"), std::string("e\xcc\x81")}) {
    tasks.push_back(new_task());
    tasks.back().key = key;
  }
  for (const auto& answer : submit_all(tasks))
    EXPECT_FALSE(answer.value().existed);
  for (const auto& task : tasks)
    EXPECT_EQ(find(task.id).key, task.key);
}

TEST_P(StoreConformance, tasks_without_a_key_are_never_the_same) {
  const ports::NewTask first = new_task();
  ports::NewTask twin = first;
  twin.id = new_task().id;
  for (const auto& answer : submit_all({first, twin}))
    EXPECT_FALSE(answer.value().existed);
}

TEST_P(StoreConformance, keys_hold_within_one_submission) {
  ports::NewTask first = new_task();
  first.key = "k";
  ports::NewTask twin = first;
  twin.id = new_task().id;
  ports::NewTask other = new_task();
  other.key = "k";
  const auto answers = submit_all({first, twin, other});
  EXPECT_FALSE(answers[0].value().existed);
  EXPECT_EQ(answers[1].value().id, first.id);
  EXPECT_TRUE(answers[1]->existed);
  EXPECT_EQ(code_of(answers[2]), ErrorCode::conflict);
}

TEST_P(StoreConformance, an_id_that_exists_is_like_a_key) {
  const ports::NewTask first = new_task();
  submit(first);
  EXPECT_TRUE(submit_all({first})[0].value().existed) << "a submission that is sent again";

  ports::NewTask other = first;
  other.payload += "x";
  EXPECT_EQ(code_of(submit_all({other})[0]), ErrorCode::conflict);
  ports::NewTask with_key = first;
  with_key.key = "k";
  EXPECT_EQ(code_of(submit_all({with_key})[0]), ErrorCode::conflict)
      << "or the key would be promised, and not kept";
}

TEST_P(StoreConformance, the_key_is_looked_at_before_the_id) {
  ports::NewTask keyed = new_task();
  keyed.key = "k";
  const ports::NewTask plain = new_task();
  submit_all({keyed, plain});
  ports::NewTask both = keyed;
  both.id = plain.id;
  const auto answer = submit_all({both})[0];
  EXPECT_EQ(answer.value().id, keyed.id);
  EXPECT_TRUE(answer->existed);
}

TEST_P(StoreConformance, a_key_is_held_while_its_task_lives_and_after_it_has_ended) {
  ports::NewTask first = new_task();
  first.key = "k";
  submit(first);
  ports::NewTask again = first;
  again.id = id_of(1000);
  const TaskRecord running = claim_one();
  EXPECT_TRUE(submit_all({again})[0].value().existed);
  ASSERT_EQ(move(running, Event::success, State::succeeded), Done::applied);
  EXPECT_TRUE(submit_all({again})[0].value().existed);
  EXPECT_EQ(submit_all({again})[0].value().id, first.id);
}

TEST_P(StoreConformance, a_key_and_an_id_are_free_again_after_a_purge) {
  ports::NewTask first = new_task();
  first.key = "k";
  submit(first);
  ASSERT_EQ(move(claim_one(), Event::success, State::succeeded), Done::applied);
  ASSERT_EQ(ask(ports::Purge{.state = State::succeeded, .ended_before = now_ + 1s}), 1U);

  ports::NewTask other = new_task();
  other.key = "k";
  const auto answers = submit_all({other, first});
  EXPECT_FALSE(answers[0].value().existed);
  EXPECT_EQ(code_of(answers[1]), ErrorCode::conflict) << "the key is taken again";
  first.key.clear();
  EXPECT_FALSE(submit_all({first})[0].value().existed);
  EXPECT_EQ(find(first.id).task.state, State::pending);
}

TEST_P(StoreConformance, times_are_kept_to_the_microsecond) {
  ports::NewTask task = new_task();
  task.created = kStart + 1999ns;
  task.due = kStart + 2999ns;
  task.deadline = kStart + 3999ns;
  const TaskRecord kept = find(submit(task));
  const auto is_kept = [](WallTime given, WallTime read) {
    return read <= given && given - read < 1us;
  };
  EXPECT_PRED2(is_kept, task.created, kept.task.created);
  EXPECT_PRED2(is_kept, task.due, kept.task.due);
  EXPECT_PRED2(is_kept, *task.deadline, kept.task.deadline.value());
}

// A time that says "never" or "always" is no reason to fall over.
TEST_P(StoreConformance, times_at_the_ends_of_the_range_are_kept) {
  ports::NewTask never = new_task();
  never.due = WallTime::max();
  never.deadline = WallTime::max();
  ports::NewTask always = new_task();
  always.due = WallTime(-1us);  // before 1970
  submit_all({never, always});
  EXPECT_THAT(claim_ids(10), ElementsAre(always.id));
  EXPECT_GT(find(never.id).task.due, WallTime::max() - 1ms);
  EXPECT_GT(find(never.id).task.deadline.value(), WallTime::max() - 1ms);
}

// T8: what was answered is there after the store was closed.
TEST_P(StoreConformance, accepted_tasks_are_durable) {
  const auto ids = submit_many(100);
  reopen();
  EXPECT_EQ(claim_ids(1000), ids);
}

TEST_P(StoreConformance, a_trace_goes_with_its_task_to_whoever_runs_or_rescues_it) {
  ports::NewTask task = new_task();
  task.trace = kTrace;
  submit(task);
  EXPECT_EQ(list().at(0).trace, "") << "pages of tasks do without";
  EXPECT_EQ(claim_one().trace, kTrace);
  now_ += 1h;
  EXPECT_EQ(ask(ports::Overdue{.now = now_}).at(0).trace, kTrace);
  ASSERT_EQ(move(find(task.id), Event::error, State::retrying), Done::applied);
  reopen();
  now_ += 24h;
  EXPECT_EQ(claim_one().trace, kTrace);
  EXPECT_EQ(find(task.id).trace, kTrace);
}

// C2.2: it is kept for whoever decides about the dead letter.
TEST_P(StoreConformance, retry_on_failure_goes_with_its_task) {
  ports::NewTask task = new_task();
  task.retry_on_failure = true;
  task.carried = true;
  submit(task);
  EXPECT_FALSE(list().at(0).retry_on_failure) << "pages of tasks do without";
  EXPECT_TRUE(claim_one().retry_on_failure);
  now_ += 1h;
  EXPECT_TRUE(ask(ports::Overdue{.now = now_}).at(0).retry_on_failure);
  ASSERT_EQ(move(find(task.id), Event::error, State::dead, Fingerprint(5)), Done::applied);
  reopen();
  EXPECT_TRUE(ask(ports::Uncarried{.queue = task.queue}).tasks.empty() ||
              ask(ports::Uncarried{.queue = task.queue}).tasks.at(0).retry_on_failure);
  EXPECT_TRUE(find(task.id).retry_on_failure);
  ASSERT_EQ(move(find(task.id), Event::replay, State::pending), Done::applied);
  EXPECT_TRUE(claim_one().retry_on_failure);
}

TEST_P(StoreConformance, a_trace_does_not_make_it_another_task) {
  ports::NewTask task = new_task();
  task.key = "k";
  task.trace = kTrace;
  submit(task);
  task.trace = "";
  EXPECT_TRUE(submit_all({task}).at(0).value().existed);
  EXPECT_EQ(find(task.id).trace, kTrace) << "that of the first";
}

TEST_P(StoreConformance, a_queue_takes_no_more_than_its_backlog) {
  ask(ports::Configure{.queue = kQueue, .backlog = 2});
  const auto answers = submit_all({new_task(), new_task(), new_task(), new_task()});
  EXPECT_TRUE(answers[0]);
  EXPECT_TRUE(answers[1]);
  for (const auto& refused : {answers[2], answers[3]}) {
    EXPECT_EQ(code_of(refused), ErrorCode::overloaded);
    EXPECT_NE(refused.error().message.find(kQueue), std::string::npos);
    EXPECT_NE(refused.error().message.find("(2)"), std::string::npos);
  }
  ports::NewTask elsewhere = new_task();
  elsewhere.queue = "other";
  EXPECT_TRUE(submit_all({elsewhere}).at(0)) << "each queue has its own";
  EXPECT_EQ(counts().count(State::pending), 2U);
  reopen();
  EXPECT_EQ(code_of(submit_all({new_task()}).at(0)), ErrorCode::overloaded);
  EXPECT_EQ(counts().backlog, 2);
}

TEST_P(StoreConformance, a_backlog_is_what_waits) {
  ask(ports::Configure{.queue = kQueue, .backlog = 2});
  submit_many(2);
  const TaskRecord running = claim_one();
  const TaskId third = submit();
  EXPECT_EQ(code_of(submit_all({new_task()}).at(0)), ErrorCode::overloaded);
  // What waits again counts, and is never refused.
  ASSERT_EQ(move(running, Event::error, State::retrying), Done::applied);
  EXPECT_EQ(counts().count(State::pending) + counts().count(State::retrying), 3U);
  ASSERT_EQ(move(find(third), Event::cancel, State::canceled), Done::applied);
  EXPECT_EQ(code_of(submit_all({new_task()}).at(0)), ErrorCode::overloaded);
  ASSERT_EQ(move(find(running.id), Event::cancel, State::canceled), Done::applied);
  submit();
  EXPECT_EQ(code_of(submit_all({new_task()}).at(0)), ErrorCode::overloaded);
}

TEST_P(StoreConformance, a_full_queue_still_knows_what_it_has) {
  ports::NewTask keyed = new_task();
  keyed.key = "k";
  submit(keyed);
  const ports::NewTask plain = new_task();
  submit(plain);
  ask(ports::Configure{.queue = kQueue, .backlog = 1});
  EXPECT_TRUE(submit_all({plain}).at(0).value().existed);
  ports::NewTask again = keyed;
  again.id = new_task().id;
  EXPECT_EQ(submit_all({again}).at(0).value().id, keyed.id);
  again.payload = "another";
  EXPECT_EQ(code_of(submit_all({again}).at(0)), ErrorCode::conflict);
  ports::NewTask changed = plain;
  changed.payload = "another";
  EXPECT_EQ(code_of(submit_all({changed}).at(0)), ErrorCode::conflict);
  ports::NewTask fresh = new_task();
  fresh.key = "fresh";
  EXPECT_EQ(code_of(submit_all({fresh}).at(0)), ErrorCode::overloaded);
  ask(ports::Configure{.queue = kQueue, .backlog = 0});
  EXPECT_FALSE(submit_all({fresh}).at(0).value().existed) << "a refusal took neither id nor key";
}

}  // namespace
}  // namespace holdfast::conformance
