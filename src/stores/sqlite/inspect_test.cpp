#include "stores/sqlite/inspect.hpp"

#include <fstream>
#include <iterator>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "stores/sqlite/audit_testing.hpp"
#include "stores/sqlite/schema.hpp"

namespace holdfast::stores::sqlite {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class InspectTest : public ::testing::Test {
 protected:
  [[nodiscard]] Result<Inspection> look() const { return inspect({.path = file_.path()}); }
  [[nodiscard]] Result<Inspection> mend() const {
    return inspect({.path = file_.path(), .repair = true});
  }
  // Every file of the folder, with what is in it.
  [[nodiscard]] std::map<std::string, std::string> folder() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(file_.folder()))
      files[entry.path().filename()] = content(entry.path());
    return files;
  }
  void damage() const {
    file_.plant("delete from waiting where seq = " + std::to_string(file_.seq("pending")));
  }

  SampleFile file_;
};

TEST_F(InspectTest, changes_nothing_without_repair) {
  damage();
  const auto before = folder();
  const auto seen = look();
  ASSERT_TRUE(seen) << seen.error().text();
  EXPECT_EQ(seen->schema, newest_version());
  EXPECT_EQ(seen->report.found, 1u);
  EXPECT_EQ(seen->left, 1u);
  EXPECT_EQ(seen->report.accepted, 8u);
  EXPECT_TRUE(folder() == before);
}

TEST_F(InspectTest, changes_nothing_in_a_clean_file_that_is_to_be_repaired) {
  const auto before = folder();
  const auto seen = mend();
  ASSERT_TRUE(seen) << seen.error().text();
  EXPECT_TRUE(seen->report.clean());
  EXPECT_EQ(seen->backup, "");
  EXPECT_TRUE(folder() == before);
}

TEST_F(InspectTest, makes_no_file_beside_a_copy) {
  fs::remove(file_.path() + ".lock");
  fs::rename(file_.path(), file_.folder() / "copy of 100%?#.db");
  const auto before = folder();
  const auto seen = inspect({.path = file_.folder() / "copy of 100%?#.db"});
  ASSERT_TRUE(seen) << seen.error().text();
  EXPECT_TRUE(seen->report.clean());
  EXPECT_TRUE(folder() == before);
}

// As after a crash: the log holds what the file does not have yet.
TEST_F(InspectTest, reads_a_log_that_was_left_and_leaves_it) {
  const fs::path crashed = file_.folder() / "crashed.db";
  {
    const auto store = file_.open();
    const ports::Claim claim{
        .queue = "mail", .max = 9, .owner = "worker-1", .now = SampleFile::kStart};
    EXPECT_EQ(ports::ask(*store.writer, claim).value().tasks.size(), 1u);
    fs::copy(file_.path(), crashed);
    fs::copy(file_.path() + "-wal", crashed.string() + "-wal");
  }
  const auto before = folder();
  const auto seen = inspect({.path = crashed});
  ASSERT_TRUE(seen) << seen.error().text();
  EXPECT_TRUE(seen->report.clean());
  EXPECT_EQ(seen->report.present[1], 2u);
  EXPECT_EQ(content(crashed), before.at("crashed.db"));
  EXPECT_EQ(content(crashed.string() + "-wal"), before.at("crashed.db-wal"));
}

TEST_F(InspectTest, keeps_a_copy_of_what_it_repairs) {
  damage();
  const auto mended = mend();
  ASSERT_TRUE(mended) << mended.error().text();
  EXPECT_EQ(mended->report.found, 1u);
  EXPECT_EQ(mended->report.repaired, 1u);
  EXPECT_EQ(mended->left, 0u);
  EXPECT_EQ(mended->backup, file_.path() + ".before-repair");
  EXPECT_TRUE(look()->report.clean());
  struct stat status = {};
  ASSERT_EQ(::stat(mended->backup.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  const auto copy = inspect({.path = mended->backup});
  ASSERT_TRUE(copy) << copy.error().text();
  EXPECT_EQ(copy->report.found, 1u);
}

TEST_F(InspectTest, replaces_no_earlier_copy) {
  for (const char* suffix : {".before-repair", ".before-repair.2", ".before-repair.3"}) {
    damage();
    EXPECT_EQ(mend()->backup, file_.path() + suffix);
  }
}

TEST_F(InspectTest, does_not_call_a_loss_repaired) {
  file_.plant("update tally set count = count + 1 where what = 20 and queue = 1");
  const auto mended = mend();
  ASSERT_TRUE(mended) << mended.error().text();
  EXPECT_EQ(mended->left, 1u);
  EXPECT_EQ(look()->left, 0u);
}

TEST_F(InspectTest, refuses_a_file_in_use_and_names_who_has_it) {
  const auto store = file_.open();
  for (const auto& seen : {look(), mend()}) {
    ASSERT_FALSE(seen);
    EXPECT_EQ(seen.error().code, ErrorCode::conflict);
    EXPECT_THAT(seen.error().message,
                StartsWith("is in use by process " + std::to_string(::getpid())));
  }
}

TEST_F(InspectTest, refuses_a_newer_file_as_the_store_does) {
  file_.plant("insert into schema_version values (99, 0)");
  for (const auto& seen : {look(), mend()}) {
    ASSERT_FALSE(seen);
    EXPECT_THAT(seen.error().message, StartsWith("was written by a newer Holdfast (schema 99;"));
  }
}

TEST_F(InspectTest, makes_no_file_that_is_not_there) {
  const std::string path = file_.folder() / "missing.db";
  const auto before = folder();
  for (const bool repair : {false, true}) {
    const auto seen = inspect({.path = path, .repair = repair});
    ASSERT_FALSE(seen);
    EXPECT_EQ(seen.error().code, ErrorCode::not_found);
    EXPECT_EQ(seen.error().message, "No such file or directory");
  }
  EXPECT_TRUE(folder() == before);
}

TEST_F(InspectTest, refuses_what_is_no_store) {
  const fs::path path = file_.folder() / "strange";
  const auto refused = [&](const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
    const auto seen = inspect({.path = path, .repair = true});
    EXPECT_EQ(content(path), text);
    return seen ? std::string() : seen.error().message;
  };
  EXPECT_EQ(refused(""), "is empty: there is no store in it");
  EXPECT_THAT(refused("no database at all, but a text of some length"),
              HasSubstr("is no SQLite database"));
  EXPECT_THAT(refused(std::string(20000, '\0')), HasSubstr("is no SQLite database"));
  const auto seen = inspect({.path = file_.folder()});
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().message, "is a folder");
}

TEST_F(InspectTest, refuses_a_database_of_another_program) {
  const std::string path = file_.folder() / "other.db";
  Database(path, Database::Mode::write).execute("create table t (x)");
  const auto seen = inspect({.path = path, .repair = true});
  ASSERT_FALSE(seen);
  EXPECT_THAT(seen.error().message, HasSubstr("not one of Holdfast's"));
}

TEST_F(InspectTest, touches_nothing_in_a_file_that_is_damaged_itself) {
  std::int64_t page = 0;
  {
    Database database(file_.path(), Database::Mode::write);
    page = database.number("select rootpage from sqlite_master where name = 'attempt'");
  }
  {
    std::fstream file(file_.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp((page - 1) * 8192);
    file << std::string(100, 'x');
  }
  const auto before = folder();
  const auto seen = mend();
  ASSERT_TRUE(seen) << seen.error().text();
  EXPECT_FALSE(seen->report.readable);
  EXPECT_GT(seen->left, 0u);
  EXPECT_EQ(seen->backup, "");
  EXPECT_TRUE(folder() == before);
}

TEST_F(InspectTest, says_that_a_file_is_damaged_whose_end_is_missing) {
  fs::resize_file(file_.path(), 3 * 8192);
  const auto before = folder();
  const auto seen = mend();
  ASSERT_TRUE(seen) << seen.error().text();
  EXPECT_FALSE(seen->report.readable);
  EXPECT_EQ(seen->left, seen->report.found);
  EXPECT_TRUE(folder() == before);
}

}  // namespace
}  // namespace holdfast::stores::sqlite
