#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "io/fifo_testing.hpp"
#include "io/http_client_testing.hpp"
#include "io/private_folder.hpp"

namespace holdfast::io::private_folder_threads_test {
namespace {

using testing::RunningLoop;
using testing::TemporaryFolder;

constexpr std::string_view kPrefix = "test-";

std::size_t count_in(const std::string& folder) {
  const std::filesystem::directory_iterator all(folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

int mode_of(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return static_cast<int>(status.st_mode & 0777);
}

void wait_until_gone(const std::string& path) {
  while (std::filesystem::exists(path))
    std::this_thread::yield();
}

TEST(PrivateFolder, is_for_its_owner_alone) {
  const TemporaryFolder beside;
  RunningLoop loop;
  const auto folder = PrivateFolder::make(*loop, beside.path(), kPrefix).value();
  EXPECT_EQ(mode_of(folder.path()), 0700);
  const auto file = folder.create("a").value();
  EXPECT_EQ(mode_of(file.path()), 0600);
  EXPECT_FALSE(folder.create("a"));  // O_EXCL: nobody's file is taken over
}

TEST(PrivateFolder, has_files_that_are_written_emptied_and_gone) {
  const TemporaryFolder beside;
  RunningLoop loop;
  const auto folder = PrivateFolder::make(*loop, beside.path(), kPrefix).value();
  std::string path;
  {
    auto file = folder.create("a").value();
    path = file.path();
    EXPECT_EQ(file.write("wrong"), 0);
    EXPECT_EQ(file.empty_out(), 0);
    EXPECT_EQ(file.write("right"), 0);
    file.close();
    std::ifstream in(path);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "right");
    auto moved = std::move(file);
    EXPECT_TRUE(std::filesystem::exists(moved.path()));
  }
  wait_until_gone(path);
}

TEST(PrivateFolder, is_gone_with_its_last_file) {
  const TemporaryFolder beside;
  RunningLoop loop;
  {
    std::optional<PrivateFile> file;
    {
      const auto folder = PrivateFolder::make(*loop, beside.path(), kPrefix).value();
      file = folder.create("a").value();
    }
    EXPECT_TRUE(std::filesystem::exists(file->path()));
  }
  EXPECT_EQ(count_in(beside.path()), 0U);
}

TEST(PrivateFolder, sweeps_what_the_dead_have_left_and_nothing_else) {
  const TemporaryFolder beside;
  RunningLoop loop;
  const auto living = PrivateFolder::make(*loop, beside.path(), kPrefix).value();
  const auto file = living.create("a").value();
  const std::string left = beside.path() / "test-left";
  std::filesystem::create_directory(left);
  std::ofstream(left + "/b") << "x";
  const std::string other = beside.path() / "other";
  std::filesystem::create_directory(other);
  std::filesystem::create_directory_symlink(other, beside.path() / "test-link");
  std::ofstream(other + "/c") << "x";

  const auto next = PrivateFolder::make(*loop, beside.path(), kPrefix).value();
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(std::filesystem::exists(file.path()));
  EXPECT_TRUE(std::filesystem::exists(other + "/c"));
  EXPECT_NE(next.path(), living.path());
}

TEST(PrivateFolder, many_may_be_made_at_once) {
  const TemporaryFolder beside;
  RunningLoop loop;
  {
    std::vector<std::jthread> makers;
    for (int n = 0; n < 8; ++n) {
      makers.emplace_back([&] {
        for (int times = 0; times < 20; ++times) {
          const auto folder = PrivateFolder::make(*loop, beside.path(), kPrefix);
          ASSERT_TRUE(folder) << folder.error().text();
          ASSERT_TRUE(folder->create("a"));
        }
      });
    }
  }
  EXPECT_EQ(count_in(beside.path()), 0U);
}

TEST(PrivateFolder, says_where_none_can_be_made) {
  RunningLoop loop;
  const auto folder = PrivateFolder::make(*loop, "/nowhere", kPrefix);
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace holdfast::io::private_folder_threads_test
