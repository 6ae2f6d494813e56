// From schema 3 to the newest: retry_on_failure (C2.1).
#include <gtest/gtest.h>

#include <holdfast/testing.hpp>

#include "stores/sqlite/inspect.hpp"
#include "stores/sqlite/open.hpp"
#include "stores/sqlite/schema.hpp"
#include "stores/sqlite/schema_3_testing.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::stores::sqlite::schema_3_test {
namespace {

using core::State;

class FileOfSchema3 : public ::testing::Test {
 protected:
  FileOfSchema3() { Database(path(), Database::Mode::write).execute(kFileOfSchema3); }

  [[nodiscard]] std::string path() const { return folder_.path() / "tasks.db"; }
  [[nodiscard]] std::int64_t number(const std::string& sql) const {
    return Database(path(), Database::Mode::write).number(sql);
  }
  static ports::TaskRecord find(const ports::OpenStore& store, const char* id) {
    return ports::ask(*store.reader, ports::Find{TaskId::parse(id).value()}).value().value();
  }

  holdfast::testing::TemporaryFolder folder_;
  holdfast::testing::FakeClock clock_;
};

TEST_F(FileOfSchema3, is_verified_as_it_is) {
  const auto seen = inspect({.path = path()});
  ASSERT_TRUE(seen) << seen.error().text();
  EXPECT_EQ(seen->schema, 3);
  EXPECT_EQ(seen->report.accepted, 8U);
  EXPECT_TRUE(seen->report.clean());
}

TEST_F(FileOfSchema3, C2_1_gains_retry_on_failure_and_every_row_has_it_as_false) {
  ASSERT_EQ(number("select count(*) from task"), 8);
  {
    Database database(path(), Database::Mode::write);
    ASSERT_EQ(migrate(database, path(), clock_.wall_now()), 3);
  }
  EXPECT_EQ(number("select max(version) from schema_version"), newest_version());
  EXPECT_EQ(number("select count(*) from task"), 8);
  EXPECT_EQ(number("select count(*) from task where retry_on_failure is null"), 0);
  EXPECT_EQ(number("select count(*) from task where retry_on_failure = false"), 8);
  EXPECT_EQ(number("select \"notnull\" from pragma_table_info('task')"
                   " where name = 'retry_on_failure' and type = 'boolean'"),
            0)
      << "nullable";
  EXPECT_TRUE(inspect({.path = path()})->report.clean());
}

TEST_F(FileOfSchema3, C2_1_is_served_as_the_newest) {
  const TaskId id = TaskId::parse("01a1e4a0-0000-7000-8000-000000000001").value();
  {
    const auto store = open({.path = path()}, clock_);
    ASSERT_TRUE(store) << store.error().text();
    const auto dead = find(*store, "01a1e4a0-7e5b-74a7-ab19-eef4f05f9932");
    EXPECT_EQ(dead.task.state, State::dead);
    EXPECT_EQ(dead.attempts.size(), 3U);
    EXPECT_FALSE(dead.retry_on_failure);
    ports::NewTask task{.id = id, .type = "t", .queue = "relay", .retry_on_failure = true};
    ASSERT_TRUE(ports::ask(*store->writer, ports::Submit{{task}}).value().at(0));
    // C3.2, of a dead letter that was dead before there was a consumer.
    const auto closed = core::close(dead.task, 0, clock_.wall_now()).value();
    ports::Change change;
    change.changes.push_back({.id = dead.id,
                              .token = dead.task.token,
                              .transition = closed,
                              .fingerprint = Fingerprint(7)});
    EXPECT_EQ(ports::ask(*store->writer, std::move(change)).value().at(0),
              ports::Change::Done::applied);
  }
  const auto store = open({.path = path()}, clock_);
  ASSERT_TRUE(store) << store.error().text();
  EXPECT_TRUE(find(*store, id.text().c_str()).retry_on_failure);
  const auto failed = find(*store, "01a1e4a0-7e5b-74a7-ab19-eef4f05f9932");
  EXPECT_EQ(failed.task.state, State::failed);
  EXPECT_EQ(failed.task.last_failure->message,
            "[DLQ] Message moved to DLQ after 3 retries: network timeout");
  EXPECT_TRUE(ports::ask(*store->reader, ports::Audit{}).value().clean());
}

}  // namespace
}  // namespace holdfast::stores::sqlite::schema_3_test
