// Groups of failures (N1), and work in batches.
#include <gmock/gmock.h>

#include "conformance/record_text.hpp"
#include "conformance/store_conformance.hpp"

namespace holdfast::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_P(StoreConformance, a_group_counts_and_dates_its_tasks) {
  const Fingerprint group(0x8000'0000'0000'0001U);
  const WallTime first = now_;
  for (const char* message :
       {"timeout after 31 ms", "timeout after 32 ms", "timeout after 33 ms"}) {
    const TaskRecord running = task_in(State::running);
    ASSERT_EQ(move(running, Event::error, State::dead, group, full_failure(message)),
              Done::applied);
    now_ += 1min;
  }
  reopen();
  const auto groups = ask(ports::Groups()).groups;
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_EQ(text_of(groups[0]), text_of(ports::Group{.state = State::dead,
                                                     .fingerprint = group,
                                                     .count = 3,
                                                     .first_seen = first,
                                                     .last_seen = first + 2min,
                                                     .example = "timeout after 31 ms",
                                                     .came_by = {0, 3, 0},
                                                     .parts = {{"running", kType, 3}},
                                                     .trend = {{first, 3}}}));
}

TEST_P(StoreConformance, failed_and_dead_tasks_of_one_fingerprint_are_apart) {
  (void)task_in(State::failed, Fingerprint(1));
  now_ += 1s;
  (void)task_in(State::dead, Fingerprint(1));
  (void)task_in(State::dead, Fingerprint(1));
  const auto groups = ask(ports::Groups()).groups;
  ASSERT_THAT(groups, SizeIs(2));
  EXPECT_EQ(groups[0].state, State::dead);
  EXPECT_EQ(groups[0].count, 2U);
  EXPECT_EQ(groups[1].state, State::failed);
  EXPECT_EQ(groups[1].count, 1U);
}

TEST_P(StoreConformance, tasks_of_every_queue_share_a_group) {
  for (const char* queue : {"a", "b"}) {
    ports::NewTask task = new_task();
    task.queue = queue;
    submit(task);
    ASSERT_EQ(move(claim_one(queue), Event::error, State::dead, Fingerprint(9)), Done::applied);
  }
  ASSERT_THAT(ask(ports::Groups()).groups, SizeIs(1));
  EXPECT_EQ(ask(ports::Groups()).groups[0].count, 2U);
}

TEST_P(StoreConformance, groups_come_latest_seen_first_and_no_more_than_asked_for) {
  std::vector<Fingerprint> latest_first;
  for (const std::uint64_t value : {5U, 2U, 9U, 1U}) {
    now_ += 1s;
    (void)task_in(State::dead, Fingerprint(value));
    latest_first.insert(latest_first.begin(), Fingerprint(value));
  }
  const auto seen = [&](std::size_t limit) {
    std::vector<Fingerprint> fingerprints;
    for (const auto& group : ask(ports::Groups{.limit = limit}).groups) {
      fingerprints.push_back(group.fingerprint);
    }
    return fingerprints;
  };
  EXPECT_EQ(seen(100), latest_first);
  EXPECT_THAT(seen(2), ElementsAre(Fingerprint(1), Fingerprint(9)));
  EXPECT_THAT(seen(0), IsEmpty());
  now_ += 1s;
  (void)task_in(State::dead, Fingerprint(5));
  EXPECT_EQ(seen(1), std::vector{Fingerprint(5)}) << "seen again";
}

TEST_P(StoreConformance, replay_discard_and_purge_take_tasks_out_of_their_group) {
  const Fingerprint group(3);
  for (const State state : {State::dead, State::failed}) {
    std::vector<TaskRecord> members;
    for (int i = 0; i < 4; ++i) {
      members.push_back(task_in(state, group));
      now_ += 1s;
    }
    const auto count = [&]() -> std::uint64_t {
      const auto groups = ask(ports::Groups()).groups;
      return groups.empty() ? 0 : groups.at(0).count;
    };
    ASSERT_EQ(move(members[3], Event::replay, State::pending), Done::applied);
    EXPECT_EQ(count(), 3U);
    ASSERT_EQ(move(members[2], Event::discard, State::canceled), Done::applied);
    EXPECT_EQ(count(), 2U);
    EXPECT_EQ(ask(ports::Purge{.state = state, .ended_before = now_, .max = 1}), 1U);
    EXPECT_EQ(count(), 1U);
    const ports::Group rest = ask(ports::Groups()).groups.at(0);
    EXPECT_EQ(rest.first_seen, members[0].changed) << "also of those that have left";
    EXPECT_EQ(rest.last_seen, members[3].changed);
    EXPECT_EQ(move(members[2], Event::replay, State::pending), Done::moved_on);
    EXPECT_EQ(count(), 1U) << "what was refused is not counted";
    EXPECT_EQ(ask(ports::Purge{.state = state, .ended_before = now_}), 1U);
    EXPECT_THAT(ask(ports::Groups()).groups, IsEmpty());
    reopen();
    EXPECT_EQ(find(members[3].id).fingerprint, Fingerprint());
    EXPECT_EQ(find(members[2].id).fingerprint, Fingerprint());
  }
}

TEST_P(StoreConformance, a_group_that_was_empty_begins_anew) {
  const TaskRecord before = task_in(State::dead, Fingerprint(3));
  ASSERT_EQ(move(before, Event::discard, State::canceled), Done::applied);
  now_ += 1h;
  const TaskRecord running = task_in(State::running);
  ASSERT_EQ(move(running, Event::error, State::dead, Fingerprint(3), full_failure("anew")),
            Done::applied);
  const ports::Group group = ask(ports::Groups()).groups.at(0);
  EXPECT_EQ(group.count, 1U);
  EXPECT_EQ(group.first_seen, now_);
  EXPECT_EQ(group.example, "anew");
}

TEST_P(StoreConformance, the_example_of_a_death_without_an_error_is_its_reason) {
  const TaskRecord running = task_in(State::running);
  ASSERT_EQ(move(running, Event::expire, State::dead, Fingerprint(3)), Done::applied);
  (void)task_in(State::dead, Fingerprint(3));
  EXPECT_EQ(ask(ports::Groups()).groups.at(0).example, "deadline");
  EXPECT_EQ(ask(ports::Groups()).groups.at(0).count, 2U);
}

TEST_P(StoreConformance, a_clock_that_went_back_does_not_make_a_group_older) {
  const WallTime first = now_;
  for (const Duration at : {0s, 10s, 5s}) {
    now_ = first + at;
    (void)task_in(State::dead, Fingerprint(3));
  }
  const ports::Group group = ask(ports::Groups()).groups.at(0);
  EXPECT_EQ(group.first_seen, first);
  EXPECT_EQ(group.last_seen, first + 10s);
}

TEST_P(StoreConformance, a_task_that_dies_again_may_be_in_another_group) {
  const TaskRecord dead = task_in(State::dead, Fingerprint(1));
  ASSERT_EQ(move(dead, Event::replay, State::pending), Done::applied);
  ASSERT_EQ(move(claim_one(dead.queue), Event::error, State::dead, Fingerprint(2)), Done::applied);
  const auto groups = ask(ports::Groups()).groups;
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_EQ(groups[0].fingerprint, Fingerprint(2));
}

}  // namespace
}  // namespace holdfast::conformance
