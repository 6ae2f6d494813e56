#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/tasks_testing.hpp"
#include "wire/task_json.hpp"

namespace holdfast::cli::tasks_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(TasksVerbs, are_not_made_by_looking) {
  const Ran ran = run_verb({"tasks", "ls"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("there is no sqlite:"));
  EXPECT_THAT(ran.err, HasSubstr("--server"));
  EXPECT_FALSE(std::filesystem::exists(path("tasks.db")));
}

TEST_F(TasksVerbs, list_what_matches) {
  submit({"a", "--queue", "x"});
  submit({"b", "--queue", "y"});
  const Ran all = run_verb({"tasks", "ls"});
  EXPECT_EQ(all.exit_code, 0) << all.err;
  EXPECT_THAT(all.out, HasSubstr("pending"));
  EXPECT_LE(widest_line_of(all.out), 80U);
  const Ran one = run_verb({"tasks", "ls", "--queue", "y", "--json"});
  EXPECT_THAT(one.out, HasSubstr(R"("type":"b")"));
  EXPECT_THAT(one.out, Not(HasSubstr(R"("type":"a")")));
  EXPECT_THAT(run_verb({"tasks", "ls", "--limit", "1"}).out, HasSubstr("more than these 1"));
  EXPECT_EQ(run_verb({"tasks", "ls", "--state", "dead"}).out, "No task matches.\n");
  EXPECT_EQ(run_verb({"tasks", "ls", "--state", "ded"}).exit_code, 2);
}

TEST_F(TasksVerbs, show_everything_of_one) {
  const std::string id = dead({"line 1\nline 2"}).front();
  const Ran shown = run_verb({"tasks", "show", id});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("dead: out of attempts"));
  EXPECT_THAT(shown.out, HasSubstr("    line 2\n"));
  EXPECT_THAT(shown.out, HasSubstr("Attempts, oldest first:"));
  EXPECT_THAT(shown.out, HasSubstr("disk on fire"));
  EXPECT_LE(widest_line_of(shown.out), 80U);
  const Ran json = run_verb({"tasks", "show", id, "--json"});
  EXPECT_EQ(wire::read_task(json.out).value(), find(id));
  EXPECT_EQ(run_verb({"tasks", "show", "x"}).exit_code, 1);
  EXPECT_EQ(run_verb({"tasks", "show", "00000000-0000-7000-8000-000000000001"}).exit_code, 1);
}

TEST_F(TasksVerbs, cancel_and_retry) {
  const std::string id = submit({"t"});
  EXPECT_EQ(run_verb({"tasks", "cancel", id}).out, "Canceled 1.\n");
  EXPECT_EQ(find(id).state, TaskState::canceled);
  const Ran again = run_verb({"tasks", "cancel", id});
  EXPECT_EQ(again.exit_code, 3);
  EXPECT_THAT(again.out, HasSubstr("Kept as they are: 1."));
  EXPECT_THAT(again.out, HasSubstr(id));
  const std::string died = dead({"x"}).front();
  EXPECT_EQ(run_verb({"tasks", "retry", died}).out, "Brought back 1.\n");
  EXPECT_EQ(find(died).state, TaskState::pending);
}

TEST_F(TasksVerbs, queues_are_paused_resumed_and_limited) {
  submit({"t", "--queue", "mails"});
  EXPECT_EQ(run_verb({"queues", "pause", "mails"}).exit_code, 0);
  EXPECT_EQ(run_verb({"queues", "limit", "mails", "3"}).out, "At most 3 of mails run at once.\n");
  const Ran listed = run_verb({"queues", "ls"});
  EXPECT_THAT(listed.out, HasSubstr("paused, at most 3"));
  EXPECT_LE(widest_line_of(listed.out), 80U);
  EXPECT_EQ(run_verb({"queues", "resume", "mails"}).exit_code, 0);
  EXPECT_THAT(run_verb({"queues", "ls", "--json"}).out, HasSubstr(R"("paused":false)"));
  EXPECT_EQ(run_verb({"queues", "limit", "mails", "-1"}).exit_code, 2);
}

TEST(Verbs, help_shows_them_in_groups) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  Io io{in, out, err};
  const char* const words[] = {"holdfast", "--help"};
  EXPECT_EQ(run(2, words, io), 0);
  for (const char* part : {"Running tasks", "Handing in, and looking after", "Finding out",
                           "submit", "dead", "queues", "tasks"}) {
    EXPECT_THAT(out.str(), HasSubstr(part));
  }
}

}  // namespace
}  // namespace holdfast::cli::tasks_test
