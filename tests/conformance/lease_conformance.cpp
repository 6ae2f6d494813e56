// Leases: renewing them, and finding those that have ended.
#include <gmock/gmock.h>

#include "conformance/record_text.hpp"
#include "conformance/store_conformance.hpp"

namespace holdfast::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST_P(StoreConformance, renew_moves_the_end_of_a_lease_and_nothing_else) {
  submit();
  TaskRecord running = find(claim_one().id);
  now_ += 10s;
  EXPECT_THAT(ask(ports::Renew{{{running.id, running.task.token}}, now_ + 30s}), ElementsAre(true));
  reopen();
  running.lease_end = now_ + 30s;
  EXPECT_EQ(text_of(find(running.id)), text_of(running));

  EXPECT_THAT(ask(ports::Renew{{{running.id, running.task.token}}, now_ - 1s}), ElementsAre(true));
  EXPECT_EQ(find(running.id).lease_end, now_ - 1s) << "also to an earlier time";
}

// N6
TEST_P(StoreConformance, renew_tells_which_claims_are_lost) {
  submit_many(3);
  const auto running = claim(2).tasks;
  const ports::Held held{running[0].id, running[0].task.token};
  const ports::Held old_token{running[1].id, {running[1].task.token.value - 1}};
  const ports::Held next_token{running[1].id, {running[1].task.token.value + 1}};
  const ports::Held never_claimed{id_of(3), {}};
  const ports::Held unknown{id_of(999), {1}};
  EXPECT_THAT(
      ask(ports::Renew{{unknown, old_token, held, next_token, never_claimed, held}, now_ + 99s}),
      ElementsAre(false, false, true, false, false, true));
  EXPECT_EQ(find(running[0].id).lease_end, now_ + 99s);
  EXPECT_EQ(find(running[1].id).lease_end, running[1].lease_end);
}

TEST_P(StoreConformance, renew_is_false_for_every_state_but_running) {
  for (const State state : {State::pending, State::retrying, State::succeeded, State::failed,
                            State::dead, State::canceled}) {
    const TaskRecord record = task_in(state);
    EXPECT_THAT(ask(ports::Renew{{{record.id, record.task.token}}, now_ + 1h}), ElementsAre(false))
        << to_string(state);
    EXPECT_EQ(text_of(find(record.id)), text_of(record));
  }
}

TEST_P(StoreConformance, renew_of_nothing_is_answered_with_nothing) {
  EXPECT_THAT(ask(ports::Renew{{}, now_}), IsEmpty());
}

// T11
TEST_P(StoreConformance, overdue_finds_tasks_whose_lease_has_ended) {
  submit_many(3);
  const auto running = claim(3).tasks;  // leases of 30 s
  ask(ports::Renew{{{running[1].id, running[1].task.token}}, now_ + 60s});
  now_ += 30s;
  EXPECT_THAT(ask(ports::Overdue{.now = now_}), IsEmpty()) << "ends now, has not ended before";
  now_ += 1us;
  EXPECT_THAT(ids_of(ask(ports::Overdue{.now = now_})),
              UnorderedElementsAre(running[0].id, running[2].id));
  reopen();
  now_ += 30s;
  EXPECT_EQ(ask(ports::Overdue{.now = now_}).size(), 3U);
}

TEST_P(StoreConformance, overdue_tells_what_a_rescue_needs) {
  ports::NewTask task = new_task();
  task.deadline = now_ + 1h;
  task.limits.attempts = 7;
  task.key = "k";
  submit(task);
  TaskRecord running = claim_one();
  const auto overdue = ask(ports::Overdue{.now = now_ + 1h});
  running.payload.clear();
  ASSERT_EQ(overdue.size(), 1U);
  EXPECT_EQ(text_of(overdue[0]), text_of(running));
}

TEST_P(StoreConformance, overdue_is_only_what_runs) {
  for (const State state : {State::pending, State::retrying, State::succeeded, State::failed,
                            State::dead, State::canceled}) {
    (void)task_in(state);
  }
  EXPECT_THAT(ask(ports::Overdue{.now = now_ + 24h, .sole_owner = "somebody else"}), IsEmpty());
}

TEST_P(StoreConformance, overdue_leaves_owners_that_are_away_their_leases) {
  const auto ids = submit_many(3);
  for (const char* owner : {"before", "away:snake", "away"}) {
    ask(ports::Claim{.queue = kQueue, .owner = owner, .lease = 1h, .now = now_});
  }
  EXPECT_THAT(ids_of(ask(ports::Overdue{.now = now_, .sole_owner = "me"})),
              UnorderedElementsAre(ids[0], ids[2]));
  EXPECT_EQ(ask(ports::Overdue{.now = now_ + 2h, .sole_owner = "me"}).size(), 3U);
}

// N8: at start of the only owner, every claim there is belongs to the dead.
TEST_P(StoreConformance, overdue_finds_claims_of_owners_that_are_gone) {
  const auto ids = submit_many(3);
  for (const char* owner : {"before", "me", "before that"}) {
    ask(ports::Claim{.queue = kQueue, .owner = owner, .lease = 1h, .now = now_});
  }
  EXPECT_THAT(ask(ports::Overdue{.now = now_}), IsEmpty());
  EXPECT_THAT(ids_of(ask(ports::Overdue{.now = now_, .sole_owner = "me"})),
              UnorderedElementsAre(ids[0], ids[2]));
  EXPECT_EQ(ask(ports::Overdue{.now = now_ + 2h, .sole_owner = "me"}).size(), 3U)
      << "an own lease that has ended counts as well";
}

TEST_P(StoreConformance, overdue_comes_in_parts_until_all_are_rescued) {
  submit_many(25);
  claim(25);
  now_ += 1h;
  EXPECT_THAT(ask(ports::Overdue{.now = now_, .max = 0}), IsEmpty());
  std::vector<std::size_t> parts;
  for (;;) {
    const auto overdue = ask(ports::Overdue{.now = now_, .max = 10});
    if (overdue.empty()) break;
    parts.push_back(overdue.size());
    for (const auto& record : overdue) {
      ASSERT_EQ(move(record, Event::crash, State::retrying), Done::applied);
    }
  }
  EXPECT_THAT(parts, ElementsAre(10, 10, 5));
}

}  // namespace
}  // namespace holdfast::conformance
