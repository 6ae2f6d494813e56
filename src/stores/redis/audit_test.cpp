// N5: what an audit finds on a server where somebody, or a bug, has meddled; and how it is put
// right.
#include <gmock/gmock.h>

#include "stores/redis/store_testing.hpp"

namespace holdfast::stores::redis::audit_test {
namespace {

using ::testing::HasSubstr;

std::string member_of(int task) {
  std::string member;
  append_8(member, static_cast<std::uint64_t>(task));  // they are numbered as they are submitted
  return member + std::string(id_bytes(id_of(task)));
}

std::string key_of(char letter, int task) {
  return std::string("{hf}") + letter + std::string(id_bytes(id_of(task)));
}

// Six tasks: 1 and 2 wait, 3 runs, 4 has succeeded, 5 is dead, 6 waits and has a key.
class RedisAudit : public ::testing::Test {
 protected:
  RedisAudit() {
    std::vector<ports::NewTask> tasks;
    for (const int number : {1, 2, 3, 4, 5, 6})
      tasks.push_back(new_task(number));
    tasks[2].priority = tasks[3].priority = tasks[4].priority = 5;  // claimed first
    tasks[5].key = "key";
    (void)tell(*store_.writer, ports::Submit{std::move(tasks)});
    const auto running =
        tell(*store_.writer,
             ports::Claim{.queue = "mail", .max = 3, .owner = "me", .lease = 30s, .now = kStart});
    (void)tell(*store_.writer, ports::Change{{success(running.tasks.at(1), kStart),
                                              death(running.tasks.at(2), kStart)}});
  }

  void do_to_server(const std::vector<std::string>& words) {
    const auto answer = server_.ask(words);
    ASSERT_NE(answer.kind, '-') << answer.text;
  }

  // That this is found, and after a repair nothing is.
  void expect_found_and_mended(const std::string& what) {
    const auto looked = tell(*store_.reader, ports::Audit());
    ASSERT_FALSE(looked.clean()) << "nothing was found";
    EXPECT_THAT(texts(looked), ::testing::Contains(HasSubstr(what)));
    EXPECT_EQ(looked.repaired, 0U);
    const auto mended = tell(*store_.writer, ports::Audit{.repair = true});
    EXPECT_EQ(mended.repaired, mended.found);
    const auto again = tell(*store_.reader, ports::Audit());
    EXPECT_TRUE(again.clean()) << texts(again).front();
    std::uint64_t known = 0;
    for (const auto count : again.present)
      known += count;
    EXPECT_EQ(again.accepted, known) << "no repair loses a task, or finds one more";
  }

  static std::vector<std::string> texts(const ports::AuditReport& report) {
    std::vector<std::string> all;
    for (const auto& finding : report.findings)
      all.push_back(finding.what);
    return all;
  }

  [[nodiscard]] core::State state_of(int task) {
    return tell(*store_.reader, ports::Find{id_of(task)}).value().task.state;
  }

  testing::RedisServer server_;
  ports::OpenStore store_ = open_at(server_.url());
};

TEST_F(RedisAudit, finds_nothing_where_nothing_is_wrong) {
  const auto report = tell(*store_.reader, ports::Audit());
  EXPECT_TRUE(report.clean());
  EXPECT_THAT(report.present, ::testing::ElementsAre(3, 1, 0, 1, 0, 1, 0));
}

TEST_F(RedisAudit, a_task_that_waits_in_no_line_is_put_there) {
  do_to_server({"ZREM", "{hf}w1:100", member_of(1)});
  expect_found_and_mended("task " + id_of(1).text() + " stands in no line of its state");
  EXPECT_EQ(tell(*store_.writer, ports::Claim{.queue = "mail", .owner = "me", .now = kStart})
                .tasks.at(0)
                .id,
            id_of(1));
}

TEST_F(RedisAudit, a_task_that_stands_in_two_lines_is_left_in_the_one_of_its_state) {
  do_to_server({"ZADD", "{hf}r", "1", member_of(4)});
  expect_found_and_mended("also stands in a line of another state");
  EXPECT_EQ(state_of(4), core::State::succeeded);
}

TEST_F(RedisAudit, a_task_at_the_wrong_place_in_its_line_is_moved) {
  do_to_server({"ZADD", "{hf}w1:100", "99999999999999999", member_of(2)});
  expect_found_and_mended("at another time than its record says");
}

TEST_F(RedisAudit, a_priority_that_nobody_looks_at_is_looked_at_again) {
  do_to_server({"ZREM", "{hf}p1", "100"});
  expect_found_and_mended("with a priority that no claim looks at");
}

TEST_F(RedisAudit, a_line_with_a_task_that_is_not_there_is_cleared_of_it) {
  do_to_server({"ZADD", "{hf}w1:100", "1", member_of(77)});
  expect_found_and_mended("a line has a task that is not there");
}

TEST_F(RedisAudit, a_state_that_there_is_not_becomes_a_dead_letter_for_a_person) {
  do_to_server({"SETRANGE", key_of('t', 2), "0", "\x09"});
  expect_found_and_mended("is in no state that there is");
  const auto task = tell(*store_.reader, ports::Find{id_of(2)}).value();
  EXPECT_EQ(task.task.state, core::State::dead);
  EXPECT_EQ(task.task.dead_reason, core::DeadReason::ambiguous);
}

TEST_F(RedisAudit, a_record_that_no_list_knows_is_listed_again) {
  do_to_server({"DEL", "{hf}n0"});
  do_to_server({"DEL", "{hf}N"});
  expect_found_and_mended("is in no list");
  EXPECT_EQ(tell(*store_.reader, ports::List()).tasks.size(), 6U);
}

TEST_F(RedisAudit, counters_are_counted_anew) {
  do_to_server({"HINCRBY", "{hf}c1", "0", "5"});
  expect_found_and_mended("tasks that wait: 8 are counted, and 3 are there");
  EXPECT_EQ(tell(*store_.reader, ports::Count()).at(0).count(core::State::pending), 3U);
}

TEST_F(RedisAudit, a_running_task_whose_owner_nobody_knows_is_rescued_next) {
  do_to_server({"DEL", "{hf}O"});
  do_to_server({"DEL", "{hf}o"});
  const auto looked = tell(*store_.reader, ports::Audit());
  EXPECT_THAT(texts(looked), ::testing::Contains(HasSubstr("nobody knows its owner")));
  (void)tell(*store_.writer, ports::Audit{.repair = true});
  const auto overdue = tell(*store_.writer, ports::Overdue{.now = kStart + 1s});
  ASSERT_EQ(overdue.size(), 1U);
  EXPECT_EQ(overdue[0].id, id_of(3));
}

TEST_F(RedisAudit, a_key_leads_to_its_task_again) {
  do_to_server({"DEL", "{hf}kkey"});
  expect_found_and_mended("has a key that does not lead to it");
  ports::NewTask same = new_task(6);
  same.id = id_of(66);
  same.key = "key";
  EXPECT_EQ(tell(*store_.writer, ports::Submit{{same}}).at(0)->id, id_of(6));
}

TEST_F(RedisAudit, a_key_that_leads_nowhere_is_free_again) {
  do_to_server({"SET", "{hf}kother", std::string(id_bytes(id_of(1)))});
  expect_found_and_mended("a key leads to a task that has it not");
}

TEST_F(RedisAudit, a_dead_letter_is_in_its_group_again) {
  do_to_server({"DEL", "{hf}g" + group_name(core::State::dead, Fingerprint(7))});
  expect_found_and_mended("is missing in its group of failures");
  EXPECT_EQ(tell(*store_.reader, ports::Groups()).groups.at(0).count, 1U);
}

// N1, N5
TEST_F(RedisAudit, what_a_group_is_made_of_is_counted_anew) {
  const std::string group = "{hf}x" + group_name(core::State::dead, Fingerprint(7));
  const std::string mail("p\0\0\0\1", 5);
  const std::string name = "the group 0000000000000007 of dead tasks counts ";
  const auto parts = [&] { return tell(*store_.reader, ports::Groups()).groups.at(0).parts; };
  const auto right = parts();
  ASSERT_EQ(right.size(), 1U);
  do_to_server({"HSET", group, mail + right[0].type, "4"});
  expect_found_and_mended(name + "4 of type \"" + right[0].type +
                          "\" in queue \"mail\", and has 1");
  EXPECT_EQ(parts(), right);
  do_to_server({"HDEL", group, mail + right[0].type});
  expect_found_and_mended(name + "0 of type");
  EXPECT_EQ(parts(), right);
  do_to_server({"HSET", group, mail + "other", "2"});
  expect_found_and_mended(name + "2 of type \"other\" in queue \"mail\", and has 0");
  EXPECT_EQ(parts(), right);
}

// A group that an older Holdfast has begun has fewer in its parts than tasks.
TEST_F(RedisAudit, what_was_never_counted_is_not_missed) {
  const std::string group = "{hf}x" + group_name(core::State::dead, Fingerprint(7));
  const auto before = tell(*store_.reader, ports::Groups()).groups.at(0).parts;
  do_to_server({"HDEL", group, "whole", std::string("p\0\0\0\1", 5) + before.at(0).type});
  EXPECT_TRUE(tell(*store_.reader, ports::Audit()).clean());
  const auto dead = tell(*store_.reader, ports::Find{id_of(5)}).value();
  ports::Change change;
  change.changes.push_back({.id = dead.id,
                            .token = dead.task.token,
                            .transition = core::discard(dead.task, kStart).value()});
  EXPECT_EQ(tell(*store_.writer, std::move(change)).at(0), ports::Change::Done::applied);
  EXPECT_TRUE(tell(*store_.reader, ports::Audit()).clean());
  EXPECT_EQ(tell(*store_.reader, ports::Groups()).groups.size(), 0U);
}

TEST_F(RedisAudit, a_group_without_a_task_is_gone) {
  const std::string none = group_name(core::State::failed, Fingerprint(9));
  do_to_server({"ZADD", "{hf}G", "1", none});
  expect_found_and_mended("the group 0000000000000009 of failed tasks has none");
  EXPECT_EQ(tell(*store_.reader, ports::Groups()).groups.size(), 1U);
}

TEST_F(RedisAudit, a_note_that_its_shelf_does_not_list_is_listed_again) {
  EXPECT_EQ(tell(*store_.writer, ports::Jot{.shelf = "s", .key = "k", .text = "text"}), 1U);
  do_to_server({"DEL", "{hf}Vs"});
  EXPECT_TRUE(tell(*store_.reader, ports::Notes{.shelf = "s"}).empty());
  expect_found_and_mended("a shelf does not list every note that is on it");
  EXPECT_EQ(tell(*store_.reader, ports::Notes{.shelf = "s"}).size(), 1U);
}

TEST_F(RedisAudit, a_result_that_is_gone_is_an_empty_one) {
  do_to_server({"DEL", key_of('a', 4)});
  expect_found_and_mended("has no attempts where it should");
  EXPECT_EQ(tell(*store_.reader, ports::Find{id_of(4)}).value().result, "");
}

TEST_F(RedisAudit, a_reason_of_death_belongs_to_the_dead) {
  do_to_server({"SETRANGE", key_of('t', 5), "2", std::string(1, '\0')});
  expect_found_and_mended("is dead without a reason");
  do_to_server({"SETRANGE", key_of('t', 1), "2", "\x01"});
  expect_found_and_mended("was not dead, but has a reason for it");
}

TEST_F(RedisAudit, a_lease_belongs_to_what_runs) {
  do_to_server({"SETRANGE", key_of('t', 1), "75", std::string("\0\0\0\1", 4)});
  expect_found_and_mended("is not running, but has an owner or a lease");
}

// What is gone cannot be brought back, but it is said, and the rest hangs together again.
TEST_F(RedisAudit, a_record_that_is_gone_is_told) {
  do_to_server({"DEL", key_of('t', 1)});
  const auto looked = tell(*store_.reader, ports::Audit());
  EXPECT_THAT(texts(looked), ::testing::Contains(HasSubstr("task number 1 is not there")));
  (void)tell(*store_.writer, ports::Audit{.repair = true});
  EXPECT_TRUE(tell(*store_.reader, ports::Audit()).clean());
}

}  // namespace
}  // namespace holdfast::stores::redis::audit_test
