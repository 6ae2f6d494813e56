#include "conformance/carried_conformance.hpp"

#include <gmock/gmock.h>

namespace holdfast::conformance {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

TEST_P(CarriedConformance, WhatWaitsIsUncarriedUntilItIsSaidToBe) {
  const TaskId first = submit();
  auto carried = new_task();
  carried.carried = true;
  submit(carried);
  auto other = new_task();
  other.queue = "scan";
  submit(other);
  auto found = uncarried();
  ASSERT_THAT(ids_of(found), ElementsAre(first));
  EXPECT_EQ(found[0].payload, find(first).payload);
  EXPECT_EQ(carry(found[0]), 1U);
  EXPECT_THAT(uncarried(), IsEmpty());
  reopen();
  EXPECT_THAT(uncarried(), IsEmpty());
  EXPECT_THAT(uncarried("scan"), SizeIs(1));
}

TEST_P(CarriedConformance, WhatShouldHaveComeLongAgoIsToldOfWhenAsked) {
  auto early = new_task();
  early.carried = true;
  const TaskId lost = submit(early);
  auto late = new_task();
  late.carried = true;
  late.due = now_ + 5s;
  submit(late);
  EXPECT_THAT(uncarried(), IsEmpty());
  const auto answer =
      ask(ports::Uncarried{.queue = kQueue, .cursor = "", .limit = 100, .due_before = now_ + 1s});
  EXPECT_THAT(ids_of(answer.tasks), ElementsAre(lost));
}

TEST_P(CarriedConformance, WhatWaitsAgainIsUncarriedAgain) {
  submit();
  carry(uncarried().at(0));
  const TaskRecord running = claim_one();
  EXPECT_THAT(uncarried(), IsEmpty());
  EXPECT_EQ(carry(running), 0U) << "a running task has no message";
  EXPECT_EQ(move(running, Event::error, State::retrying), Done::applied);
  EXPECT_THAT(ids_of(uncarried()), ElementsAre(running.id));
}

TEST_P(CarriedConformance, DeadLettersOfCarriedTasksAreToBeCarried) {
  const TaskId never = submit();
  auto adopted = new_task();
  adopted.carried = true;
  const TaskId once = submit(adopted);
  for (const TaskRecord& record : claim(2).tasks) {
    EXPECT_EQ(move(record, Event::error, State::dead, Fingerprint(7)), Done::applied);
  }
  const auto found = uncarried();
  ASSERT_THAT(ids_of(found), ElementsAre(once)) << "not " << never.text();
  EXPECT_EQ(found[0].task.state, State::dead);
  EXPECT_EQ(found[0].task.last_failure->message, full_failure().message);
  EXPECT_EQ(carry(found[0]), 1U);
  EXPECT_THAT(uncarried(), IsEmpty());
}

TEST_P(CarriedConformance, PagesHoldEachOnce) {
  std::vector<TaskId> ids = submit_many(7);
  for (const TaskRecord& record : claim(3).tasks) {
    carry(record);
    EXPECT_EQ(move(record, Event::error, State::retrying), Done::applied);
  }
  for (const std::size_t limit : {1U, 2U, 3U, 100U}) {
    EXPECT_THAT(ids_of(uncarried(kQueue, limit)), ::testing::UnorderedElementsAreArray(ids));
  }
  EXPECT_EQ(code_of(try_ask(ports::Uncarried{.queue = kQueue, .cursor = "strange", .limit = 1})),
            ErrorCode::invalid_argument);
}

TEST_P(CarriedConformance, APageThatIsFullOfWhatWaitsGoesOnWithTheDead) {
  auto carried = new_task();
  carried.carried = true;
  const TaskId died = submit(carried);
  ASSERT_EQ(move(claim_one(), Event::error, State::dead, Fingerprint(7)), Done::applied);
  submit_many(4);
  for (const std::size_t limit : {1U, 2U, 4U, 5U}) {
    const auto all = ids_of(uncarried(kQueue, limit));
    EXPECT_THAT(all, SizeIs(5)) << limit;
    EXPECT_THAT(all, ::testing::Contains(died)) << limit;
  }
}

TEST_P(CarriedConformance, ASayingThatComesTooLateChangesNothing) {
  submit();
  const TaskRecord before = uncarried().at(0);
  const TaskRecord running = claim_one();
  EXPECT_EQ(move(running, Event::error, State::retrying), Done::applied);
  EXPECT_EQ(carry(before), 0U);
  EXPECT_EQ(ask(ports::Carried{{{id_of(999), core::Token()}}}), 0U);
  EXPECT_THAT(uncarried(), SizeIs(1));
}

TEST_P(CarriedConformance, OnlyThoseThatAreNamedAreClaimed) {
  const auto ids = submit_many(3);
  auto later = new_task();
  later.due = now_ + 5s;
  const TaskId not_due = submit(later);
  const TaskRecord other = task_in(State::succeeded);
  const auto answer = claim_only({ids[2], ids[0], not_due, id_of(999), other.id});
  EXPECT_THAT(ids_of(answer.tasks), ElementsAre(ids[2], ids[0]));
  EXPECT_EQ(answer.tasks[0].task.token.value, 1U);
  EXPECT_EQ(answer.tasks[0].payload, find(ids[2]).payload);
  ASSERT_THAT(answer.left, SizeIs(3));
  EXPECT_EQ(answer.left[0].id, not_due);
  EXPECT_EQ(answer.left[0].state, State::pending);
  EXPECT_EQ(answer.left[0].due, now_ + 5s);
  EXPECT_EQ(answer.left[1].state, std::nullopt);
  EXPECT_EQ(answer.left[2].state, std::nullopt) << "of another queue";
  EXPECT_EQ(state_of(ids[1]), State::pending);
  EXPECT_EQ(state_of(ids[0]), State::running);
  EXPECT_THAT(claim_ids(10), ElementsAre(ids[1]));
}

TEST_P(CarriedConformance, ANamedClaimTellsWhereTheRestStands) {
  auto adopted = new_task();
  adopted.carried = true;
  const TaskId dead = submit(adopted);
  EXPECT_EQ(move(claim_one(), Event::error, State::dead, Fingerprint(7)), Done::applied);
  auto left = claim_only({dead, dead}).left;
  ASSERT_THAT(left, SizeIs(2));
  EXPECT_EQ(left[0].state, State::dead);
  EXPECT_EQ(left[0].token.value, 1U);
  EXPECT_FALSE(left[0].carried);
  carry(find(dead));
  EXPECT_TRUE(claim_only({dead}).left.at(0).carried);
}

TEST_P(CarriedConformance, ANamedClaimKeepsToTheLimits) {
  const auto ids = submit_many(3);
  auto answer = claim_only({ids[0], ids[1]}, 1);
  EXPECT_THAT(ids_of(answer.tasks), ElementsAre(ids[0]));
  ASSERT_THAT(answer.left, SizeIs(1));
  EXPECT_EQ(answer.left[0].state, State::pending);
  EXPECT_FALSE(answer.blocked);
  ask(ports::Configure{.queue = kQueue, .concurrency = 2});
  answer = claim_only({ids[1], ids[2]});
  EXPECT_THAT(ids_of(answer.tasks), ElementsAre(ids[1]));
  EXPECT_TRUE(answer.blocked);
  ask(ports::Configure{.queue = kQueue, .paused = true, .concurrency = 0});
  answer = claim_only({ids[2]});
  EXPECT_THAT(answer.tasks, IsEmpty());
  EXPECT_TRUE(answer.blocked);
  EXPECT_THAT(claim_only({ids[2]}, 1, "nobody").left, SizeIs(1));
}

TEST_P(CarriedConformance, WhatIsWithdrawnWasNeverThere) {
  auto keyed = new_task();
  keyed.key = "k";
  const TaskId id = submit(keyed);
  auto carried = new_task();
  carried.carried = true;
  const TaskId kept = submit(carried);
  EXPECT_THAT(ask(ports::Withdraw{{id, kept, id, id_of(999)}}),
              ElementsAre(true, false, false, false));
  EXPECT_EQ(ask(ports::Find{id}), std::nullopt);
  const auto again = submit_all({keyed});
  ASSERT_TRUE(again[0]);
  EXPECT_FALSE(again[0]->existed);
  EXPECT_THAT(claim_ids(10), UnorderedElementsAre(id, kept));
  EXPECT_THAT(ask(ports::Withdraw{{id}}), ElementsAre(false)) << "it runs";
}

TEST_P(CarriedConformance, NoBacklogKeepsOutWhatABrokerHasDelivered) {
  ask(ports::Configure{.queue = kQueue, .backlog = 1});
  submit();
  auto refused = new_task();
  EXPECT_EQ(code_of(submit_all({refused})[0]), ErrorCode::overloaded);
  refused.delivered = true;
  EXPECT_EQ(code_of(submit_all({refused})[0]), std::nullopt);
}

TEST_P(CarriedConformance, R9_AttemptsThatWereSpentElsewhereCount) {
  auto task = new_task();
  task.attempts = 2;
  submit(task);
  EXPECT_EQ(claim_one().task.spent.attempts, 2);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CarriedConformance);

}  // namespace holdfast::conformance
