#include "io/resident_memory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/apart.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::io::resident_memory_test {
namespace {

TEST(ResidentMemory, grows_by_what_is_touched) {
  const double before = resident_mb();
  const std::vector<char> touched(20'000'000, 'x');
  EXPECT_GE(resident_mb(), before + 19) << touched.back();
  EXPECT_GE(most_resident_mb(), before + 19);
}

// A file of 64 MB, of which the parent touches all and its child a half.
TEST(FilePages, what_the_parent_has_touched_counts_once) {
  constexpr std::size_t kBytes = 64'000'000;
  const testing::TemporaryFolder folder;
  const std::string path = folder / "file";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(file, 0);
  ASSERT_EQ(::ftruncate(file, kBytes), 0);
  void* const place = ::mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, file, 0);
  ASSERT_NE(place, MAP_FAILED);
  const auto touch = [&](std::size_t bytes) {
    double sum = 0;
    for (std::size_t at = 0; at < bytes; at += 4096)
      sum += static_cast<const volatile char*>(place)[at];
    return sum;
  };
  (void)touch(kBytes);
  const FilePages parents = FilePages::of_this_process();
  const auto told = run_apart([&]() -> Result<std::vector<double>> {
    const double before = parents.with_ours(resident_mb());
    const double held = resident_mb();
    (void)touch(kBytes / 2);
    return std::vector{before, held, parents.with_ours(resident_mb()), resident_mb()};
  });
  ::munmap(place, kBytes);
  ::close(file);
  ASSERT_TRUE(told) << told.error().text();
  EXPECT_GE(told->at(0), told->at(1) + 60) << "the file is missing in the child";
  EXPECT_GE(told->at(3), told->at(1) + 30) << "until it touches it";
  EXPECT_NEAR(told->at(2), told->at(0), 8) << "which is nothing new";
}

}  // namespace
}  // namespace holdfast::io::resident_memory_test
