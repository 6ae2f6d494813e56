#include "stores/sqlite/schema.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <holdfast/testing.hpp>

#include "stores/sqlite/inspect.hpp"
#include "stores/sqlite/migrate_file.hpp"
#include "stores/sqlite/open.hpp"
#include "stores/sqlite/schema_1_testing.hpp"

namespace holdfast::stores::sqlite::schema_test {
namespace {

namespace fs = std::filesystem;
using core::State;
using ::testing::HasSubstr;

constexpr const char* kTrace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

// A file as version 1 has left it.
class FileOfSchema1 : public ::testing::Test {
 protected:
  FileOfSchema1() {
    std::string name = (fs::temp_directory_path() / "holdfast-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    folder_ = name;
    plant(kFileOfSchema1);
  }
  ~FileOfSchema1() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  [[nodiscard]] std::string path() const { return folder_ / "tasks.db"; }
  void plant(const std::string& sql) const { Database(path(), Database::Mode::write).execute(sql); }
  [[nodiscard]] std::int64_t number(const std::string& sql) const {
    return Database(path(), Database::Mode::write).number(sql);
  }
  [[nodiscard]] std::int64_t version() const {
    return number("select max(version) from schema_version");
  }
  [[nodiscard]] std::int64_t columns_of(const std::string& table) const {
    return number("select count(*) from pragma_table_info('" + table + "')");
  }
  [[nodiscard]] std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      std::ifstream file(entry.path(), std::ios::binary);
      files[entry.path().filename()] = {std::istreambuf_iterator<char>(file), {}};
    }
    return files;
  }
  static ports::TaskRecord find(const ports::OpenStore& store, const char* id) {
    return ports::ask(*store.reader, ports::Find{TaskId::parse(id).value()}).value().value();
  }

  fs::path folder_;
  testing::FakeClock clock_;
};

// Otherwise no test here says anything of files that exist.
TEST_F(FileOfSchema1, is_what_the_first_step_of_migrations_makes) {
  const auto tables = [](Database& database) {
    return database.text(
        "select group_concat(sql, ';') from (select sql from sqlite_master where sql is not null"
        " and name not in ('task', 'queue', 'carried') and name not like '%group%'"
        " and name <> 'note' order by name)");
  };
  Database old(path(), Database::Mode::write);
  Database fresh(folder_ / "fresh.db", Database::Mode::write);
  ASSERT_TRUE(migrate(fresh, "fresh.db", clock_.wall_now()));
  EXPECT_EQ(tables(old), tables(fresh));
}

TEST_F(FileOfSchema1, is_opened_and_brought_to_the_newest) {
  const auto store = open({.path = path()}, clock_);
  ASSERT_TRUE(store) << store.error().text();
  const auto sent = find(*store, "01a1e2f8-6c20-77ae-b048-7feba9e6e0ec");
  EXPECT_EQ(sent.task.state, State::succeeded);
  EXPECT_EQ(sent.payload, R"({"to":"ann"})");
  EXPECT_EQ(sent.result, "sent\n");
  EXPECT_EQ(sent.key, "welcome:ann");
  EXPECT_EQ(sent.trace, "");
  const auto dead = find(*store, "01a1e2f8-6c58-77f1-bd49-fd1599e9dcaf");
  EXPECT_EQ(dead.task.state, State::dead);
  EXPECT_EQ(dead.attempts.size(), 2U);
  EXPECT_EQ(dead.limits, (ports::OwnLimits{.attempts = 2, .timeout = std::chrono::seconds(5)}));
  EXPECT_EQ(find(*store, "01a1e2f8-6d0b-709b-bb78-d2cc2265aebc").owner, "away:w");
  EXPECT_TRUE(ports::ask(*store->reader, ports::Audit{}).value().clean());

  const auto counts = ports::ask(*store->reader, ports::Count{}).value();
  ASSERT_EQ(counts.size(), 3U);
  EXPECT_EQ(counts[1].concurrency, 3);
  EXPECT_TRUE(counts[2].paused);
  for (const auto& queue : counts)
    EXPECT_EQ(queue.backlog, 0) << queue.queue;
}

TEST_F(FileOfSchema1, keeps_what_is_new_afterwards) {
  const TaskId id = TaskId::parse("01a1e2f8-0000-7000-8000-000000000001").value();
  {
    const auto store = open({.path = path()}, clock_);
    ASSERT_TRUE(store) << store.error().text();
    ASSERT_TRUE(ports::ask(*store->writer, ports::Configure{.queue = "slow", .backlog = 2}));
    ports::NewTask task{.id = id, .type = "t", .queue = "slow", .trace = kTrace};
    ASSERT_TRUE(ports::ask(*store->writer, ports::Submit{{task}}).value().at(0));
  }
  const auto store = open({.path = path()}, clock_);
  ASSERT_TRUE(store) << store.error().text();
  EXPECT_EQ(find(*store, id.text().c_str()).trace, kTrace);
  const auto refused =
      ports::ask(*store->writer, ports::Submit{{{.type = "t", .queue = "slow"}}}).value();
  ASSERT_FALSE(refused.at(0));
  EXPECT_EQ(refused.at(0).error().code, ErrorCode::overloaded);
}

TEST_F(FileOfSchema1, stays_what_it_was_if_a_step_fails) {
  // The second statement of the step to version 2 cannot be.
  plant("alter table queue add column backlog text");
  const auto refused = open({.path = path()}, clock_);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr(path()));
  EXPECT_EQ(version(), 1);
  EXPECT_EQ(columns_of("task"), 20) << "the first statement was taken back";
  plant("alter table queue drop column backlog");
  EXPECT_TRUE(open({.path = path()}, clock_));
  EXPECT_EQ(version(), newest_version());
}

TEST_F(FileOfSchema1, is_migrated_at_the_same_cost_however_large_it_is) {
  plant(
      "insert into task with recursive n (i) as (select 100 union all select i + 1 from n"
      " where i < 5000) select i, randomblob(16), 3, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, null,"
      " null, null, null, zeroblob(500) from n; pragma wal_checkpoint(truncate)");
  Database database(path(), Database::Mode::write);
  ASSERT_GT(database.number("pragma page_count"), 300);
  ASSERT_TRUE(migrate(database, path(), clock_.wall_now()));
  EXPECT_LT(database.wal_pages(), 10) << "pages written";
}

TEST_F(FileOfSchema1, is_migrated_by_hand_and_says_from_where_to_where) {
  for (const int from : {1, newest_version()}) {
    const auto done = migrate_file(path(), clock_);
    ASSERT_TRUE(done) << done.error().text();
    EXPECT_EQ(done->from, from);
    EXPECT_EQ(done->to, newest_version());
    EXPECT_EQ(version(), newest_version());
  }
}

TEST_F(FileOfSchema1, is_not_migrated_by_hand_while_it_is_in_use) {
  const auto store = open({.path = path()}, clock_);
  ASSERT_TRUE(store);
  EXPECT_EQ(migrate_file(path(), clock_).error().code, ErrorCode::conflict);
}

TEST_F(FileOfSchema1, of_a_newer_program_is_not_touched_by_hand_either) {
  plant("insert into schema_version values (99, 0)");
  const auto before = files();
  const auto refused = migrate_file(path(), clock_);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("was written by a newer Holdfast (schema 99;"));
  EXPECT_EQ(columns_of("task"), 20);
  EXPECT_EQ(files().at("tasks.db"), before.at("tasks.db"));
  EXPECT_EQ(migrate_file(folder_ / "missing.db", clock_).error().code, ErrorCode::not_found);
  EXPECT_FALSE(fs::exists(folder_ / "missing.db"));
}

TEST_F(FileOfSchema1, is_verified_as_it_is) {
  const auto before = files();
  const auto seen = inspect({.path = path()});
  ASSERT_TRUE(seen) << seen.error().text();
  EXPECT_EQ(seen->schema, 1);
  EXPECT_EQ(seen->report.accepted, 8U);
  EXPECT_TRUE(seen->report.clean());
  EXPECT_TRUE(files() == before);
  const auto mended = inspect({.path = path(), .repair = true}, clock_);
  ASSERT_TRUE(mended) << mended.error().text();
  EXPECT_FALSE(mended->migrated) << "nothing had to be mended";
  EXPECT_EQ(version(), 1);
}

TEST_F(FileOfSchema1, is_copied_as_it_is_and_then_mended_as_the_newest) {
  plant("delete from waiting where seq = 6");
  const auto mended = inspect({.path = path(), .repair = true}, clock_);
  ASSERT_TRUE(mended) << mended.error().text();
  EXPECT_TRUE(mended->migrated);
  EXPECT_EQ(mended->schema, 1);
  EXPECT_EQ(mended->left, 0U);
  EXPECT_EQ(version(), newest_version());
  const auto copy = inspect({.path = mended->backup});
  ASSERT_TRUE(copy) << copy.error().text();
  EXPECT_EQ(copy->schema, 1);
  EXPECT_EQ(copy->left, 1U);
}

}  // namespace
}  // namespace holdfast::stores::sqlite::schema_test
