#include "cli/dead.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/tasks_testing.hpp"

namespace holdfast::cli::dead_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using DeadVerb = TasksVerbs;

TEST_F(DeadVerb, shows_groups_and_lists_them) {  // N1
  dead({"a", "b"}, "disk 7 on fire");
  const Ran groups = run_verb({"dead", "groups"});
  EXPECT_EQ(groups.exit_code, 0) << groups.err;
  EXPECT_THAT(groups.out, HasSubstr("disk 7 on fire"));
  const std::string group = groups.out.substr(groups.out.find('\n') + 1, 16);
  const Ran listed = run_verb({"dead", "ls", "--group", group});
  EXPECT_EQ(std::ranges::count(listed.out, '\n'), 3);
  EXPECT_LE(widest_line_of(groups.out + listed.out), 80U);
}

TEST_F(DeadVerb, replays_by_id_and_says_what_was_kept) {  // T5
  const auto ids = dead({"a", "b"});
  const Ran one = run_verb({"dead", "replay", ids[0]});
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(one.out, "Brought back 1.\n");
  const Ran both = run_verb({"dead", "replay", ids[0], ids[1], "--json"});
  EXPECT_EQ(both.exit_code, 3);
  EXPECT_THAT(both.out, HasSubstr(R"({"done":1,"kept":1,"reasons":[{"id":")" + ids[0]));
}

TEST_F(DeadVerb, does_nothing_to_many_without_a_yes) {
  const auto ids = dead({"a", "b", "c"});
  EXPECT_EQ(run_verb({"dead", "replay"}).exit_code, 2);
  const Ran refused = run_verb({"dead", "replay", "--all"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--yes"));
  const Ran no = run_verb({"dead", "discard", "--all"}, "n\n", true);
  EXPECT_EQ(no.exit_code, 1);
  EXPECT_THAT(no.err, HasSubstr("Discard 3 tasks? [y/N]"));
  const Ran dry = run_verb({"dead", "replay", "--all", "--dry-run"});
  EXPECT_THAT(dry.out, HasSubstr("Would bring back 3 of 3 tasks that match."));
  for (const std::string& id : ids)
    EXPECT_EQ(find(id).state, TaskState::dead);
  EXPECT_EQ(run_verb({"dead", "replay", "--all", "--limit", "2", "--yes"}).out,
            "Brought back 2.\n");
  EXPECT_EQ(run_verb({"dead", "replay", "--all"}, "y\n", true).out, "Brought back 1.\n");
}

TEST_F(DeadVerb, keeps_to_a_rate) {
  EXPECT_EQ(parse_rate("50/s").value(), 50);
  EXPECT_EQ(parse_rate("600/m").value(), 10);
  EXPECT_EQ(parse_rate("").value(), std::nullopt);
  for (const char* wrong : {"fast", "0/s", "-1", "5/x"})
    EXPECT_FALSE(parse_rate(wrong)) << wrong;
  dead({"a", "b"});
  EXPECT_EQ(run_verb({"dead", "replay", "--all", "--yes", "--rate", "1000/s"}).out,
            "Brought back 2.\n");
}

TEST_F(DeadVerb, insists_on_single_tasks_only) {
  dead({"a"});
  EXPECT_EQ(run_verb({"dead", "replay", "--all", "--yes", "--insist"}).exit_code, 2);
}

TEST_F(DeadVerb, what_is_exported_and_discarded_comes_back_once) {
  const std::string bytes("\x00\xff", 2);
  const auto ids = dead({R"({"n": 1.0})", "text", bytes});
  const Ran exported = run_verb({"dead", "export", path("dead.jsonl"), "--all", "--discard"});
  EXPECT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_THAT(exported.err, HasSubstr("Exported 3."));
  EXPECT_THAT(exported.out, HasSubstr("Discarded 3."));
  for (const std::string& id : ids)
    EXPECT_EQ(find(id).state, TaskState::canceled);
  EXPECT_THAT(run_verb({"dead", "export", path("dead.jsonl"), "--all"}).err, HasSubstr("--force"));

  const Ran first = run_verb({"dead", "import", path("dead.jsonl")});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.out, "Imported 3, there before 0, refused 0.\n");
  std::vector<std::string> payloads;
  Client client(store());
  for (const TaskInfo& task : client.list({.state = TaskState::pending})->tasks) {
    const TaskInfo whole = client.find(task.id).value();
    payloads.push_back(whole.payload);
    EXPECT_THAT(whole.key, HasSubstr("import-of-"));
  }
  EXPECT_THAT(payloads, ::testing::UnorderedElementsAre(R"({"n": 1.0})", "text", bytes));
}

TEST_F(DeadVerb, import_hands_in_nothing_twice) {
  dead({"a"});
  EXPECT_EQ(run_verb({"dead", "export", path("f"), "--all"}).exit_code, 0);
  EXPECT_EQ(run_verb({"dead", "import", path("f")}).exit_code, 0);
  EXPECT_EQ(run_verb({"dead", "import", path("f")}).exit_code, 0);
  Client client(store());
  EXPECT_EQ(client.counts()->front().count(TaskState::pending), 1U);
}

TEST_F(DeadVerb, import_names_the_lines_that_it_cannot_read) {
  write("f", "{}\n");
  const Ran ran = run_verb({"dead", "import", path("f")});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_THAT(ran.err, HasSubstr("line 1: is no line of an export"));
}

TEST_F(DeadVerb, edit_hands_in_a_mended_copy_and_discards_the_original) {
  const std::string id = dead({"typo"}).front();
  const Ran same = run_verb({"dead", "edit", id, "--payload", "typo"});
  EXPECT_EQ(same.exit_code, 1);
  EXPECT_EQ(find(id).state, TaskState::dead);
  const Ran ran = run_verb({"dead", "edit", id, "--payload", "right", "--json"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(find(id).state, TaskState::canceled);
  const TaskInfo copy = find(ran.out.substr(7, 36));
  EXPECT_EQ(copy.payload, "right");
  EXPECT_THAT(copy.key, HasSubstr("edit-of-" + id));
}

TEST_F(DeadVerb, edit_opens_an_editor) {
  const std::string id = dead({"typo"}).front();
  ::setenv("EDITOR", "sed -i s/typo/right/", 1);
  ::unsetenv("VISUAL");
  const Ran ran = run_verb({"dead", "edit", id, "--json"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(find(ran.out.substr(7, 36)).payload, "right");
  const std::string other = dead({"typo"}).front();
  ::setenv("EDITOR", "false", 1);
  EXPECT_EQ(run_verb({"dead", "edit", other}).exit_code, 1);
  EXPECT_EQ(find(other).state, TaskState::dead);
}

}  // namespace
}  // namespace holdfast::cli::dead_test
