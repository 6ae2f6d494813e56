// From schema 4 to the newest: what groups are made of (N1), and notes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/testing.hpp>

#include "ports/groups.hpp"
#include "stores/sqlite/inspect.hpp"
#include "stores/sqlite/open.hpp"
#include "stores/sqlite/schema.hpp"
#include "stores/sqlite/schema_4_testing.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::stores::sqlite::schema_4_test {
namespace {

using core::State;
using ports::Group;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kDead[] = {"01a1ebed-29b2-74dc-89f9-ee4cc0dcca76",
                                 "01a1ebed-29de-77e8-b1df-f4e6040db79b",
                                 "01a1ebed-2a09-733d-9795-f7174026b267"};

class FileOfSchema4 : public ::testing::Test {
 protected:
  FileOfSchema4() { plant(kFileOfSchema4); }

  [[nodiscard]] std::string path() const { return folder_.path() / "tasks.db"; }
  void plant(const std::string& sql) const { Database(path(), Database::Mode::write).execute(sql); }
  [[nodiscard]] ports::OpenStore opened() {
    auto store = open({.path = path()}, clock_);
    if (!store) throw std::runtime_error(store.error().text());
    return std::move(*store);
  }
  static ports::TaskRecord find(const ports::OpenStore& store, const TaskId& id) {
    return ports::ask(*store.reader, ports::Find{id}).value().value();
  }
  static Group dead_group(const ports::OpenStore& store) {
    for (Group& group : ports::ask(*store.reader, ports::Groups{}).value().groups) {
      if (group.state == State::dead) return std::move(group);
    }
    return {};
  }
  static void change(const ports::OpenStore& store, const ports::TaskRecord& record,
                     const core::Transition& transition, Fingerprint group = {}) {
    const auto done = ports::ask(*store.writer, ports::Change{{{.id = record.id,
                                                                .token = record.task.token,
                                                                .transition = transition,
                                                                .fingerprint = group,
                                                                .by = "alice"}}});
    EXPECT_EQ(done.value().at(0), ports::Change::Done::applied);
  }
  void discard(const ports::OpenStore& store, const TaskId& id) {
    const auto record = find(store, id);
    change(store, record, core::discard(record.task, clock_.wall_now()).value());
  }
  void bring_back_and_let_die(const ports::OpenStore& store, const TaskId& id) {
    const WallTime now = clock_.wall_now();
    const auto record = find(store, id);
    change(store, record, core::replay(record.task, {}, {}, now).value());
    const auto claimed = ports::ask(
        *store.writer,
        ports::Claim{.queue = "relay", .max = 1, .owner = "me", .now = now, .only = {{id}}});
    const auto& running = claimed.value().tasks.at(0);
    testing::FakeRandom random;
    const Failure failure{.message = "network timeout", .kind = FailureKind::timeout};
    const auto died =
        core::decide(running.task, failure, {.kind = VerdictKind::ambiguous}, {}, now, random);
    change(store, running, died.value(), record.fingerprint);
  }

  holdfast::testing::TemporaryFolder folder_;
  holdfast::testing::FakeClock clock_;
};

TEST_F(FileOfSchema4, is_verified_as_it_is) {
  const auto seen = inspect({.path = path()});
  ASSERT_TRUE(seen) << seen.error().text();
  EXPECT_EQ(seen->schema, 4);
  EXPECT_EQ(seen->report.accepted, 6U);
  EXPECT_TRUE(seen->report.clean());
}

TEST_F(FileOfSchema4, N1_has_groups_that_lack_what_was_not_counted) {
  const auto store = opened();
  const Group group = dead_group(store);
  EXPECT_EQ(group.count, 3U);
  EXPECT_EQ(group.example, "network timeout");
  EXPECT_THAT(group.came_by, ElementsAre(0U, 0U, 0U));
  EXPECT_THAT(group.parts, IsEmpty());
  EXPECT_THAT(group.trend, IsEmpty());
  EXPECT_TRUE(ports::ask(*store.reader, ports::Audit{}).value().clean());
}

TEST_F(FileOfSchema4, N1_N5_counts_what_comes_from_then_on_and_is_clean_whatever_leaves) {
  const auto store = opened();
  std::vector<TaskId> ids;
  for (const char* id : kDead)
    ids.push_back(TaskId::parse(id).value());
  const auto clean = [&] { return ports::ask(*store.reader, ports::Audit{}).value().clean(); };
  bring_back_and_let_die(store, ids[0]);
  Group group = dead_group(store);
  EXPECT_EQ(group.count, 3U);
  EXPECT_THAT(group.came_by, ElementsAre(0U, 1U, 0U));
  EXPECT_THAT(group.parts, ElementsAre(Group::Part{"relay", "flaky", 1}));
  EXPECT_THAT(group.trend, SizeIs(1));
  EXPECT_TRUE(clean()) << "too few in its parts is no finding";
  discard(store, ids[1]);
  EXPECT_TRUE(clean());
  EXPECT_EQ(dead_group(store).count, 2U);
  discard(store, ids[0]);
  EXPECT_TRUE(clean());
  EXPECT_EQ(dead_group(store).count, 1U);
  EXPECT_THAT(dead_group(store).parts, IsEmpty());
  discard(store, ids[2]);
  EXPECT_TRUE(clean());
  EXPECT_EQ(dead_group(store).count, 0U) << "it is gone";
}

TEST_F(FileOfSchema4, N5_parts_that_count_too_many_are_a_finding_and_are_mended) {
  {
    (void)opened();
  }
  plant(
      "insert into group_part select state, fingerprint, 2, 5, 4 from failure_group"
      " where state = 5");
  const auto store = opened();
  const auto found = ports::ask(*store.reader, ports::Audit{}).value();
  ASSERT_EQ(found.found, 1U);
  EXPECT_EQ(found.findings[0].what,
            "the group e72605d2c0b2e472 of dead tasks counts 4 of type \"flaky\" in queue"
            " \"relay\", and has 3");
  EXPECT_EQ(ports::ask(*store.writer, ports::Audit{.repair = true}).value().repaired, 1U);
  EXPECT_TRUE(ports::ask(*store.reader, ports::Audit{}).value().clean());
  EXPECT_THAT(dead_group(store).parts, ElementsAre(Group::Part{"relay", "flaky", 3}));
}

TEST_F(FileOfSchema4, keeps_notes_and_who_decided_afterwards) {
  const TaskId id = TaskId::parse(kDead[0]).value();
  {
    const auto store = opened();
    EXPECT_EQ(ports::ask(*store.writer, ports::Jot{.shelf = "s", .key = "k", .text = "t"}).value(),
              1U);
    discard(store, id);
  }
  const auto store = opened();
  EXPECT_THAT(ports::ask(*store.reader, ports::Notes{.shelf = "s"}).value(),
              ElementsAre(ports::Note{"k", "t", 1}));
  const auto history = find(store, id).attempts;
  ASSERT_THAT(history, SizeIs(3));
  EXPECT_EQ(history.back().owner, "alice");
  EXPECT_EQ(history.back().event, core::Event::discard);
}

// No row is rewritten: what is there is only added to.
TEST_F(FileOfSchema4, is_migrated_at_the_same_cost_however_large_it_is) {
  plant(
      "insert into task with recursive n (i) as (select 100 union all select i + 1 from n"
      " where i < 5000) select i, randomblob(16), 2, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, null,"
      " null, null, null, zeroblob(500), null, false from n; pragma wal_checkpoint(truncate)");
  Database database(path(), Database::Mode::write);
  ASSERT_GT(database.number("pragma page_count"), 300);
  ASSERT_EQ(migrate(database, path(), clock_.wall_now()), 4);
  EXPECT_EQ(database.number("select max(version) from schema_version"), 5);
  EXPECT_LT(database.wal_pages(), 10) << "pages written";
}

}  // namespace
}  // namespace holdfast::stores::sqlite::schema_4_test
