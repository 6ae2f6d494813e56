#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <holdfast/testing/log_capture.hpp>

#include "core/uuid.hpp"
#include "server/retention.hpp"
#include "server/retention_files.hpp"
#include "support/real_loop.hpp"
#include "support/temporary_folder.hpp"
#include "wire/task_json.hpp"

namespace holdfast::server::retention_files_threads_test {
namespace {

using core::State;
using namespace std::chrono_literals;

ports::TaskRecord dead_letter(const std::string& payload) {
  const WallTime now = system_clock().wall_now();
  ports::TaskRecord record;
  record.id = TaskId(UuidSource(system_random()).next(now));
  record.type = "mail.send";
  record.queue = "mail";
  record.payload = payload;
  record.key = "key of " + payload;
  record.task.state = State::dead;
  record.task.created = record.changed = now;
  record.attempts.push_back({.token = {1},
                             .event = core::Event::error,
                             .started = now,
                             .ended = now,
                             .owner = "w1",
                             .failure = Failure{.message = "no\nway"}});
  return record;
}

class RetentionFilesTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<RetentionFiles> open(RetentionFiles::Paths paths) {
    return std::make_unique<RetentionFiles>(loop_, std::move(paths), Logger(log_, system_clock()));
  }
  Result<void> add(RetentionFiles& files, std::vector<ports::TaskRecord> tasks) {
    std::optional<Result<void>> answer;
    files.add(State::dead, std::move(tasks), [&](Result<void> added) { answer = added; });
    EXPECT_FALSE(answer) << "never from within the call";
    EXPECT_TRUE(loop_.until([&] { return answer.has_value(); }));
    return *answer;
  }
  Result<std::string> keep(RetentionFiles& files) {
    std::optional<Result<std::string>> answer;
    files.keep([&](Result<std::string> kept) { answer = kept; });
    EXPECT_TRUE(loop_.until([&] { return answer.has_value(); }));
    return *answer;
  }
  [[nodiscard]] std::set<std::string> names() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      names.insert(entry.path().filename().string());
    return names;
  }

  holdfast::testing::TemporaryFolder folder_;
  holdfast::testing::LogCapture log_;
  holdfast::testing::RealLoop loop_;
};

TEST_F(RetentionFilesTest, writes_what_can_be_imported_for_its_owner_only) {  // N9
  const auto files = open({.folder = folder_.path()});
  const auto first = dead_letter("one");
  const auto second = dead_letter("two");
  ASSERT_TRUE(add(*files, {first}));
  ASSERT_TRUE(add(*files, {second}));
  EXPECT_EQ(names().size(), 1U);
  EXPECT_TRUE(names().begin()->find(".jsonl.part-") != std::string::npos) << *names().begin();
  const auto kept = keep(*files);
  ASSERT_TRUE(kept);
  EXPECT_EQ(names(), std::set{std::filesystem::path(*kept).filename().string()});
  EXPECT_TRUE(names().begin()->starts_with("dead-20")) << *names().begin();
  EXPECT_TRUE(names().begin()->ends_with(".jsonl")) << *names().begin();
  struct stat facts = {};
  ASSERT_EQ(::stat(kept->c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0600U);
  std::ifstream in(*kept);
  std::vector<TaskInfo> tasks;
  for (std::string line; std::getline(in, line);)
    tasks.push_back(wire::read_task(line).value());
  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_EQ(tasks[0].id, first.id);
  EXPECT_EQ(tasks[0].payload, "one");
  EXPECT_EQ(tasks[0].state, TaskState::dead);
  ASSERT_EQ(tasks[0].history.size(), 1U);
  EXPECT_EQ(tasks[0].history[0].failure->message, "no\nway");
  EXPECT_EQ(tasks[1].id, second.id);
}

TEST_F(RetentionFilesTest, makes_a_file_for_each_heap) {
  const auto files = open({.folder = folder_.path()});
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(add(*files, {dead_letter("x")}));
    ASSERT_TRUE(keep(*files));
  }
  EXPECT_EQ(names().size(), 3U);
}

TEST_F(RetentionFilesTest, leaves_nothing_of_what_is_dropped) {
  auto files = open({.folder = folder_.path()});
  ASSERT_TRUE(add(*files, {dead_letter("x")}));
  files->drop();
  ASSERT_FALSE(keep(*files));
  EXPECT_TRUE(names().empty());
  ASSERT_TRUE(add(*files, {dead_letter("x")}));
  files.reset();
  EXPECT_TRUE(names().empty());
}

TEST_F(RetentionFilesTest, says_that_a_folder_is_missing) {  // N9
  const auto files = open({.folder = folder_ / "nowhere"});
  const auto added = add(*files, {dead_letter("x")});
  ASSERT_FALSE(added);
  EXPECT_TRUE(added.error().text().contains("nowhere")) << added.error().text();
  EXPECT_TRUE(added.error().text().contains("No such file")) << added.error().text();
  std::filesystem::create_directory(folder_ / "nowhere");
  EXPECT_TRUE(add(*files, {dead_letter("x")}));
}

TEST_F(RetentionFilesTest, remembers_what_was_announced) {  // N9
  const std::string path = folder_ / "tasks.db-warnings";
  auto files = open({.memo = path});
  EXPECT_EQ(files->last_life(), "");
  files->write("dead 1\n");
  files->write("dead 2\n");
  EXPECT_EQ(files->last_life(), "");
  files.reset();
  EXPECT_EQ(names(), std::set<std::string>{"tasks.db-warnings"});
  EXPECT_EQ(open({.memo = path})->last_life(), "dead 2\n");
}

TEST_F(RetentionFilesTest, says_that_it_cannot_remember) {
  const auto files = open({.memo = folder_ / "nowhere/warnings"});
  files->write("dead 1\n");
  EXPECT_TRUE(loop_.until([&] { return !log_.of("janitor.not_remembered").empty(); }));
}

TEST_F(RetentionFilesTest, are_there_where_something_is_to_be_removed) {
  config::Store store;
  store.url = config::plain_url("sqlite:" + (folder_ / "tasks.db"));
  store.spill = folder_.path();
  EXPECT_FALSE(retention_of(store, loop_, {}).memo) << "they are kept for ever";
  store.keep_dead = 1h;
  EXPECT_TRUE(retention_of(store, loop_, {}).spill);
  EXPECT_TRUE(retention_of(store, loop_, {}).memo);
  store.spill = "";
  EXPECT_FALSE(retention_of(store, loop_, {}).spill);
  EXPECT_TRUE(retention_of(store, loop_, {}).memo);
  store.url = config::plain_url("memory:retention");
  EXPECT_FALSE(retention_of(store, loop_, {}).memo) << "there is no place for it";
}

}  // namespace
}  // namespace holdfast::server::retention_files_threads_test
