// N5: each kind of damage is planted by SQL into a file that the store has made.
#include "stores/sqlite/audit.hpp"

#include <algorithm>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stores/sqlite/audit_testing.hpp"

namespace holdfast::stores::sqlite::audit_test {
namespace {

using ports::AuditReport;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t kPending = 0;
constexpr std::size_t kRunning = 1;
constexpr std::size_t kRetrying = 2;

std::vector<std::string> texts(const AuditReport& report) {
  std::vector<std::string> whats;
  for (const ports::Finding& finding : report.findings)
    whats.push_back(finding.what);
  return whats;
}

bool all_repaired(const AuditReport& report) {
  return report.repaired == report.found &&
         std::ranges::all_of(report.findings, &ports::Finding::repaired);
}

// Everything that the file says of tasks, but for one of them.
std::string rows_without(const SampleFile& file, int seq) {
  Database database(file.path(), Database::Mode::write);
  std::string all;
  for (const char* table :
       {"task", "waiting", "running", "succeeded", "parked", "attempt", "idempotency_key"}) {
    std::string columns;
    Statement(database, fmt::format("select name from pragma_table_info('{}')", table).c_str())
        .each([&](Row row) {
          columns +=
              (columns.empty() ? "" : " || ',' || ") + fmt::format("quote({})", row.string(0));
        });
    const std::string sql =
        fmt::format("select {} from {} where seq <> ?1 order by 1", columns, table);
    Statement(database, sql.c_str())
        .each([&](Row row) { all += fmt::format("{}: {}\n", table, row.string(0)); }, seq);
  }
  return all;
}

class AuditTest : public ::testing::Test {
 protected:
  // Audits, repairs, audits again. `task` is the one that may be another afterwards.
  void finds_and_mends(const std::string& sql, const std::vector<std::string>& whats,
                       const std::string& task = "") {
    finds_and_mends(sql, whats, task, whats);
  }
  // The same for damage that has a consequence, which is gone when the damage is mended.
  void finds_and_mends(const std::string& sql, const std::vector<std::string>& whats,
                       const std::string& task, const std::vector<std::string>& to_mend) {
    const int seq = task.empty() ? 0 : file_.seq(task);
    const std::string others = rows_without(file_, seq);
    file_.plant(sql);
    {
      const auto store = file_.open();
      found_ = ports::ask(*store.reader, ports::Audit{}).value();
      EXPECT_THAT(texts(found_), ElementsAreArray(whats));
      EXPECT_EQ(found_.found, whats.size());
      mended_ = ports::ask(*store.writer, ports::Audit{.repair = true}).value();
      EXPECT_THAT(texts(mended_), ElementsAreArray(to_mend));
      EXPECT_TRUE(all_repaired(mended_));
      after_ = ports::ask(*store.reader, ports::Audit{}).value();
      EXPECT_THAT(texts(after_), IsEmpty());
      balances(after_);
    }
    EXPECT_EQ(rows_without(file_, seq), others);
    const auto store = file_.open();
    EXPECT_TRUE(ports::ask(*store.writer, ports::Audit{}).value().clean());
  }

  static void balances(const AuditReport& report) {
    std::uint64_t known = 0;
    for (std::size_t i = 0; i < report.present.size(); ++i)
      known += report.present[i] + report.removed[i];
    EXPECT_EQ(report.accepted, known);
  }

  [[nodiscard]] std::string task(const std::string& name, const std::string& what) const {
    return "task " + file_.id(name) + " " + what;
  }
  [[nodiscard]] std::string where(const std::string& name) const {
    return fmt::format(" where seq = {};", file_.seq(name));
  }
  [[nodiscard]] ports::TaskRecord record(const std::string& name) const {
    const auto store = file_.open();
    return ports::ask(*store.reader, ports::Find{file_.task_id(name)}).value().value();
  }

  SampleFile file_;
  AuditReport found_;
  AuditReport mended_;
  AuditReport after_;
};

TEST_F(AuditTest, finds_nothing_in_a_file_that_the_store_has_made) {
  finds_and_mends("select 1", {});
  EXPECT_EQ(after_.accepted, 8u);
  EXPECT_THAT(after_.present, ElementsAre(2, 1, 1, 1, 1, 1, 1));
  EXPECT_THAT(after_.removed, ElementsAre(0, 0, 0, 0, 0, 0, 0));
}

TEST_F(AuditTest, counts_what_was_purged_as_removed) {
  const auto store = file_.open();
  const WallTime later = SampleFile::kStart + std::chrono::hours(9);
  for (const core::State state : {core::State::succeeded, core::State::dead}) {
    const ports::Purge purge{.state = state, .ended_before = later};
    EXPECT_EQ(ports::ask(*store.writer, purge).value(), 1u);
  }
  const AuditReport report = ports::ask(*store.reader, ports::Audit{}).value();
  EXPECT_THAT(texts(report), IsEmpty());
  EXPECT_EQ(report.accepted, 8u);
  EXPECT_THAT(report.present, ElementsAre(2, 1, 1, 0, 1, 0, 1));
  EXPECT_THAT(report.removed, ElementsAre(0, 0, 0, 1, 0, 1, 0));
}

TEST_F(AuditTest, sees_what_came_before_it_in_its_batch) {
  const auto store = file_.open();
  std::vector<ports::Request> batch;
  batch.emplace_back(ports::Asked<ports::Claim>{
      {.queue = "mail", .max = 9, .owner = "worker-1", .now = SampleFile::kStart}});
  batch.emplace_back(ports::Asked<ports::Audit>{{.repair = true}});
  batch.emplace_back(ports::Asked<ports::Audit>{});
  store.writer->carry_out(batch);
  for (const std::size_t i : {1u, 2u}) {
    const auto& report = std::get<ports::Asked<ports::Audit>>(batch[i]).answer.value();
    EXPECT_THAT(texts(report), IsEmpty());
    EXPECT_EQ(report.present[kRunning], 2u);
  }
}

TEST_F(AuditTest, lets_a_task_wait_again_that_stands_nowhere) {
  finds_and_mends("delete from waiting" + where("pending"),
                  {task("pending", "stands nowhere: it does not wait or run, and has not ended")},
                  "pending");
  EXPECT_EQ(found_.findings[0].task, file_.id("pending"));
  const auto record = this->record("pending");
  EXPECT_EQ(record.task.state, core::State::pending);
  EXPECT_EQ(record.task.due, SampleFile::kStart);
  EXPECT_EQ(record.payload, "to pending");
}

// N6: whoever had claimed it cannot settle it any more.
TEST_F(AuditTest, gives_the_next_token_to_a_task_whose_claim_is_gone) {
  const core::Token before = record("running").task.token;
  finds_and_mends(
      "delete from running" + where("running"),
      {task("running", "stands nowhere: it does not wait or run, and has not ended"),
       "queue \"mail\" counts 1 pending, and has 2", "queue \"mail\" counts 1 running, and has 0"},
      "running");
  const auto store = file_.open();
  const auto claimed =
      ports::ask(*store.writer,
                 ports::Claim{.queue = "mail", .max = 9, .owner = "new", .now = SampleFile::kStart})
          .value();
  ASSERT_EQ(claimed.tasks.size(), 2u);
  EXPECT_EQ(claimed.tasks[0].id, file_.task_id("running"));
  EXPECT_GT(claimed.tasks[0].task.token, before);
}

TEST_F(AuditTest, gives_a_token_that_no_kept_attempt_has) {
  file_.plant("delete from waiting" + where("again") + "update task set token = 0" +
              where("again"));
  const auto store = file_.open();
  EXPECT_EQ(ports::ask(*store.writer, ports::Audit{.repair = true}).value().found, 3u);
  EXPECT_EQ(ports::ask(*store.reader, ports::Find{file_.task_id("again")}).value()->task.token,
            core::Token{3});
}

TEST_F(AuditTest, keeps_the_later_of_two_places) {
  finds_and_mends(
      "insert into running select seq, token + 1, 1, 0, 0 from task" + where("pending"),
      {task("pending", "stands in more than one place: waits, runs; the last of these counts"),
       "queue \"mail\" counts 1 pending, and has 0", "queue \"mail\" counts 1 running, and has 2"},
      "pending");
  EXPECT_EQ(record("pending").task.state, core::State::running);
}

TEST_F(AuditTest, keeps_a_success_before_all_other_places) {
  finds_and_mends("insert into waiting select queue, -priority, due, seq, state, token from task" +
                      where("succeeded") +
                      "insert into running select seq, token + 1, 1, 0, 0 from task" +
                      where("succeeded") +
                      "insert into parked select seq, 6, token + 1, 0, null, null from task" +
                      where("succeeded"),
                  {task("succeeded",
                        "stands in more than one place: waits, runs, is parked, has succeeded;"
                        " the last of these counts")});
  EXPECT_EQ(record("succeeded").result, "sent");
}

TEST_F(AuditTest, keeps_a_parked_task_parked) {
  finds_and_mends(
      "insert into waiting select queue, -priority, due, seq, state, token from task" +
          where("dead") + "insert into running select seq, token + 1, 1, 0, 0 from task" +
          where("dead"),
      {task("dead",
            "stands in more than one place: waits, runs, is parked; the last of these counts")});
}

TEST_F(AuditTest, makes_a_waiting_row_anew_that_disagrees_with_its_task) {
  const std::string is = ", but is (queue 1, priority 0, due 1800000000000000, pending, token 0)";
  finds_and_mends(
      "update waiting set rank = -7" + where("pending"),
      {task("pending",
            "waits as (queue 1, priority 7, due 1800000000000000, pending, token 0)" + is)});
  finds_and_mends(
      "update waiting set token = 5, state = 2" + where("pending"),
      {task("pending",
            "waits as (queue 1, priority 0, due 1800000000000000, retrying, token 5)" + is)});
  finds_and_mends(
      "update waiting set due = 7, queue = 3" + where("pending"),
      {task("pending", "waits as (queue 3, priority 0, due 7, pending, token 0)" + is)});
  finds_and_mends("update waiting set due = 7" + where("again"),
                  {task("again",
                        "waits as (queue 1, priority 0, due 7, retrying, token 3), but is (queue 1,"
                        " priority 0, due 1800010800000000, retrying, token 3)")});
}

TEST_F(AuditTest, removes_a_second_waiting_row) {
  finds_and_mends(
      "insert into waiting select queue, 9, due, seq, state, token from waiting" + where("pending"),
      {task("pending",
            "waits as (queue 1, priority -9, due 1800000000000000, pending, token 0),"
            " but is (queue 1, priority 0, due 1800000000000000, pending, token 0)")});
}

TEST_F(AuditTest, removes_what_belongs_to_no_task) {
  finds_and_mends(
      "insert into waiting values (1, 0, 0, 70, 0, 0);"
      "insert into running values (71, 1, 2, 0, 0);"
      "insert into succeeded values (72, 1, 2, 0, 0, 1, null);"
      "insert into parked values (73, 6, 1, 0, null, null);"
      "insert into attempt values (74, 1, 3, 0, 0, 2, null, null, null, null, null, null);"
      "insert into idempotency_key values ('lost', 75);",
      {"waiting holds row 70 of queue 1, which is no task",
       "running holds row 71, which is no task", "succeeded holds row 72, which is no task",
       "parked holds row 73, which is no task",
       "attempt holds row 74, token 1, which is of no task",
       "the key \"lost\" leads to row 75, which is no task"});
}

TEST_F(AuditTest, takes_the_greater_token_of_a_running_task) {
  finds_and_mends("update running set token = 9" + where("running"),
                  {task("running", "runs with token 9, but was claimed with 1")}, "running");
  EXPECT_EQ(record("running").task.token, core::Token{9});
  finds_and_mends("update running set token = 4" + where("running"),
                  {task("running", "runs with token 4, but was claimed with 9")}, "running");
  EXPECT_EQ(record("running").task.token, core::Token{9});
}

TEST_F(AuditTest, names_what_has_no_name) {
  finds_and_mends("delete from name where text = 'slow'",
                  {task("other", "is in queue number 4, which has no name")});
  EXPECT_EQ(record("other").queue, "unnamed-4");
  finds_and_mends("update running set owner = 90" + where("running"),
                  {task("running", "runs for owner number 90, which has no name")}, "running");
  finds_and_mends("update task set type = 91" + where("pending"),
                  {task("pending", "is of type number 91, which has no name")}, "pending");
  finds_and_mends("update succeeded set owner = 92",
                  {task("succeeded", "has succeeded for owner number 92, which has no name")},
                  "succeeded");
  finds_and_mends("update attempt set owner = 93" + where("dead"),
                  {task("dead", "has an attempt (token 1) for owner number 93, which has no name")},
                  "dead");
  finds_and_mends("insert into queue values (94, 1, 0, 0)",
                  {"the settings of queue number 94 have no name"});
}

TEST_F(AuditTest, mends_settings_that_cannot_be) {
  finds_and_mends("insert into queue values (1, 7, -2, 0)",
                  {"the settings of queue number 1 are paused 7, concurrency -2"});
  finds_and_mends("update queue set backlog = -3 where queue = 1",
                  {"the settings of queue number 1 are backlog -3"});
}

TEST_F(AuditTest, C2_1_finds_a_task_that_does_not_say_whether_it_is_brought_back) {
  finds_and_mends("update task set retry_on_failure = null" + where("dead"),
                  {task("dead", "has retry_on_failure null")}, "dead");
  finds_and_mends("update task set retry_on_failure = 7" + where("dead"),
                  {task("dead", "has retry_on_failure 7")}, "dead");
}

TEST_F(AuditTest, mends_numbers_that_are_out_of_range) {
  finds_and_mends("update task set attempts = -1, replays = -4" + where("dead"),
                  {task("dead", "has spent -1 attempts, 0 crashes, 0 deferrals, -4 replays")},
                  "dead");
  finds_and_mends("update task set state = 77" + where("dead"),
                  {task("dead", "has state 77, in which no task waits")}, "dead");
  finds_and_mends("update task set token = -2" + where("canceled"),
                  {task("canceled", "has the token -2")}, "canceled");
  finds_and_mends("update task set created = 'long ago'" + where("dead"),
                  {task("dead", "has something else where a number should be")}, "dead");
  finds_and_mends("update running set lease_end = 'soon'",
                  {task("running", "runs, with something else where a number should be")},
                  "running");
  finds_and_mends("update succeeded set event = 15",
                  {task("succeeded", "has succeeded by event 15, which is none")}, "succeeded");
  finds_and_mends("update succeeded set token = -1",
                  {task("succeeded", "has succeeded with token -1, before it was claimed last")},
                  "succeeded");
  finds_and_mends(
      "update attempt set event = 50, kind = 3" + where("dead"),
      {task("dead", "has an attempt (token 1) that ended by event 50, which is none"),
       task("dead", "has an attempt (token 1) with a failure of kind 3, which is none")},
      "dead");
}

TEST_F(AuditTest, leaves_to_a_person_what_cannot_be_told_of_a_parked_task) {
  finds_and_mends("update parked set reason = null" + where("dead"),
                  {task("dead", "is dead without a reason")}, "dead");
  EXPECT_EQ(record("dead").task.dead_reason, core::DeadReason::ambiguous);
  finds_and_mends("update parked set reason = 6" + where("dead"),
                  {task("dead", "is parked for reason 6, which is none")}, "dead");
  EXPECT_EQ(record("dead").task.dead_reason, core::DeadReason::ambiguous);
  finds_and_mends("update parked set token = -3" + where("canceled"),
                  {task("canceled", "is parked with token -3, before it was claimed last")},
                  "canceled");
  const std::string what = task("canceled", "is parked in state 9, which is none");
  const std::string group = fingerprint("ambiguous").text();
  finds_and_mends(
      "update parked set state = 9" + where("canceled"),
      {what, "queue \"mail\" counts 1 dead, and has 2",
       "queue \"mail\" counts 1 canceled, and has 0"},
      "canceled",
      {what, "the group " + group + " of dead tasks counts 0, and has 1",
       "queue \"mail\" counts 1 dead, and has 2", "queue \"mail\" counts 1 canceled, and has 0"});
  EXPECT_EQ(record("canceled").task.dead_reason, core::DeadReason::ambiguous);
}

TEST_F(AuditTest, finds_the_group_again_that_a_task_belongs_to) {
  const Fingerprint before = record("dead").fingerprint;
  finds_and_mends("update parked set fingerprint = null" + where("dead"),
                  {task("dead", "is dead, but in no group of failures"),
                   "the group " + before.text() + " of dead tasks counts 1, and has none"},
                  "dead", {task("dead", "is dead, but in no group of failures")});
  EXPECT_EQ(record("dead").fingerprint, before);
  finds_and_mends("update parked set fingerprint = 3" + where("canceled"),
                  {task("canceled", "is canceled, but in a group of failures")}, "canceled");
}

TEST_F(AuditTest, counts_groups_anew) {
  const std::string dead = fingerprint("connection refused").text();
  const auto groups = [&] {
    return ports::ask(*file_.open().reader, ports::Groups{}).value().groups;
  };
  const std::size_t before = groups().size();
  finds_and_mends("update failure_group set count = 8 where state = 5",
                  {"the group " + dead + " of dead tasks counts 8, and has 1"});
  finds_and_mends("delete from failure_group where state = 5",
                  {"the group " + dead + " of dead tasks counts 0, and has 1"});
  finds_and_mends("insert into failure_group values (4, 255, 2, 0, 0, 'gone', 0, 0, 0, 1)",
                  {"the group 00000000000000ff of failed tasks counts 2, and has none"});
  ASSERT_EQ(groups().size(), before);
  EXPECT_TRUE(std::ranges::any_of(groups(), [](const ports::Group& group) {
    return group.example == "connection refused" && group.first_seen == SampleFile::kStart;
  }));
}

// N1, N5
TEST_F(AuditTest, counts_the_parts_of_groups_anew) {
  const std::string dead =
      "the group " + fingerprint("connection refused").text() + " of dead tasks";
  const std::string mail = " of type \"send\" in queue \"mail\", and has ";
  finds_and_mends("update group_part set count = 8 where state = 5",
                  {dead + " counts 8" + mail + "1"});
  finds_and_mends("update group_part set count = 0 where state = 5",
                  {dead + " counts 0" + mail + "1"});
  finds_and_mends("delete from group_part where state = 5", {dead + " counts 0" + mail + "1"});
  finds_and_mends(
      "insert into group_part select state, fingerprint, queue, 77, 2 from group_part"
      " where state = 5",
      {dead + " counts 2 of type \"?\" in queue \"mail\", and has 0"});
  finds_and_mends(
      "insert into group_part select 4, 255, queue, type, 2 from group_part"
      " where state = 5",
      {"the group 00000000000000ff of failed tasks counts 2" + mail + "none"});
  finds_and_mends("insert into group_slot values (4, 255, 7, 3)",
                  {"the group 00000000000000ff of failed tasks counts 3 that came in slot 7, and is"
                   " not there"});
}

TEST_F(AuditTest, gives_a_note_a_version_that_can_be) {
  {
    EXPECT_EQ(ports::ask(*file_.open().writer, ports::Jot{"s", "k", "text"}).value(), 1U);
  }
  finds_and_mends("update note set version = -1",
                  {"the note \"k\" on the shelf \"s\" has the version -1"});
}

TEST_F(AuditTest, makes_keys_and_tasks_agree) {
  finds_and_mends("delete from idempotency_key" + where("dead"),
                  {task("dead", "has the key \"key of dead\", which does not lead to it")});
  finds_and_mends("update idempotency_key set key = 'other'" + where("dead"),
                  {task("dead", "is led to by the key \"other\", which it does not have"),
                   task("dead", "has the key \"key of dead\", which does not lead to it")});
  finds_and_mends("update task set key = 'key of dead'" + where("failed"),
                  {task("failed", "is led to by the key \"key of failed\", which it does not have"),
                   task("failed", "has the key \"key of dead\", which is that of another task")},
                  "failed");
  EXPECT_EQ(record("failed").key, "");
  EXPECT_EQ(record("dead").key, "key of dead");
}

TEST_F(AuditTest, prunes_a_history_but_for_the_last_failure) {
  finds_and_mends(
      "with recursive n(i) as (select 10 union all select i + 1 from n where i < 33)"
      "insert into attempt select " +
          std::to_string(file_.seq("dead")) +
          ", i, 9, 0, 0, (select id from name where text = 'worker-1'), null, null, null, null,"
          " null, null from n",
      {task("dead", "has 25 attempts in its history; 20 are kept")}, "dead");
  const auto record = this->record("dead");
  ASSERT_EQ(record.attempts.size(), 20u);
  EXPECT_EQ(record.attempts.front().failure->message, "connection refused");
  EXPECT_EQ(record.attempts.back().token, core::Token{33});
}

TEST_F(AuditTest, writes_counters_anew) {
  finds_and_mends("update tally set count = 40 where queue = 1 and what = 3",
                  {"queue \"mail\" counts 40 succeeded, and has 1"});
  finds_and_mends("insert into tally values (1, 8, 4)",
                  {"queue \"mail\" has a counter 8 (4) that counts nothing"});
  finds_and_mends("insert or replace into tally values (1, 13, -4)",
                  {"queue \"mail\" counts -4 succeeded that were removed"});
  finds_and_mends("update tally set count = 6 where queue = 1 and what = 20",
                  {"queue \"mail\" accepted 6 tasks, but 7 are there or removed: 1 too many"});
}

TEST_F(AuditTest, says_that_a_lost_task_is_lost) {
  file_.plant("delete from task" + where("other") + "delete from waiting" + where("other") +
              "delete from idempotency_key" + where("other"));
  const auto store = file_.open();
  const AuditReport found = ports::ask(*store.reader, ports::Audit{}).value();
  const std::vector<std::string> whats{
      "queue \"slow\" counts 1 pending, and has 0",
      "queue \"slow\" accepted 1 task, but 0 are there or removed: 1 lost"};
  EXPECT_THAT(texts(found), ElementsAreArray(whats));
  EXPECT_EQ(found.accepted, 8u);
  const AuditReport mended = ports::ask(*store.writer, ports::Audit{.repair = true}).value();
  EXPECT_THAT(texts(mended), ElementsAreArray(whats));
  EXPECT_TRUE(mended.findings[0].repaired);
  EXPECT_FALSE(mended.findings[1].repaired);
  EXPECT_EQ(mended.repaired, 1u);
  EXPECT_EQ(mended.accepted, 7u);
  EXPECT_TRUE(ports::ask(*store.reader, ports::Audit{}).value().clean());
}

TEST_F(AuditTest, leaves_an_id_that_is_none) {
  file_.plant("update task set id = x'0102'" + where("other"));
  const auto store = file_.open();
  const std::string what = "task 0102 has an id that is none (row 8)";
  const AuditReport mended = ports::ask(*store.writer, ports::Audit{.repair = true}).value();
  EXPECT_THAT(texts(mended), ElementsAre(what));
  EXPECT_FALSE(mended.findings[0].repaired);
  EXPECT_THAT(texts(ports::ask(*store.reader, ports::Audit{}).value()), ElementsAre(what));
}

TEST_F(AuditTest, mends_many_kinds_of_damage_at_once) {
  file_.plant(
      "delete from waiting; delete from idempotency_key; delete from tally; delete from name;"
      "delete from failure_group; update parked set fingerprint = null, reason = null;");
  const auto store = file_.open();
  const AuditReport mended = ports::ask(*store.writer, ports::Audit{.repair = true}).value();
  EXPECT_GT(mended.found, 20u);
  EXPECT_TRUE(all_repaired(mended));
  const AuditReport after = ports::ask(*store.reader, ports::Audit{}).value();
  EXPECT_THAT(texts(after), IsEmpty());
  EXPECT_EQ(after.accepted, 8u);
  EXPECT_EQ(after.present[kPending], 3u);
  EXPECT_EQ(after.present[kRetrying], 0u);
}

TEST_F(AuditTest, tells_the_first_thousand_findings_and_counts_all) {
  file_.plant(
      "with recursive n(i) as (select 1 union all select i + 1 from n where i < 2500)"
      "insert into running select 100 + i, 1, 2, 0, 0 from n");
  const auto store = file_.open();
  const AuditReport mended = ports::ask(*store.writer, ports::Audit{.repair = true}).value();
  EXPECT_EQ(mended.found, 2500u);
  EXPECT_EQ(mended.findings.size(), kToldFindings);
  EXPECT_TRUE(ports::ask(*store.reader, ports::Audit{}).value().clean());
}

TEST_F(AuditTest, makes_an_index_anew_that_disagrees_with_its_table) {
  Database(file_.path(), Database::Mode::write)
      .execute(
          "create table aside as select * from sqlite_master where name = 'parked_by_end';"
          "pragma writable_schema = 1; delete from sqlite_master where name = 'parked_by_end'");
  file_.plant("update parked set ended = ended + 1" + where("dead"));
  Database(file_.path(), Database::Mode::write)
      .execute("pragma writable_schema = 1; insert into sqlite_master select * from aside");
  file_.plant("drop table aside");
  const auto store = file_.open();
  const AuditReport found = ports::ask(*store.reader, ports::Audit{}).value();
  EXPECT_THAT(texts(found), ElementsAre("SQLite: row 2 missing from index parked_by_end"));
  const AuditReport mended = ports::ask(*store.writer, ports::Audit{.repair = true}).value();
  EXPECT_THAT(texts(mended), ElementsAre("SQLite: row 2 missing from index parked_by_end"));
  EXPECT_TRUE(all_repaired(mended));
  EXPECT_TRUE(ports::ask(*store.reader, ports::Audit{}).value().clean());
}

TEST_F(AuditTest, touches_nothing_in_a_file_that_cannot_be_read) {
  const auto root = [&](const std::string& table) {
    Database database(file_.path(), Database::Mode::write);
    return database.number("select rootpage from sqlite_master where name = '" + table + "'");
  };
  const std::int64_t page = root("attempt");
  file_.plant("update tally set count = 40 where queue = 1 and what = 3");
  {
    std::fstream file(file_.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp((page - 1) * 8192);
    file << std::string(100, 'x');
  }
  const auto store = file_.open();
  const auto answer = ports::ask(*store.reader, ports::Audit{});
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_FALSE(answer->readable);
  ASSERT_FALSE(answer->clean());
  EXPECT_THAT(answer->findings[0].what, HasSubstr("SQLite: "));
  const auto refused = ports::ask(*store.writer, ports::Audit{.repair = true});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::corrupt);
  Database database(file_.path(), Database::Mode::read);
  EXPECT_EQ(database.number("select count from tally where queue = 1 and what = 3"), 40);
}

TEST_F(AuditTest, says_what_it_looks_at) {
  Database database(file_.path(), Database::Mode::read);
  std::vector<std::string> steps;
  const AuditOptions options{.on_step = [&](std::string_view step) { steps.emplace_back(step); }};
  EXPECT_TRUE(audit(database, options).clean());
  EXPECT_EQ(steps.front(), "the file itself");
  EXPECT_EQ(steps.back(), "counters");
}

}  // namespace
}  // namespace holdfast::stores::sqlite::audit_test
