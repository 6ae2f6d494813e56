// What groups of failures are made of (N1), and turning their pages.
#include <algorithm>
#include <limits>
#include <set>

#include <gmock/gmock.h>

#include "conformance/store_conformance.hpp"

namespace holdfast::conformance {
namespace {

using ports::Group;
using ports::Groups;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_P(StoreConformance, N1_a_group_says_which_queues_and_types_it_is_made_of) {
  const auto die = [&](const char* queue, const char* type) {
    ports::NewTask task = new_task();
    task.queue = queue;
    task.type = type;
    submit(task);
    const TaskRecord record = claim_one(queue);
    EXPECT_EQ(move(record, Event::error, State::dead, Fingerprint(7)), Done::applied);
    return find(record.id);
  };
  const auto parts = [&] { return ask(Groups()).groups.at(0).parts; };
  die("b", "x");
  die("a", "y");
  const TaskRecord first = die("a", "x");
  const TaskRecord second = die("z", "z");
  die("z", "z");
  reopen();
  EXPECT_THAT(parts(), ElementsAre(Group::Part{"z", "z", 2}, Group::Part{"a", "x", 1},
                                   Group::Part{"a", "y", 1}, Group::Part{"b", "x", 1}))
      << "the largest first, then by queue and type";
  ASSERT_EQ(move(first, Event::replay, State::pending), Done::applied);
  ASSERT_EQ(move(second, Event::discard, State::canceled), Done::applied);
  EXPECT_THAT(parts(), ElementsAre(Group::Part{"a", "y", 1}, Group::Part{"b", "x", 1},
                                   Group::Part{"z", "z", 1}));
  EXPECT_EQ(ask(ports::Purge{.state = State::dead, .ended_before = now_ + 1s, .max = 1}), 1U);
  EXPECT_THAT(parts(), ElementsAre(Group::Part{"a", "y", 1}, Group::Part{"z", "z", 1}));
  const TaskRecord left = list({.state = State::dead, .queue = "a"}).at(0);
  ASSERT_EQ(move(left, Event::close, State::failed, Fingerprint(7)), Done::applied);
  const auto both = ask(Groups{.only = Fingerprint(7)}).groups;
  ASSERT_THAT(both, SizeIs(2));
  for (const Group& group : both) {
    EXPECT_THAT(group.parts, ElementsAre(group.state == State::dead ? Group::Part{"z", "z", 1}
                                                                    : Group::Part{"a", "y", 1}));
  }
}

TEST_P(StoreConformance, N1_many_of_one_batch_are_counted_each_by_its_own_part) {
  std::vector<ports::NewTask> tasks;
  for (int i = 0; i < 40; ++i) {
    ports::NewTask& task = tasks.emplace_back(new_task());
    task.type = i % 4 == 0 ? "rare" : "often";
    task.priority = i % 3;
  }
  submit_all(tasks);
  ports::Change change;
  for (const TaskRecord& record : claim(100).tasks) {
    const Failure failure{.message = "no", .kind = static_cast<FailureKind>(record.id < id_of(10))};
    Transition transition = transition_of({State::running, Event::error, State::dead,
                                           core::Spends::attempt, core::DeadReason::ambiguous},
                                          record.task, now_ + (record.id < id_of(5) ? 0s : 10min));
    transition.failure = failure;
    change.changes.push_back({.id = record.id,
                              .token = record.task.token,
                              .transition = transition,
                              .fingerprint = Fingerprint(7)});
  }
  ASSERT_THAT(change.changes, SizeIs(40));
  (void)ask(change);
  const Group group = ask(Groups()).groups.at(0);
  EXPECT_EQ(group.count, 40U);
  EXPECT_THAT(group.parts,
              ElementsAre(Group::Part{kQueue, "often", 30}, Group::Part{kQueue, "rare", 10}));
  EXPECT_THAT(group.came_by, ElementsAre(31U, 9U, 0U));
  EXPECT_THAT(group.trend,
              ElementsAre(Group::Arrivals{now_, 4}, Group::Arrivals{now_ + 10min, 36}));
  EXPECT_EQ(group.last_seen, now_ + 10min);
}

TEST_P(StoreConformance, N1_a_group_says_how_all_that_ever_came_to_it_did) {
  const auto fail_by = [&](Event event, State to, FailureKind kind) {
    Failure failure = full_failure();
    failure.kind = kind;
    const TaskRecord record = task_in(State::running);
    ASSERT_EQ(move(record, event, to, Fingerprint(7), failure), Done::applied);
  };
  fail_by(Event::error, State::dead, FailureKind::error);
  fail_by(Event::error, State::dead, FailureKind::timeout);
  fail_by(Event::ambiguous, State::dead, FailureKind::timeout);
  fail_by(Event::crash, State::dead, FailureKind::crash);
  fail_by(Event::give_up, State::failed, FailureKind::crash);
  ASSERT_EQ(move(task_in(State::running), Event::expire, State::dead, Fingerprint(7)),
            Done::applied);
  const TaskRecord back = list({.state = State::dead}).at(0);
  ASSERT_EQ(move(back, Event::replay, State::pending), Done::applied);
  reopen();
  for (const Group& group : ask(Groups()).groups) {
    if (group.state == State::dead) {
      EXPECT_THAT(group.came_by, ElementsAre(2U, 2U, 1U)) << "also of those that have left";
    } else {
      EXPECT_THAT(group.came_by, ElementsAre(0U, 0U, 1U));
    }
  }
}

TEST_P(StoreConformance, N1_a_group_says_when_tasks_came_to_it) {
  const auto trend = [&] { return ask(Groups()).groups.at(0).trend; };
  const WallTime first = now_;
  const TaskRecord leaves = task_in(State::dead, Fingerprint(7));
  now_ += 10min - 1us;
  (void)task_in(State::dead, Fingerprint(7));
  now_ += 1us;
  (void)task_in(State::dead, Fingerprint(7));
  now_ = first + 40min;
  (void)task_in(State::dead, Fingerprint(7));
  ASSERT_EQ(move(leaves, Event::discard, State::canceled), Done::applied);
  reopen();
  EXPECT_THAT(trend(), ElementsAre(Group::Arrivals{first, 2}, Group::Arrivals{first + 10min, 1},
                                   Group::Arrivals{first + 40min, 1}));
  now_ = first + 24h - 10min;
  (void)task_in(State::dead, Fingerprint(7));
  EXPECT_THAT(trend(), SizeIs(4)) << "the first is within a day of it";
  now_ = first + 24h;
  (void)task_in(State::dead, Fingerprint(7));
  EXPECT_THAT(
      trend(),
      ElementsAre(Group::Arrivals{first + 10min, 1}, Group::Arrivals{first + 40min, 1},
                  Group::Arrivals{first + 24h - 10min, 1}, Group::Arrivals{first + 24h, 1}));
  now_ = first + 60h;
  (void)task_in(State::dead, Fingerprint(7));
  EXPECT_THAT(trend(), ElementsAre(Group::Arrivals{first + 60h, 1}));
  now_ = first;  // a clock that went back
  (void)task_in(State::dead, Fingerprint(7));
  EXPECT_THAT(trend(), ElementsAre(Group::Arrivals{first + 60h, 1})) << "too long ago to be kept";
  now_ = first + 59h;
  (void)task_in(State::dead, Fingerprint(7));
  EXPECT_THAT(trend(),
              ElementsAre(Group::Arrivals{first + 59h, 1}, Group::Arrivals{first + 60h, 1}));
}

TEST_P(StoreConformance, slots_before_1970_begin_as_all_others_do) {
  now_ = WallTime(-1us);
  (void)task_in(State::dead, Fingerprint(7));
  EXPECT_THAT(ask(Groups()).groups.at(0).trend, ElementsAre(Group::Arrivals{WallTime(-10min), 1}));
}

TEST_P(StoreConformance, a_group_that_begins_anew_has_forgotten_what_it_was_made_of) {
  const TaskRecord before = task_in(State::dead, Fingerprint(3));
  ASSERT_EQ(move(before, Event::discard, State::canceled), Done::applied);
  now_ += 1h;
  (void)task_in(State::dead, Fingerprint(3));
  const Group group = ask(Groups()).groups.at(0);
  EXPECT_THAT(group.came_by, ElementsAre(0U, 1U, 0U));
  EXPECT_THAT(group.parts, ElementsAre(Group::Part{"dead", kType, 1}));
  EXPECT_THAT(group.trend, ElementsAre(Group::Arrivals{now_, 1}));
}

// Within one call: what leaves and what comes are not mixed up.
TEST_P(StoreConformance, a_group_may_empty_and_begin_anew_in_one_batch) {
  const TaskRecord leaves = task_in(State::dead, Fingerprint(3));
  now_ += 1h;
  const TaskRecord comes = task_in(State::running);
  const auto one = [&](const TaskRecord& record, const core::Move& move, Fingerprint group) {
    return ports::Change::One{.id = record.id,
                              .token = record.task.token,
                              .transition = transition_of(move, record.task, now_),
                              .fingerprint = group};
  };
  std::vector<ports::Request> batch = {
      ports::Asked<ports::Change>{
          {{one(leaves, {State::dead, Event::discard, State::canceled}, {})}}},
      ports::Asked<ports::Change>{{{one(comes,
                                        {State::running, Event::crash, State::dead,
                                         core::Spends::crash, core::DeadReason::crashes},
                                        Fingerprint(3))}}},
      ports::Asked<Groups>{},
  };
  store_.writer->carry_out(batch);
  const auto groups = std::get<ports::Asked<Groups>>(batch[2]).answer.value().groups;
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_EQ(groups[0].count, 1U);
  EXPECT_EQ(groups[0].first_seen, now_);
  EXPECT_THAT(groups[0].parts, ElementsAre(Group::Part{"running", kType, 1}));
  EXPECT_THAT(groups[0].trend, ElementsAre(Group::Arrivals{now_, 1}));
}

// Each change sees what those before it have done: the group was never empty.
TEST_P(StoreConformance, a_group_goes_on_where_one_comes_before_the_last_leaves) {
  for (const bool is_opened_between : {false, true}) {
    const Fingerprint group(is_opened_between ? 4 : 3);
    const TaskRecord leaves = task_in(State::dead, group);
    const TaskRecord comes = task_in(State::running);
    if (is_opened_between) reopen();  // a store may know more of what was claimed through it
    const WallTime first = now_;
    now_ += 1h;
    const core::Move death{State::running, Event::error, State::dead, core::Spends::attempt,
                           core::DeadReason::out_of_attempts};
    const core::Move discard{State::dead, Event::discard, State::canceled};
    (void)ask(ports::Change{{{.id = comes.id,
                              .token = comes.task.token,
                              .transition = transition_of(death, comes.task, now_),
                              .fingerprint = group},
                             {.id = leaves.id,
                              .token = leaves.task.token,
                              .transition = transition_of(discard, leaves.task, now_)}}});
    const Group rest = ask(Groups{.only = group}).groups.at(0);
    EXPECT_EQ(rest.count, 1U);
    EXPECT_EQ(rest.first_seen, first);
    EXPECT_THAT(rest.came_by, ElementsAre(0U, 2U, 0U));
    EXPECT_THAT(rest.parts, ElementsAre(Group::Part{"running", kType, 1}));
    EXPECT_THAT(rest.trend, ElementsAre(Group::Arrivals{first, 1}, Group::Arrivals{now_, 1}));
  }
}

TEST_P(StoreConformance, groups_of_one_fingerprint_are_found_by_it) {
  (void)task_in(State::failed, Fingerprint(1));
  now_ += 1s;
  (void)task_in(State::dead, Fingerprint(1));
  (void)task_in(State::dead, Fingerprint(2));
  const auto found = ask(Groups{.only = Fingerprint(1)});
  ASSERT_THAT(found.groups, SizeIs(2));
  EXPECT_EQ(found.groups[0].state, State::dead) << "the latest seen first";
  EXPECT_EQ(found.groups[1].state, State::failed);
  EXPECT_EQ(found.next, "");
  EXPECT_THAT(ask(Groups{.only = Fingerprint(2)}).groups, SizeIs(1));
  EXPECT_THAT(ask(Groups{.only = Fingerprint(3)}).groups, IsEmpty());
}

TEST_P(StoreConformance, every_group_is_on_exactly_one_page) {
  constexpr std::uint64_t kMany = 23;
  for (std::uint64_t group = 1; group <= kMany; ++group) {
    if (group % 4 != 0) now_ += 1s;  // some are seen last at the same time
    (void)task_in(group % 5 == 0 ? State::failed : State::dead, Fingerprint(group << 60U | group));
  }
  for (const std::size_t limit : {std::size_t(1), std::size_t(2), std::size_t(5), std::size_t(23),
                                  std::numeric_limits<std::size_t>::max()}) {
    std::vector<WallTime> seen;
    std::set<Fingerprint> fingerprints;
    Groups verb{.limit = limit};
    do {
      const auto page = ask(verb);
      ASSERT_LE(page.groups.size(), limit);
      for (const Group& group : page.groups) {
        seen.push_back(group.last_seen);
        fingerprints.insert(group.fingerprint);
      }
      verb.cursor = page.next;
    } while (!verb.cursor.empty() && seen.size() <= kMany);
    EXPECT_EQ(seen.size(), kMany) << limit;
    EXPECT_EQ(fingerprints.size(), kMany) << limit;
    EXPECT_TRUE(std::ranges::is_sorted(seen, std::greater())) << limit;
  }
}

TEST_P(StoreConformance, pages_of_groups_go_on_though_the_last_one_told_was_seen_again_or_is_gone) {
  std::vector<TaskRecord> members;
  for (std::uint64_t group = 1; group <= 6; ++group) {
    now_ += 1s;
    members.push_back(task_in(State::dead, Fingerprint(group)));
  }
  const auto fingerprints = [](const Groups::Answer& page) {
    std::vector<std::uint64_t> told;
    for (const Group& group : page.groups)
      told.push_back(group.fingerprint.value());
    return told;
  };
  const auto first = ask(Groups{.limit = 2});
  EXPECT_THAT(fingerprints(first), ElementsAre(6U, 5U));
  now_ += 1s;
  (void)task_in(State::dead, Fingerprint(5));
  const auto second = ask(Groups{.limit = 2, .cursor = first.next});
  EXPECT_THAT(fingerprints(second), ElementsAre(4U, 3U));
  ASSERT_EQ(move(members[2], Event::discard, State::canceled), Done::applied);
  EXPECT_THAT(fingerprints(ask(Groups{.limit = 2, .cursor = second.next})), ElementsAre(2U, 1U));
}

TEST_P(StoreConformance, a_cursor_that_no_page_of_groups_gave_is_refused) {
  (void)task_in(State::dead, Fingerprint(1));
  (void)task_in(State::dead, Fingerprint(2));
  const std::string cursor = ask(Groups{.limit = 1}).next;
  ASSERT_NE(cursor, "");
  for (const std::string& wrong : {std::string("nonsense"), cursor.substr(0, cursor.size() - 1),
                                   cursor + "x", cursor.substr(1)}) {
    EXPECT_EQ(code_of(try_ask(Groups{.limit = 1, .cursor = wrong})), ErrorCode::invalid_argument)
        << wrong;
  }
}

}  // namespace
}  // namespace holdfast::conformance
