#include <gtest/gtest.h>

#include "stores/sqlite/audit.hpp"
#include "stores/sqlite/open.hpp"
#include "stores/sqlite/schema_1_testing.hpp"
#include "torture/forgetful_vfs.hpp"

// A file of an old schema is migrated whole or not at all, wherever the power goes.
namespace holdfast::torture::migration_test {
namespace {

using Keeps = ForgetfulDisk::Keeps;
using stores::sqlite::Database;

class OldFile {
 public:
  OldFile() { database().execute(stores::sqlite::kFileOfSchema1); }

  // Whether it is open; that is what migrates it.
  bool open() { return stores::sqlite::open({.path = path(), .vfs = vfs_.name()}).has_value(); }
  void cut_power(Keeps keeps) { vfs_.restart(keeps, random_); }
  ForgetfulVfs& vfs() { return vfs_; }

  // "1 of 20 and 3": the version, and how many columns its tables have that are changed.
  std::string shape() {
    Database file = database();
    return std::to_string(file.number("select max(version) from schema_version")) + " of " +
           std::to_string(file.number("select count(*) from pragma_table_info('task')")) + " and " +
           std::to_string(file.number("select count(*) from pragma_table_info('queue')"));
  }
  ports::AuditReport audit() {
    Database file = database();
    return stores::sqlite::audit(file, {});
  }

 private:
  [[nodiscard]] std::string path() const { return vfs_.folder() + "/store.db"; }
  Database database() { return {path(), Database::Mode::write, vfs_.name()}; }

  SeededRandom random_{7};
  ForgetfulVfs vfs_;
};

class MigrationTest : public ::testing::TestWithParam<Keeps> {};

TEST_P(MigrationTest, is_whole_or_not_at_all_wherever_the_power_goes) {  // N12
  std::uint64_t steps = 0;
  {
    OldFile file;
    file.vfs().plan({});
    ASSERT_TRUE(file.open());
    steps = file.vfs().steps();
    EXPECT_EQ(file.shape(), "5 of 22 and 4");
  }
  ASSERT_GT(steps, 3U);
  for (std::uint64_t cut_at = 1; cut_at <= steps; ++cut_at) {
    OldFile file;
    file.vfs().plan({.cut_power_at = cut_at});
    const bool opened = file.open();
    file.cut_power(GetParam());
    const std::string shape = file.shape();
    if (opened) {
      EXPECT_EQ(shape, "5 of 22 and 4") << "cut at " << cut_at;
    } else {
      EXPECT_TRUE(shape == "1 of 20 and 3" || shape == "5 of 22 and 4")
          << shape << ", cut at " << cut_at;
    }
    ASSERT_TRUE(file.open()) << "cut at " << cut_at;
    EXPECT_EQ(file.shape(), "5 of 22 and 4") << "cut at " << cut_at;
    const ports::AuditReport report = file.audit();
    EXPECT_TRUE(report.clean()) << "cut at " << cut_at;
    EXPECT_EQ(report.accepted, 8U);
  }
}

INSTANTIATE_TEST_SUITE_P(Keeping, MigrationTest,
                         ::testing::Values(Keeps::nothing, Keeps::a_beginning, Keeps::any_sectors),
                         [](const auto& info) {
                           switch (info.param) {
                             case Keeps::nothing: return "nothing";
                             case Keeps::a_beginning: return "a_beginning";
                             case Keeps::any_sectors: return "any_sectors";
                           }
                           return "";
                         });

}  // namespace
}  // namespace holdfast::torture::migration_test
