#include "stores/sqlite/inspect.hpp"

#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/apart.hpp"
#include "stores/sqlite/audit_testing.hpp"
#include "stores/sqlite/schema.hpp"

namespace holdfast::stores::sqlite::inspect_test {
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
class CrashedTest : public InspectTest {
 protected:
  CrashedTest() {
    const auto store = file_.open();
    const ports::Claim claim{
        .queue = "mail", .max = 9, .owner = "worker-1", .now = SampleFile::kStart};
    EXPECT_EQ(ports::ask(*store.writer, claim).value().tasks.size(), 1u);
    fs::copy(file_.path(), crashed_);
    fs::copy(file_.path() + "-wal", crashed_ + "-wal");
  }

  std::string crashed_ = file_.folder() / "crashed.db";
};

TEST_F(CrashedTest, reads_a_log_that_was_left_and_leaves_it) {
  const auto before = folder();
  const auto seen = inspect({.path = crashed_});
  ASSERT_TRUE(seen) << seen.error().text();
  EXPECT_TRUE(seen->report.clean());
  EXPECT_EQ(seen->report.present[1], 2u);
  EXPECT_TRUE(folder() == before);  // nor is there an index of the log beside it
}

TEST_F(CrashedTest, says_that_another_program_reads_it) {
  Database other(crashed_, Database::Mode::read);
  other.execute("begin");
  (void)other.number("select count(*) from task");
  const auto seen = inspect({.path = crashed_});
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().code, ErrorCode::conflict);
  EXPECT_THAT(seen.error().message, StartsWith("is being read by another program"));
}

// Runs `look` as somebody who may read the files and the folder, but not write to them.
Result<std::vector<double>> as_a_reader(const fs::path& folder,
                                        const std::function<Result<Inspection>()>& look) {
  for (const auto& entry : fs::directory_iterator(folder))
    fs::permissions(entry, static_cast<fs::perms>(0444));
  fs::permissions(folder, static_cast<fs::perms>(0555));
  const auto seen = io::run_apart([&]() -> Result<std::vector<double>> {
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && ::setuid(kNobody) != 0) std::abort();
    const auto inspected = look();
    if (!inspected) return std::unexpected(inspected.error());
    return std::vector{static_cast<double>(inspected->report.present[1])};
  });
  fs::permissions(folder, fs::perms::owner_all);
  return seen;
}

TEST_F(CrashedTest, reads_a_log_that_must_not_be_written_to) {
  const SampleFile elsewhere;
  const fs::path temporary = elsewhere.folder() / "temporary";
  fs::create_directory(temporary);
  fs::permissions(temporary, fs::perms::all);
  fs::permissions(elsewhere.folder(), static_cast<fs::perms>(0755));
  const auto before = folder();
  const auto seen = as_a_reader(file_.folder(), [&] {
    ::setenv("TMPDIR", temporary.c_str(), 1);
    return inspect({.path = crashed_});
  });
  ASSERT_TRUE(seen) << seen.error().text();
  EXPECT_EQ(seen->at(0), 2);
  EXPECT_TRUE(folder() == before);
  EXPECT_TRUE(fs::is_empty(temporary));
}

TEST_F(CrashedTest, says_where_a_log_cannot_be_read) {
  const auto seen = as_a_reader(file_.folder(), [&] {
    ::setenv("TMPDIR", file_.folder().c_str(), 1);  // which cannot be written to either
    return inspect({.path = crashed_});
  });
  ASSERT_FALSE(seen);
  EXPECT_THAT(seen.error().message, HasSubstr("(Permission denied): set TMPDIR to a folder with"));
}

// As a plain cp of a store that has just been made: all of it is still in the log.
TEST_F(InspectTest, says_that_the_log_of_a_copy_was_left_behind) {
  const std::string young = file_.folder() / "young.db";
  const std::string copied = file_.folder() / "copied.db";
  const auto store = open({.path = young});
  ASSERT_TRUE(store) << store.error().text();
  fs::copy(young, copied);
  const auto seen = inspect({.path = copied});
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().message, "holds no store; if this is a copy, its -wal was left behind");
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
}  // namespace holdfast::stores::sqlite::inspect_test
