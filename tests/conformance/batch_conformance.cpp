// Several verbs at once, readers, and audits.
#include <gmock/gmock.h>

#include "conformance/record_text.hpp"
#include "conformance/store_conformance.hpp"

namespace holdfast::conformance {
namespace {

using ports::Asked;
using ::testing::ElementsAre;
using ::testing::SizeIs;

template <class Verb>
const typename Verb::Answer& answer_of(const ports::Request& request) {
  return std::get<Asked<Verb>>(request).answer.value();
}

TEST_P(StoreConformance, an_empty_batch_does_nothing) {
  store_.writer->carry_out({});
  if (store_.reader) store_.reader->carry_out({});
}

TEST_P(StoreConformance, verbs_of_one_batch_see_what_those_before_have_done) {
  const ports::NewTask task = new_task();
  const ports::Claim claim{.queue = kQueue, .owner = "me", .lease = 30s, .now = now_};
  core::Task claimed;
  claimed.token = {1};
  claimed.state = State::running;
  const ports::Change::One death{
      .id = task.id,
      .token = {1},
      .transition = transition_of({State::running, Event::error, State::dead, core::Spends::attempt,
                                   core::DeadReason::out_of_attempts},
                                  claimed, now_),
      .fingerprint = Fingerprint(6)};
  ports::Request batch[] = {
      Asked<ports::Find>{{task.id}},
      Asked<ports::Submit>{{{task}}},
      Asked<ports::Find>{{task.id}},
      Asked<ports::Claim>{claim},
      Asked<ports::Claim>{claim},
      Asked<ports::Renew>{{{{task.id, {1}}}, now_ + 99s}},
      Asked<ports::Count>{},
      Asked<ports::Change>{{{death}}},
      Asked<ports::Renew>{{{{task.id, {1}}}, now_ + 99s}},
      Asked<ports::Groups>{},
      Asked<ports::List>{{.filter = {.state = State::dead}}},
      Asked<ports::Configure>{{.queue = kQueue, .paused = true}},
      Asked<ports::Count>{},
      Asked<ports::Purge>{{.state = State::dead, .ended_before = now_ + 1s}},
      Asked<ports::Groups>{},
      Asked<ports::Audit>{},
  };
  store_.writer->carry_out(batch);

  EXPECT_EQ(answer_of<ports::Find>(batch[0]), std::nullopt);
  EXPECT_FALSE(answer_of<ports::Submit>(batch[1]).at(0).value().existed);
  EXPECT_EQ(answer_of<ports::Find>(batch[2]).value().task.state, State::pending);
  EXPECT_THAT(answer_of<ports::Claim>(batch[3]).tasks, SizeIs(1));
  EXPECT_THAT(answer_of<ports::Claim>(batch[4]).tasks, SizeIs(0));
  EXPECT_THAT(answer_of<ports::Renew>(batch[5]), ElementsAre(true));
  EXPECT_EQ(answer_of<ports::Count>(batch[6]).at(0).count(State::running), 1U);
  EXPECT_THAT(answer_of<ports::Change>(batch[7]), ElementsAre(Done::applied));
  EXPECT_THAT(answer_of<ports::Renew>(batch[8]), ElementsAre(false));
  EXPECT_EQ(answer_of<ports::Groups>(batch[9]).groups.at(0).count, 1U);
  EXPECT_THAT(answer_of<ports::List>(batch[10]).tasks, SizeIs(1));
  EXPECT_TRUE(answer_of<ports::Count>(batch[12]).at(0).paused);
  EXPECT_EQ(answer_of<ports::Purge>(batch[13]), 1U);
  EXPECT_THAT(answer_of<ports::Groups>(batch[14]).groups, SizeIs(0));
  EXPECT_TRUE(answer_of<ports::Audit>(batch[15]).clean());
}

// The engine's own: settle what has ended, then fill the slots that are free, for one fsync.
TEST_P(StoreConformance, a_settlement_makes_room_for_the_claim_behind_it) {
  ask(ports::Configure{.queue = kQueue, .concurrency = 1});
  const auto ids = submit_many(2);
  const TaskRecord running = claim_one();
  ports::Request batch[] = {
      Asked<ports::Change>{
          {{{.id = running.id,
             .token = running.task.token,
             .transition = transition_of({State::running, Event::success, State::succeeded},
                                         running.task, now_)}}}},
      Asked<ports::Claim>{{.queue = kQueue, .max = 5, .owner = "me", .now = now_}},
  };
  store_.writer->carry_out(batch);
  EXPECT_THAT(ids_of(answer_of<ports::Claim>(batch[1]).tasks), ElementsAre(ids[1]));
}

TEST_P(StoreConformance, a_verb_that_is_refused_keeps_no_other_from_being_carried_out) {
  const ports::NewTask first = new_task();
  const ports::NewTask second = new_task();
  ports::Request batch[] = {
      Asked<ports::Submit>{{{first}}},
      Asked<ports::Purge>{{.state = State::running, .ended_before = now_}},
      Asked<ports::List>{{.filter = {}, .cursor = "nonsense"}},
      Asked<ports::Configure>{{.queue = kQueue, .concurrency = -1}},
      Asked<ports::Submit>{{{second}}},
  };
  store_.writer->carry_out(batch);
  EXPECT_FALSE(std::get<Asked<ports::Purge>>(batch[1]).answer);
  EXPECT_FALSE(std::get<Asked<ports::List>>(batch[2]).answer);
  EXPECT_FALSE(std::get<Asked<ports::Configure>>(batch[3]).answer);
  reopen();
  EXPECT_EQ(state_of(first.id), State::pending);
  EXPECT_EQ(state_of(second.id), State::pending);
}

TEST_P(StoreConformance, large_batches_are_carried_out_whole) {
  constexpr int kTasks = 2000;
  const auto ids = submit_many(kTasks);
  const auto running = claim(kTasks).tasks;
  ASSERT_EQ(ids_of(running), ids);
  ports::Change changes;
  for (const TaskRecord& record : running) {
    changes.changes.push_back(
        {.id = record.id,
         .token = record.task.token,
         .transition =
             transition_of({State::running, Event::success, State::succeeded}, record.task, now_),
         .result = record.payload});
  }
  EXPECT_THAT(ask(std::move(changes)), ::testing::Each(Done::applied));
  EXPECT_EQ(counts().count(State::succeeded), static_cast<std::uint64_t>(kTasks));
  EXPECT_EQ(ask(ports::Purge{.state = State::succeeded, .ended_before = now_ + 1s, .max = kTasks}),
            static_cast<std::size_t>(kTasks));
}

TEST_P(StoreConformance, a_reader_sees_what_was_answered_before) {
  if (!store_.reader) GTEST_SKIP() << "has no reader";
  for (int i = 0; i < 5; ++i) {
    const TaskId id = submit();
    EXPECT_TRUE(ports::ask(*store_.reader, ports::Find{id}).value());
    EXPECT_EQ(ports::ask(*store_.reader, ports::Count()).value().at(0).count(State::pending),
              static_cast<std::uint64_t>(i + 1));
  }
}

TEST_P(StoreConformance, a_reader_refuses_to_change_anything) {
  if (!store_.reader) GTEST_SKIP() << "has no reader";
  ports::Request batch[] = {
      Asked<ports::Submit>{{{new_task()}}},
      Asked<ports::Configure>{{.queue = kQueue, .paused = true}},
      Asked<ports::Audit>{{.repair = true}},
      Asked<ports::Count>{},
  };
  store_.reader->carry_out(batch);
  EXPECT_FALSE(std::get<Asked<ports::Submit>>(batch[0]).answer);
  EXPECT_FALSE(std::get<Asked<ports::Configure>>(batch[1]).answer);
  EXPECT_FALSE(std::get<Asked<ports::Audit>>(batch[2]).answer);
  EXPECT_THAT(answer_of<ports::Count>(batch[3]), SizeIs(0));
}

TEST_P(StoreConformance, the_writer_answers_queries_as_the_reader_does) {
  for (const State state : {State::pending, State::running, State::dead})
    (void)task_in(state);
  if (!store_.reader) GTEST_SKIP() << "has no reader";
  for (const TaskRecord& record : list()) {
    EXPECT_EQ(text_of(ports::ask(*store_.writer, ports::Find{record.id}).value()),
              text_of(ports::ask(*store_.reader, ports::Find{record.id}).value()));
  }
}

// N5
TEST_P(StoreConformance, an_audit_counts_what_is_there) {
  for (const State state : {State::pending, State::running, State::running, State::retrying,
                            State::succeeded, State::failed, State::dead, State::canceled}) {
    (void)task_in(state, Fingerprint(1));
  }
  const auto report = ask(ports::Audit());
  EXPECT_EQ(report.accepted, 8U);
  EXPECT_THAT(report.present, ElementsAre(1, 2, 1, 1, 1, 1, 1));
  EXPECT_TRUE(report.clean());
  EXPECT_THAT(report.findings, SizeIs(0));
}

TEST_P(StoreConformance, a_repair_of_a_sound_store_changes_nothing) {
  for (const State state : {State::pending, State::running, State::retrying, State::succeeded,
                            State::failed, State::dead, State::canceled}) {
    (void)task_in(state, Fingerprint(1));
  }
  std::vector<std::string> before;
  for (const TaskRecord& record : list())
    before.push_back(text_of(find(record.id)));
  EXPECT_TRUE(ask(ports::Audit{.repair = true}).clean());
  std::vector<std::string> after;
  for (const TaskRecord& record : list())
    after.push_back(text_of(find(record.id)));
  EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace holdfast::conformance
