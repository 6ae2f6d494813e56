#include <gtest/gtest.h>

#include "stores/sqlite/open.hpp"
#include "torture/forgetful_vfs.hpp"
#include "torture/workload.hpp"

// A disk that runs full, or fails, at each step it could.
namespace holdfast::torture::failing_disk_test {
namespace {

using Answer = Workload::Answer;
using Keeps = ForgetfulDisk::Keeps;

class FailingDisk : public ::testing::Test {
 protected:
  static constexpr int kBatches = 12;

  // A store in use, on a disk where all is well so far.
  void begin(std::uint64_t seed) {
    workload_.emplace(seed);
    vfs_.emplace();
    open();
    for (int batch = 0; batch < 4; ++batch)
      ASSERT_EQ(workload_->step(*store_.writer), Answer::done);
  }

  void open() {
    auto opened = stores::sqlite::open(
        {.path = vfs_->folder() + "/store.db", .checkpoint_pages = 20, .vfs = vfs_->name()});
    ASSERT_TRUE(opened) << opened.error().text();
    store_ = std::move(*opened);
  }

  // Until something is not answered as done.
  Answer work() {
    for (int batch = 0; batch < kBatches; ++batch) {
      const Answer answer = workload_->step(*store_.writer);
      if (answer != Answer::done) return answer;
    }
    return Answer::done;
  }

  void restart(Keeps keeps, std::uint64_t seed) {
    store_ = {};
    SeededRandom random(seed);
    vfs_->restart(keeps, random);
    open();
  }

  void expect_kept_promises(const std::string& when) {
    for (const std::string& breach : workload_->breaches(*store_.writer))
      ADD_FAILURE() << when << ": " << breach;
  }

  std::optional<Workload> workload_;
  std::optional<ForgetfulVfs> vfs_;
  ports::OpenStore store_;  // goes before what it stands on
};

TEST_F(FailingDisk, that_is_full_refuses_and_works_again_when_there_is_room) {  // T10
  int refused = 0;
  for (std::uint64_t step = 1; step <= 60; step += 2) {
    begin(step);
    vfs_->plan({.full_from = step});
    const Answer answer = work();
    ASSERT_NE(answer, Answer::broken) << "full from step " << step;
    if (answer == Answer::refused) ++refused;
    expect_kept_promises("while full from step " + std::to_string(step));
    vfs_->plan({});
    ASSERT_EQ(work(), Answer::done) << "there is room again, after step " << step;
    expect_kept_promises("with room again, after step " + std::to_string(step));
  }
  EXPECT_GT(refused, 20);
}

// What was refused for lack of room must not come to life later.
TEST_F(FailingDisk, that_was_full_when_the_power_went_keeps_exactly_what_was_answered) {
  for (std::uint64_t step = 1; step <= 60; step += 2) {
    begin(step);
    vfs_->plan({.full_from = step});
    ASSERT_NE(work(), Answer::broken) << "full from step " << step;
    restart(static_cast<Keeps>(step % 3), step);
    expect_kept_promises("full from step " + std::to_string(step) + ", then no power");
  }
}

TEST_F(FailingDisk, that_cannot_sync_never_hears_of_a_success_again) {  // a failed fsync is final
  int broken = 0;
  for (std::uint64_t step = 1; step <= 60; step += 2) {
    begin(step);
    vfs_->plan({.fail_sync_from = step});
    const Answer answer = work();
    if (!vfs_->has_struck()) continue;
    ++broken;
    // A checkpoint that fails comes after the answer; the next batch is refused then.
    ASSERT_EQ(answer, Answer::broken) << "no sync from step " << step;
    for (int batch = 0; batch < 5; ++batch)
      ASSERT_FALSE(ports::ask(*store_.writer, ports::Configure{.queue = "q"}));
    restart(static_cast<Keeps>(step % 3), step);
    expect_kept_promises("no sync from step " + std::to_string(step));
  }
  EXPECT_GT(broken, 20);
}

TEST_F(FailingDisk, that_cannot_write_loses_nothing_that_was_answered) {
  int broken = 0;
  for (std::uint64_t step = 1; step <= 60; step += 2) {
    begin(step);
    vfs_->plan({.fail_write_from = step});
    const Answer answer = work();
    if (!vfs_->has_struck()) continue;
    ++broken;
    ASSERT_EQ(answer, Answer::broken) << "no write from step " << step;
    restart(static_cast<Keeps>(step % 3), step);
    expect_kept_promises("no write from step " + std::to_string(step));
  }
  EXPECT_GT(broken, 20);
}

}  // namespace
}  // namespace holdfast::torture::failing_disk_test
