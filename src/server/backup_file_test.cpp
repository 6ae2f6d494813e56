#include "server/backup_file.hpp"

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/loop.hpp"
#include "server/backup_source.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::server::backup_file_test {
namespace {

using ::testing::HasSubstr;

std::string begin_line() {
  std::string text;
  recovery::append_backup_begin(text, WallTime(), "run 1", "amqp://x/q");
  return text;
}

std::string message_line(const std::string& id) {
  std::string text;
  recovery::append_backup_message(
      text, {.tag = {}, .message = {.body = id, .headers = {}}, .from = {}}, "q", "run 1");
  return text;
}

class BackupFileTest : public ::testing::Test {
 protected:
  void write(const std::string& text) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << text;
  }
  [[nodiscard]] std::string read() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] Result<BackupSource::Contents> contents() const {
    io::Loop loop;
    auto source = BackupSource::open(loop, path_, "q");
    if (!source) return std::unexpected(source.error());
    return (*source)->contents();
  }

  const testing::TemporaryFolder folder_;
  const std::string path_ = folder_ / "b.jsonl";
};

TEST_F(BackupFileTest, a_damaged_first_line_is_one_damaged_line) {
  std::string first = begin_line();
  first[5] ^= 1;
  write(first + message_line("a") + message_line("b"));
  const auto found = contents();
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->messages, 2U);
  EXPECT_EQ(found->damaged, 1U);
  EXPECT_TRUE(BackupFile::open(path_));
  EXPECT_EQ(read(), first + message_line("a") + message_line("b"));
}

TEST_F(BackupFileTest, what_no_line_of_is_one_of_a_backup_is_none) {
  write("a\nb\n");
  EXPECT_FALSE(contents());
  EXPECT_FALSE(BackupFile::open(path_));
  EXPECT_EQ(read(), "a\nb\n");
}

TEST_F(BackupFileTest, one_of_a_newer_version_is_refused) {
  std::string newer = R"({"holdfast_backup":2,"run":"r")";
  newer += R"(,"sum":"22aa2f0efb1c7ecd1d4c1f3ae2ac6a0d"})";
  const std::string sum = recovery::to_text(recovery::backup_checksum(newer.substr(0, 30)));
  newer.replace(newer.size() - 34, 32, sum);
  write(newer + "\n" + message_line("a"));
  EXPECT_THAT(contents().error().message, HasSubstr("of version 2"));
  EXPECT_THAT(BackupFile::open(path_).error().message, HasSubstr("of this version"));
}

// V2: it may be acknowledged by now, if only the newline was cut off.
TEST_F(BackupFileTest, V2_a_whole_last_line_without_its_newline_is_kept) {
  std::string text = begin_line() + message_line("a");
  text.pop_back();
  write(text);
  {
    auto file = BackupFile::open(path_);
    ASSERT_TRUE(file) << file.error().message;
    ASSERT_TRUE((*file)->append(message_line("b")));
    ASSERT_TRUE((*file)->sync());
  }
  EXPECT_EQ(read(), begin_line() + message_line("a") + message_line("b"));
}

TEST_F(BackupFileTest, a_torn_last_line_is_removed_and_not_restored) {
  const std::string whole = begin_line() + message_line("a");
  write(whole + message_line("b").substr(0, 40));
  EXPECT_EQ(contents()->messages, 1U);
  EXPECT_EQ(contents()->damaged, 1U);
  ASSERT_TRUE(BackupFile::open(path_));
  EXPECT_EQ(read(), whole);
}

// V2
TEST_F(BackupFileTest, V2_one_that_is_removed_or_cut_meanwhile_takes_no_more) {
  const auto other = folder_ / "other";
  const std::vector<std::function<void()>> harms = {
      [&] { std::filesystem::remove(path_); }, [&] { std::filesystem::rename(path_, other); },
      [&] { std::filesystem::resize_file(path_, 10); }};
  for (const auto& harm : harms) {
    std::filesystem::remove(path_);
    auto file = BackupFile::open(path_);
    ASSERT_TRUE(file) << file.error().message;
    ASSERT_TRUE((*file)->append(begin_line() + message_line("a")));
    ASSERT_TRUE((*file)->sync());
    EXPECT_TRUE((*file)->check());
    harm();
    EXPECT_FALSE((*file)->check());
    ASSERT_TRUE((*file)->append(message_line("b")));
    EXPECT_EQ((*file)->sync().error().code, ErrorCode::conflict);
  }
}

TEST_F(BackupFileTest, is_for_the_eyes_of_its_owner_and_a_note_is_not_touched) {
  using std::filesystem::perms;
  for (const std::string note : {"{", R"({"holdfast_backup":1,"my precious":"note"})"}) {
    write(note);
    EXPECT_FALSE(BackupFile::open(path_));
    EXPECT_EQ(read(), note);
  }
  write(begin_line());
  std::filesystem::permissions(path_, perms{0644});
  ASSERT_TRUE(BackupFile::open(path_));
  EXPECT_EQ(std::filesystem::status(path_).permissions(), perms{0600});
}

}  // namespace
}  // namespace holdfast::server::backup_file_test
