#include "io/durable_file.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <stdlib.h>

namespace holdfast::io::durable_file_test {
namespace {

class DurableFileTest : public ::testing::Test {
 protected:
  DurableFileTest() {
    std::string name = (std::filesystem::temp_directory_path() / "holdfast-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "cannot make " << name;
    folder_ = name;
  }
  ~DurableFileTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path() const { return folder_ / "file"; }
  [[nodiscard]] std::string content() const {
    std::ifstream file(path());
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] std::ptrdiff_t files() const {
    return std::distance(std::filesystem::directory_iterator(folder_), {});
  }

  std::filesystem::path folder_;
};

TEST_F(DurableFileTest, is_there_whole_or_not_at_all) {
  {
    auto file = DurableFile::create(path(), false);
    ASSERT_TRUE(file) << file.error().text();
    EXPECT_TRUE(file->write("half"));
    EXPECT_FALSE(std::filesystem::exists(path()));
  }
  EXPECT_EQ(files(), 0);
  auto file = DurableFile::create(path(), false);
  EXPECT_TRUE(file->write("all "));
  EXPECT_TRUE(file->write("of it"));
  EXPECT_TRUE(file->commit());
  EXPECT_EQ(content(), "all of it");
  EXPECT_EQ(files(), 1);
  const auto rights = std::filesystem::status(path()).permissions();
  EXPECT_EQ(rights, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(DurableFileTest, replaces_nothing_unless_told_to) {
  std::ofstream(path()) << "old";
  EXPECT_EQ(DurableFile::create(path(), false).error().code, ErrorCode::conflict);
  auto file = DurableFile::create(path(), true);
  EXPECT_TRUE(file->write("new"));
  EXPECT_TRUE(file->commit());
  EXPECT_EQ(content(), "new");
}

TEST_F(DurableFileTest, does_not_replace_what_has_come_meanwhile) {
  auto file = DurableFile::create(path(), false);
  std::ofstream(path()) << "of another";
  EXPECT_EQ(file->commit().error().code, ErrorCode::conflict);
  EXPECT_EQ(content(), "of another");
}

TEST_F(DurableFileTest, says_where_it_cannot_be) {
  EXPECT_FALSE(DurableFile::create(folder_ / "nowhere" / "file", false));
}

}  // namespace
}  // namespace holdfast::io::durable_file_test
