#include "stores/sqlite/open.hpp"

#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "stores/sqlite/audit_testing.hpp"

namespace holdfast::stores::sqlite::open_test {
namespace {

namespace fs = std::filesystem;

// One batch each, as if nobody else asked.
void submit_one_by_one(ports::Store& store, int count) {
  for (int i = 1; i <= count; ++i) {
    const auto id = TaskId::parse(fmt::format("00000000-0000-7000-9000-{:012}", i)).value();
    const auto answer = ports::ask(store, ports::Submit{{{.id = id,
                                                          .type = "send",
                                                          .queue = "mail",
                                                          .payload = std::string(200, 'x'),
                                                          .created = SampleFile::kStart,
                                                          .due = SampleFile::kStart}}});
    ASSERT_TRUE(answer && answer->at(0));
  }
}

// Otherwise it grows without end: the disk fills, and every start reads all of it.
TEST(OpenSqliteStore, keeps_the_log_short_by_moving_it_into_the_file) {
  const SampleFile file;
  constexpr std::size_t kPage = 8192;
  const auto store = open({.path = file.path(), .checkpoint_pages = 20, .synchronous = "off"});
  ASSERT_TRUE(store) << store.error().text();
  const auto size_before = fs::file_size(file.path());
  submit_one_by_one(*store->writer, 300);
  EXPECT_LT(fs::file_size(file.path() + "-wal"), 60 * kPage);
  EXPECT_GT(fs::file_size(file.path()), size_before + 5 * kPage);
}

TEST(OpenSqliteStore, keeps_the_log_short_with_the_pages_it_has_by_default) {
  const SampleFile file;
  const auto store = open({.path = file.path(), .synchronous = "off"});
  ASSERT_TRUE(store) << store.error().text();
  submit_one_by_one(*store->writer, 4000);
  EXPECT_LT(fs::file_size(file.path() + "-wal"), std::size_t{50} << 20U);
}

// What threw is no error of SQLite's. Answers from before the throw tell of what was taken back.
TEST(SqliteWriter, a_throw_amid_a_batch_leaves_no_answer_that_did_not_happen) {
  const SampleFile file;
  file.plant("insert into tally select queue, -1, 5 from tally limit 1");
  const auto id = TaskId::parse("00000000-0000-7000-9000-000000000001").value();
  {
    const auto store = file.open();
    std::vector<ports::Request> batch;
    batch.emplace_back(ports::Asked<ports::Submit>{
        {{{.id = id, .type = "t", .queue = "q", .created = SampleFile::kStart}}}});
    batch.emplace_back(ports::Asked<ports::Count>{});
    store.writer->carry_out(batch);
    const auto& submitted = std::get<ports::Asked<ports::Submit>>(batch[0]).answer;
    const auto& counted = std::get<ports::Asked<ports::Count>>(batch[1]).answer;
    EXPECT_FALSE(counted);
    ASSERT_TRUE(submitted && submitted->at(0));
  }
  EXPECT_TRUE(ports::ask(*file.open().writer, ports::Find{id}).value());
}

// A cursor has the number of a queue, and comes from outside: what it asks for must not stay.
TEST(SqliteReader, a_made_up_cursor_does_not_take_the_name_of_a_later_queue) {
  const SampleFile file;
  const auto store = file.open();
  for (int number = 1; number < 50; ++number) {
    const ports::List list{.filter = {.state = core::State::pending},
                           .cursor = fmt::format("w.{}.0.0.0", number)};
    ASSERT_TRUE(ports::ask(*store.reader, list));
  }
  const auto id = TaskId::parse("00000000-0000-7000-9000-000000000001").value();
  ASSERT_TRUE(ports::ask(*store.writer, ports::Submit{{{.id = id, .type = "t", .queue = "late"}}})
                  .value()
                  .at(0));
  EXPECT_EQ(ports::ask(*store.reader, ports::Find{id}).value().value().queue, "late");
}

TEST(OpenSqliteStore, leaves_a_file_of_another_program_as_it_is) {
  const SampleFile file;
  const std::string path = file.folder() / "other.db";
  Database(path, Database::Mode::write).execute("create table theirs (a)");
  std::ifstream before(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(before), {}};
  const auto refused = open({.path = path});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  std::ifstream after(path, std::ios::binary);
  EXPECT_EQ(bytes, std::string(std::istreambuf_iterator<char>(after), {}));
}

TEST(OpenSqliteStore, does_not_follow_a_planted_lock_file) {
  const SampleFile file;
  const auto precious = file.folder() / "precious";
  std::ofstream(precious) << "letters";
  fs::remove(file.path() + ".lock");
  fs::create_symlink(precious, file.path() + ".lock");
  EXPECT_FALSE(open({.path = file.path()}));
  EXPECT_EQ(fs::file_size(precious), 7U);
}

}  // namespace
}  // namespace holdfast::stores::sqlite::open_test
