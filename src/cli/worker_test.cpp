// What `holdfast worker` refuses before it begins; tests/system has the rest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/tasks_testing.hpp"

namespace holdfast::cli::worker_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class WorkerVerb : public TasksVerbs {
 protected:
  // With a configuration that says this.
  [[nodiscard]] Ran work(const std::string& config, std::vector<std::string> more = {}) const {
    std::ofstream(path("worker.toml")) << config << "\n[task.t]\ncommand = ['true']\n";
    std::vector<std::string> words{"holdfast", "worker", "--config", path("worker.toml")};
    words.insert(words.end(), more.begin(), more.end());
    return run_as_given(words);
  }
};

TEST_F(WorkerVerb, refuses_a_file_and_says_what_to_do) {
  for (const Ran& ran : {work(""), work("[store]\nurl = 'sqlite:tasks.db'"),
                         work("", {"--store", "sqlite:x.db"}), work("[store]\nurl = 'memory:x'")}) {
    EXPECT_EQ(ran.exit_code, kUsage);
    EXPECT_THAT(ran.err, HasSubstr("has one owner"));
    EXPECT_THAT(ran.err, HasSubstr("--server URL"));
    EXPECT_THAT(ran.err, HasSubstr("--store redis://HOST:PORT"));
  }
  EXPECT_FALSE(std::filesystem::exists(path("tasks.db")));
}

TEST_F(WorkerVerb, works_for_a_server_or_on_a_store_and_not_on_both) {
  const Ran ran = work("", {"--server", "http://127.0.0.1:1", "--store", "redis://127.0.0.1:1"});
  EXPECT_EQ(ran.exit_code, kUsage);
  EXPECT_THAT(ran.err, HasSubstr("--server"));
  EXPECT_EQ(work("", {"--server", "tasks.db"}).exit_code, kUsage);
}

TEST_F(WorkerVerb, says_what_is_wrong_with_a_url_and_no_password) {
  const Ran ran = work("", {"--store", "redis://:planted@host/x"});
  EXPECT_EQ(ran.exit_code, kUsage);
  EXPECT_THAT(ran.err, HasSubstr("a database that is no number"));
  EXPECT_THAT(ran.err, Not(HasSubstr("planted")));
}

TEST_F(WorkerVerb, has_something_to_run) {
  std::ofstream(path("none.toml")) << "[task.t]\npull = true\n";
  const Ran ran = run_as_given(
      {"holdfast", "worker", "--config", path("none.toml"), "--store", "redis://127.0.0.1:1"});
  EXPECT_EQ(ran.exit_code, kFailed);
  EXPECT_THAT(ran.err, HasSubstr("no [task] with a command or a webhook to run"));
}

TEST_F(TasksVerbs, a_password_is_not_said_by_a_verb_that_cannot_reach_redis) {
  for (const char* verb : {"ls", "groups"}) {
    const Ran ran =
        run_as_given({"holdfast", "dead", verb, "--store", "redis://ann:planted@127.0.0.1:1/0"});
    EXPECT_EQ(ran.exit_code, kFailed);
    EXPECT_THAT(ran.err, HasSubstr("127.0.0.1"));
    EXPECT_THAT(ran.err, Not(HasSubstr("planted")));
  }
}

}  // namespace
}  // namespace holdfast::cli::worker_test
