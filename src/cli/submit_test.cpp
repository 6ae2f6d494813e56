#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/tasks_testing.hpp"

namespace holdfast::cli::submit_test {
namespace {

using ::testing::HasSubstr;
using SubmitVerb = TasksVerbs;

TEST_F(SubmitVerb, puts_a_task_into_the_file_when_no_server_runs) {
  const std::string id = submit({"mail.send", "--queue", "mails", "--payload", R"({"to":"ann"})",
                                 "--priority", "7", "--key", "welcome", "--delay", "1h",
                                 "--attempts", "2", "--timeout", "5s", "--retry-on-failure"});
  const TaskInfo task = find(id);
  EXPECT_EQ(task.type, "mail.send");
  EXPECT_EQ(task.queue, "mails");
  EXPECT_EQ(task.payload, R"({"to":"ann"})");
  EXPECT_EQ(task.priority, 7);
  EXPECT_EQ(task.key, "welcome");
  EXPECT_TRUE(task.retry_on_failure);
  EXPECT_THAT(run_verb({"tasks", "show", id}).out, HasSubstr("retry_on_failure"));
  EXPECT_GT(task.due, task.created + std::chrono::minutes(59));
}

TEST_F(SubmitVerb, reads_the_payload_from_where_it_is_said) {
  write("payload", "of a file");
  EXPECT_EQ(find(submit({"t", "--payload", "@" + path("payload")})).payload, "of a file");
  const Ran ran = run_verb({"submit", "t", "--payload", "-"}, "of stdin\n");
  EXPECT_EQ(find(ran.out.substr(0, 36)).payload, "of stdin\n");
  EXPECT_EQ(run_verb({"submit", "t", "--payload", "@" + path("none")}).exit_code, 1);
}

TEST_F(SubmitVerb, says_what_is_wrong) {
  EXPECT_EQ(run_verb({"submit"}).exit_code, 2);
  const Ran delay = run_verb({"submit", "t", "--delay", "30 secs"});
  EXPECT_EQ(delay.exit_code, 2);
  EXPECT_THAT(delay.err, HasSubstr("--delay: \"30 secs\""));
  EXPECT_EQ(run_verb({"submit", "t", "--priority", "1000"}).exit_code, 1);
  EXPECT_EQ(run_verb({"submit", "t", "--trace", "x"}).exit_code, 2);
  const Ran waits = run_verb({"submit", "t", "--wait=1s"});
  EXPECT_EQ(waits.exit_code, 1);
  EXPECT_THAT(waits.err, HasSubstr("nobody runs tasks here"));
}

TEST_F(SubmitVerb, hands_in_a_line_for_each_task_once_however_often_it_is_run) {
  std::string lines;
  for (int i = 1; i <= 1200; ++i)
    lines += "image-" + std::to_string(i) + (i == 3 ? "\r\n\n" : "\n");
  write("lines", lines);
  for (int run = 0; run < 2; ++run) {
    const Ran ran = run_verb({"submit", "thumb", "--lines", path("lines"), "--key", "thumbs"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(ran.out, "Accepted 1,200, refused 0.\n");
  }
  Client client(store());
  EXPECT_EQ(client.counts()->front().count(TaskState::pending), 1200U);
}

TEST_F(SubmitVerb, names_the_lines_that_are_refused_and_keeps_them) {
  write("tasks.jsonl",
        "{\"type\":\"t\",\"payload\":1}\n{\"typ\":\"t\"}\n{\"type\":\"t\",\"priority\":1000}\n"
        "{\"type\":\"t\",\"key\":\"k\"}\n");
  const Ran ran =
      run_verb({"submit", "--jsonl", path("tasks.jsonl"), "--rejects", path("rejects"), "--json"});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_THAT(ran.err, HasSubstr("line 2: "));
  EXPECT_THAT(ran.err, HasSubstr("did you mean \"type\""));
  EXPECT_THAT(ran.err, HasSubstr("line 3: priority is 1000"));
  EXPECT_THAT(ran.err, HasSubstr("Accepted 2, refused 2."));
  EXPECT_THAT(ran.out, HasSubstr(R"({"line":4,"id":")"));
  EXPECT_EQ(content("rejects"), "{\"typ\":\"t\"}\n{\"type\":\"t\",\"priority\":1000}\n");
}

TEST_F(SubmitVerb, goes_on_from_a_line) {
  const Ran ran = run_verb({"submit", "t", "--lines", "-", "--from-line", "3"}, "a\nb\nc\nd\n");
  EXPECT_EQ(ran.out, "Accepted 2, refused 0.\n");
}

}  // namespace
}  // namespace holdfast::cli::submit_test
