#include "config/secret.hpp"

#include <concepts>
#include <filesystem>
#include <fstream>
#include <ostream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <holdfast/log.hpp>

#include "config/outside.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::config::secret_test {
namespace {

template <class T>
concept Printable = requires(std::ostream& out, const T& value) { out << value; };

static_assert(!Printable<Secret>);
static_assert(!fmt::is_formattable<Secret>::value);
static_assert(!std::constructible_from<Field, std::string_view, Secret>, "a log cannot take it");
static_assert(!std::convertible_to<Secret, std::string> &&
              !std::convertible_to<Secret, std::string_view> && !std::convertible_to<Secret, bool>);

TEST(Secret, is_shown_to_who_asks_by_name) {
  const Secret secret("s3cret", "env:NAME");
  EXPECT_TRUE(secret.is_set());
  EXPECT_EQ(secret.reveal(), "s3cret");
  EXPECT_EQ(secret.source(), "env:NAME");
  EXPECT_FALSE(Secret().is_set());
  EXPECT_EQ(Secret().reveal(), "");
}

TEST(Secret, is_the_same_if_its_text_and_its_source_are) {
  const Secret secret("s3cret", "env:NAME");
  EXPECT_TRUE(secret == Secret("s3cret", "env:NAME"));
  EXPECT_FALSE(secret == Secret("other", "env:NAME"));
  EXPECT_FALSE(secret == Secret("s3cret", "env:OTHER"));
  EXPECT_FALSE(secret == Secret());
}

class SecretFile : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text, int mode = 0600) {
    const std::string path = folder_ / name;
    std::ofstream(path, std::ios::binary) << text;
    std::filesystem::permissions(path, std::filesystem::perms(mode));
    return path;
  }

  const holdfast::testing::TemporaryFolder folder_;
  Outside& outside_ = system_outside();
};

TEST_F(SecretFile, loses_one_newline_at_its_end) {
  EXPECT_EQ(outside_.secret_file(write("a", "text\n")).value(), "text");
  EXPECT_EQ(outside_.secret_file(write("a", "text\r\n")).value(), "text");
  EXPECT_EQ(outside_.secret_file(write("a", "text\n\n")).value(), "text\n");
  EXPECT_EQ(outside_.secret_file(write("a", "text")).value(), "text");
  EXPECT_EQ(outside_.secret_file(write("a", "\n")).value(), "");
}

TEST_F(SecretFile, is_read_whole_however_long) {
  for (const int size : {0, 1, 16 << 10, (16 << 10) + 1, 40'000, 64 << 10}) {
    const std::string text(static_cast<std::size_t>(size), 'x');
    EXPECT_EQ(outside_.secret_file(write("l", text)).value(), text) << size;
  }
}

TEST_F(SecretFile, is_for_its_owner_alone) {
  for (const int mode : {0644, 0640, 0604, 0620, 0602, 0601}) {
    const std::string path = write("b", "text", mode);
    const auto text = outside_.secret_file(path);
    ASSERT_FALSE(text) << mode;
    EXPECT_EQ(text.error().message,
              path + ": others than its owner can read or change it: chmod 600 " + path);
  }
  EXPECT_TRUE(outside_.secret_file(write("b", "text", 0400)));
}

TEST_F(SecretFile, must_be_a_file_that_can_be_read) {
  EXPECT_EQ(outside_.secret_file(folder_ / "none").error().message,
            (folder_ / "none") + ": No such file or directory");
  EXPECT_EQ(outside_.secret_file(folder_.path()).error().message,
            folder_.path().string() + ": this is not a file");
  EXPECT_EQ(outside_.secret_file("/dev/zero").error().message, "/dev/zero: this is not a file");
  const std::string large = write("c", std::string((64 << 10) + 1, 'x'));
  EXPECT_EQ(outside_.secret_file(large).error().message, large + ": more than 64KiB");
}

TEST_F(SecretFile, paths_are_what_they_are_named_for) {
  const std::string plain = write("plain", "x", 0644);
  const std::string program = write("program", "x", 0755);
  EXPECT_TRUE(outside_.check_path(plain, PathUse::file));
  EXPECT_FALSE(outside_.check_path(plain, PathUse::folder));
  EXPECT_FALSE(outside_.check_path(plain, PathUse::program));
  EXPECT_EQ(outside_.check_path(plain, PathUse::private_key).error().message,
            plain + ": everyone can read or change it: chmod 600 " + plain);
  EXPECT_TRUE(outside_.check_path(write("key", "x", 0640), PathUse::private_key))
      << "a group of those who may is a custom";
  EXPECT_TRUE(outside_.check_path(program, PathUse::program));
  EXPECT_TRUE(outside_.check_path(folder_.path(), PathUse::folder));
  EXPECT_FALSE(outside_.check_path(folder_.path(), PathUse::file));
  EXPECT_FALSE(outside_.check_path(folder_ / "none", PathUse::file));
}

TEST(SystemOutside, knows_its_environment) {
  EXPECT_TRUE(system_outside().variable("PATH"));
  EXPECT_FALSE(system_outside().variable("HOLDFAST_NO_SUCH_VARIABLE"));
}

}  // namespace
}  // namespace holdfast::config::secret_test
