// What is kept of a task, and how much of it: payloads, failures, history.
#include <algorithm>

#include <gmock/gmock.h>

#include "conformance/record_text.hpp"
#include "conformance/store_conformance.hpp"

namespace holdfast::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_P(StoreConformance, find_of_a_task_that_nobody_knows_is_nothing) {
  submit();
  EXPECT_EQ(ask(ports::Find{id_of(999)}), std::nullopt);
  EXPECT_EQ(ask(ports::Find{TaskId()}), std::nullopt);
}

TEST_P(StoreConformance, payloads_are_kept_to_the_byte) {
  std::string bytes;
  for (int value = 0; value < 256; ++value)
    bytes.push_back(static_cast<char>(value));
  std::string big(1 << 20, '\0');
  for (std::size_t i = 0; i < big.size(); ++i)
    big[i] = static_cast<char>(i * 31 + i / 251);
  for (const std::string& payload :
       {std::string(), std::string(1, '\0'), std::string("\0\0a", 3), bytes, big}) {
    ports::NewTask task = new_task();
    task.payload = payload;
    submit(task);
    reopen();
    EXPECT_TRUE(find(task.id).payload == payload) << payload.size() << " bytes";
    EXPECT_TRUE(claim_one().payload == payload) << payload.size() << " bytes";
    EXPECT_THAT(list().front().payload, IsEmpty());
  }
}

TEST_P(StoreConformance, names_may_hold_any_text) {
  const std::string names[] = {"очередь",
                               "队列 🐢",
                               "it's; DROP TABLE tasks --",
                               "a\"b\\c%_?*",
                               std::string("nul\0inside", 10),
                               std::string(300, 'x')};
  for (const std::string& name : names) {
    ports::NewTask task = new_task();
    task.queue = name;
    task.type = name + "!";
    task.key = name;
    submit(task);
    const auto claimed = ask(ports::Claim{.queue = name, .owner = name, .now = now_}).tasks;
    ASSERT_THAT(claimed, SizeIs(1)) << name;
    const TaskRecord record = find(task.id);
    EXPECT_EQ(record.queue, name);
    EXPECT_EQ(record.type, name + "!");
    EXPECT_EQ(record.key, name);
    EXPECT_EQ(record.owner, name);
    EXPECT_EQ(counts(name).count(State::running), 1U);
    EXPECT_THAT(list_ids({.queue = name}), ElementsAre(task.id));
    EXPECT_THAT(list_ids({.type = name + "!"}), ElementsAre(task.id));
  }
}

TEST_P(StoreConformance, every_id_is_kept_as_it_is) {
  Uuid::Bytes ones;
  ones.fill(0xff);
  for (const TaskId& id : {TaskId(), TaskId(Uuid(ones)), id_of(1U << 31)}) {
    ports::NewTask task = new_task();
    task.id = id;
    EXPECT_EQ(submit(task), id);
    EXPECT_EQ(find(id).id, id);
  }
}

TEST_P(StoreConformance, the_history_tells_each_claim_that_has_ended) {
  submit();
  const WallTime started = now_;
  const TaskRecord running = claim_one();
  EXPECT_THAT(find(running.id).attempts, IsEmpty()) << "one that runs has not ended";
  now_ += 2s;
  ASSERT_EQ(move(running, Event::error, State::retrying), Done::applied);
  now_ += 10s;
  const auto second =
      ask(ports::Claim{.queue = kQueue, .owner = "worker 2", .now = now_}).tasks.at(0);
  ASSERT_EQ(move(second, Event::hand_back, State::pending), Done::applied);
  reopen();

  const auto attempts = find(running.id).attempts;
  ASSERT_THAT(attempts, SizeIs(2));
  const ports::PastAttempt expected[] = {{.token = {1},
                                          .event = Event::error,
                                          .started = started,
                                          .ended = started + 2s,
                                          .owner = "worker 1",
                                          .failure = full_failure()},
                                         {.token = {2},
                                          .event = Event::hand_back,
                                          .started = now_,
                                          .ended = now_,
                                          .owner = "worker 2"}};
  EXPECT_EQ(text_of(attempts[0]), text_of(expected[0]));
  EXPECT_EQ(text_of(attempts[1]), text_of(expected[1]));
}

TEST_P(StoreConformance, moves_of_a_task_that_does_not_run_are_no_attempts) {
  const TaskRecord dead = task_in(State::dead);
  ASSERT_EQ(move(dead, Event::replay, State::pending), Done::applied);
  ASSERT_EQ(move(find(dead.id), Event::cancel, State::canceled), Done::applied);
  EXPECT_THAT(find(dead.id).attempts, SizeIs(1));
}

TEST_P(StoreConformance, the_history_is_the_latest_attempts_and_no_more) {
  submit();
  for (int i = 1; i <= ports::kKeptAttempts + 7; ++i) {
    now_ += 1min;
    const TaskRecord running = claim_one();
    Failure failure = full_failure("error " + std::to_string(i));
    ASSERT_EQ(move(running, Event::error, State::retrying, {}, failure), Done::applied);
    if (i == 10) reopen();
  }
  const TaskRecord record = find(id_of(1));
  ASSERT_THAT(record.attempts, SizeIs(ports::kKeptAttempts));
  for (int i = 0; i < ports::kKeptAttempts; ++i) {
    const auto& attempt = record.attempts[static_cast<std::size_t>(i)];
    EXPECT_EQ(attempt.token.value, static_cast<std::uint64_t>(i + 8)) << "oldest first";
    EXPECT_EQ(attempt.failure.value().message, "error " + std::to_string(i + 8));
  }
  EXPECT_EQ(record.task.spent.attempts, ports::kKeptAttempts + 7) << "counts are not history";
}

TEST_P(StoreConformance, each_task_has_a_history_of_its_own) {
  submit_many(3);
  for (int round = 0; round < 12; ++round) {
    now_ += 1min;
    for (const auto& running : claim(3).tasks) {
      ASSERT_EQ(move(running, Event::throttle, State::retrying), Done::applied);
    }
  }
  for (std::uint64_t number = 1; number <= 3; ++number) {
    EXPECT_THAT(find(id_of(number)).attempts, SizeIs(12));
  }
}

TEST_P(StoreConformance, messages_are_cut_at_the_border_of_a_character) {
  const std::string euro = "\xe2\x82\xac";
  const std::string almost(ports::kKeptMessageBytes - 2, 'x');
  const std::string full(ports::kKeptMessageBytes, 'x');
  const std::pair<std::string, std::string> given_and_kept[] = {
      {full, full},
      {full + "y", full},
      {almost + euro, almost},                           // would need one byte more
      {almost + "\xc3\xa9" + "z", almost + "\xc3\xa9"},  // just fits
      {full.substr(3) + euro + euro, full.substr(3) + euro},
      {std::string("a\0b", 3), std::string("a\0b", 3)},
  };
  for (const auto& [given, kept] : given_and_kept) {
    const TaskRecord running = task_in(State::running);
    ASSERT_EQ(move(running, Event::error, State::dead, Fingerprint(given.size() * 7 + given.back()),
                   full_failure(given)),
              Done::applied);
    const TaskRecord record = find(running.id);
    EXPECT_EQ(record.task.last_failure.value().message, kept);
    EXPECT_EQ(record.attempts.at(0).failure.value().message, kept);
    EXPECT_EQ(record.task.last_failure->http_status, 503) << "the rest of it stays";
    const auto groups = ask(ports::Groups()).groups;
    const auto group = std::ranges::find(groups, record.fingerprint, &ports::Group::fingerprint);
    ASSERT_NE(group, groups.end());
    EXPECT_EQ(group->example, kept);
  }
}

TEST_P(StoreConformance, a_failure_keeps_apart_what_is_zero_and_what_is_not_there) {
  Failure zeros;
  zeros.http_status = 0;
  zeros.exit_code = 0;
  zeros.os_error = 0;
  zeros.retry_after = 0s;
  Failure negative;
  negative.exit_code = -1;
  negative.os_error = -104;
  negative.retry_after = -5s;
  for (const Failure& failure : {Failure(), zeros, negative, full_failure()}) {
    const TaskRecord running = task_in(State::running);
    ASSERT_EQ(move(running, Event::error, State::retrying, {}, failure), Done::applied);
    reopen();
    EXPECT_EQ(find(running.id).task.last_failure, failure);
    EXPECT_EQ(find(running.id).attempts.at(0).failure, failure);
  }
}

TEST_P(StoreConformance, large_counts_are_kept) {
  const TaskRecord running = task_in(State::running);
  Transition transition =
      transition_of({State::running, Event::error, State::retrying}, running.task, now_);
  constexpr int kMost = std::numeric_limits<int>::max();
  transition.spent = {.attempts = kMost, .crashes = kMost, .deferrals = kMost, .replays = kMost};
  transition.previous_wait = 24h * 365 * 200;
  ASSERT_EQ(change({.id = running.id, .token = running.task.token, .transition = transition}),
            Done::applied);
  reopen();
  EXPECT_EQ(find(running.id).task.spent, transition.spent);
  EXPECT_EQ(find(running.id).task.previous_wait, transition.previous_wait);
}

}  // namespace
}  // namespace holdfast::conformance
