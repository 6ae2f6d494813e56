#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include "stores/sqlite/open.hpp"
#include "torture/workload.hpp"

// A real file system without room: a small one in memory, which needs the rights to mount it.
namespace holdfast::torture::full_disk_test {
namespace {

using Answer = Workload::Answer;

class SmallDisk {
 public:
  explicit SmallDisk(const std::string& size) {
    std::string pattern = std::filesystem::temp_directory_path() / "holdfast-full-XXXXXX";
    if (!::mkdtemp(pattern.data())) return;
    folder_ = pattern;
    mounted_ = ::mount("tmpfs", folder_.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
    error_ = mounted_ ? "" : std::strerror(errno);
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove(folder_, ignored);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] const std::string& error() const { return error_; }

  // Leaves about so much room, by a file that somebody else has put there.
  void leave(std::uint64_t bytes) {
    const auto room = std::filesystem::space(folder_).available;
    const int file = ::open(other().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_GE(file, 0);
    if (room > bytes) {
      const auto size = static_cast<off_t>(room - bytes);
      EXPECT_EQ(::posix_fallocate(file, 0, size), 0);
    }
    ::close(file);
  }
  void make_room() const { std::filesystem::remove(other()); }

 private:
  [[nodiscard]] std::string other() const { return folder_ + "/other"; }

  std::string folder_;
  std::string error_;
  bool mounted_ = false;
};

class FullDisk : public ::testing::TestWithParam<int> {};

TEST_P(FullDisk, refuses_and_works_again_when_there_is_room) {  // T10
  SmallDisk disk("16m");
  ASSERT_EQ(disk.error(), "") << "a file system for this test could not be mounted on '"
                              << disk.folder() << "': the test run needs root for it";
  Workload workload(static_cast<std::uint64_t>(GetParam()));
  const auto open = [&] {
    return stores::sqlite::open(
        {.path = disk.folder() + "/store.db", .checkpoint_pages = GetParam()});
  };
  auto store = open();
  ASSERT_TRUE(store) << store.error().text();
  for (int round = 0; round < 3; ++round) {
    disk.leave(300'000);
    Answer answer = Answer::done;
    for (int batch = 0; batch < 2000 && answer == Answer::done; ++batch)
      answer = workload.step(*store->writer);
    ASSERT_EQ(answer, Answer::refused) << "in round " << round;
    for (int batch = 0; batch < 10; ++batch)
      ASSERT_NE(workload.step(*store->writer), Answer::broken) << "in round " << round;
    EXPECT_THAT(workload.breaches(*store->writer), ::testing::IsEmpty()) << "while it is full";
    disk.make_room();
    for (int batch = 0; batch < 20; ++batch)
      ASSERT_EQ(workload.step(*store->writer), Answer::done) << "in round " << round;
    EXPECT_THAT(workload.breaches(*store->writer), ::testing::IsEmpty()) << "with room again";
  }
  *store = {};
  store = open();
  ASSERT_TRUE(store) << store.error().text();
  EXPECT_THAT(workload.breaches(*store->writer), ::testing::IsEmpty()) << "opened again";
}

// Checkpoints often, so that the file must grow; hardly ever, so that the log must.
INSTANTIATE_TEST_SUITE_P(CheckpointPages, FullDisk, ::testing::Values(20, 1000));

}  // namespace
}  // namespace holdfast::torture::full_disk_test
