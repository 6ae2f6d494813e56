#include "stores/sqlite/owner_lock.hpp"

#include <csignal>
#include <fstream>
#include <functional>
#include <utility>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <holdfast/testing/fake_clock.hpp>

#include "support/temporary_folder.hpp"

namespace holdfast::stores::sqlite::owner_lock_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Something happens when somebody waits.
class EventfulClock final : public Clock {
 public:
  explicit EventfulClock(std::function<void(int nth)> on_wait = [](int) {})
      : on_wait_(std::move(on_wait)) {}

  SteadyTime now() const noexcept override { return clock_.now(); }
  WallTime wall_now() const noexcept override { return clock_.wall_now(); }
  bool sleep_until(SteadyTime until, std::stop_token stop) override {
    on_wait_(++waits);
    return clock_.sleep_until(until, std::move(stop));
  }

  int waits = 0;

 private:
  holdfast::testing::FakeClock clock_;
  std::function<void(int nth)> on_wait_;
};

// A process that has ended.
pid_t ended_process() {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  ::waitpid(pid, nullptr, 0);
  return pid;
}

class OwnerLockTest : public ::testing::Test {
 protected:
  // The lock as another process has it: by a description of its own, with this owner in the file.
  void hold(pid_t owner) {
    holder_ = ::open((path_ + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_EQ(::flock(holder_, LOCK_EX | LOCK_NB), 0);
    const std::string text = owner == 0 ? "" : std::to_string(owner) + " http://127.0.0.1:1\n";
    ASSERT_EQ(::ftruncate(holder_, 0), 0);
    ASSERT_EQ(::pwrite(holder_, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  }
  void release() { ::close(std::exchange(holder_, -1)); }
  void TearDown() override {
    if (holder_ >= 0) release();
  }

  const holdfast::testing::TemporaryFolder folder_;
  const std::string path_ = folder_ / "tasks.db";
  int holder_ = -1;
};

// N5: a server that is started again at once after kill -9 is not refused because a child of the
// killed one, on its way from fork to exec, still has the lock.
TEST_F(OwnerLockTest, waits_for_a_lock_that_outlives_its_owner) {
  hold(ended_process());
  EventfulClock clock([this](int nth) {
    if (nth == 3) release();
  });
  const auto lock = OwnerLock::take(path_, "http://127.0.0.1:2", clock);
  ASSERT_TRUE(lock) << lock.error().text();
  EXPECT_EQ(clock.waits, 3);
  EXPECT_EQ(OwnerLock::owner_of(path_)->pid, ::getpid());
  EXPECT_EQ(OwnerLock::owner_of(path_)->address, "http://127.0.0.1:2");
}

TEST_F(OwnerLockTest, waits_so_for_looking_only) {
  hold(ended_process());
  EventfulClock clock([this](int) { release(); });
  const auto lock = OwnerLock::share(path_, clock);
  ASSERT_TRUE(lock) << lock.error().text();
  EXPECT_EQ(clock.waits, 1);
}

// Its owner has just locked the file and not yet written its name, or is just about to release it.
TEST_F(OwnerLockTest, waits_while_no_owner_is_named) {
  hold(0);
  EventfulClock clock([this](int) { release(); });
  EXPECT_TRUE(OwnerLock::take(path_, "", clock));
}

// What kill(pid, 0) finds is there, but its files are closed.
TEST_F(OwnerLockTest, waits_for_the_lock_of_a_zombie) {
  const pid_t zombie = ::fork();
  if (zombie == 0) {
    ::prctl(PR_SET_NAME, "a) R 1 (b");  // a name may look like the status behind it
    ::_exit(0);
  }
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(zombie), &ended, WEXITED | WNOWAIT), 0);
  hold(zombie);
  EventfulClock clock([this](int) { release(); });
  EXPECT_TRUE(OwnerLock::take(path_, "", clock));
  ::waitpid(zombie, nullptr, 0);
}

TEST_F(OwnerLockTest, refuses_at_once_while_its_owner_is_running) {
  hold(::getppid());
  EventfulClock clock;
  const auto taken = OwnerLock::take(path_, "", clock);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::conflict);
  EXPECT_THAT(taken.error().message,
              StartsWith("is in use by process " + std::to_string(::getppid()) +
                         " (http://127.0.0.1:1): "));
  EXPECT_FALSE(OwnerLock::share(path_, clock));
  EXPECT_EQ(clock.waits, 0);
}

// The owner may be another user's: kill() finds it, but may not signal it.
TEST_F(OwnerLockTest, refuses_at_once_while_an_owner_that_it_may_not_signal_is_running) {
  hold(1);
  const auto try_as_nobody = [this] {
    // Root may signal whom it likes. The files remain root's.
    if (::geteuid() == 0 && ::setresuid(65534, 65534, 0) != 0) std::_Exit(2);
    if (::getuid() == 65534) ::setfsuid(0);
    EventfulClock clock;
    const auto taken = OwnerLock::take(path_, "", clock);
    const bool refused = !taken && taken.error().code == ErrorCode::conflict;
    std::_Exit(refused && clock.waits == 0 ? 0 : 1);
  };
  EXPECT_EXIT(try_as_nobody(), ::testing::ExitedWithCode(0), "");
}

TEST_F(OwnerLockTest, gives_up_after_5_s_and_does_not_blame_who_is_gone) {
  const pid_t owner = ended_process();
  hold(owner);
  EventfulClock clock;
  const SteadyTime began = clock.now();
  const auto taken = OwnerLock::take(path_, "", clock);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::conflict);
  EXPECT_THAT(taken.error().message,
              StartsWith("is locked, but not by its last owner: process " + std::to_string(owner)));
  EXPECT_THAT(taken.error().message, HasSubstr("fuser " + path_ + ".lock"));
  EXPECT_EQ(clock.now() - began, std::chrono::seconds(5));
  // Who was refused has not changed what the file says.
  EXPECT_EQ(OwnerLock::owner_of(path_)->pid, owner);
}

}  // namespace
}  // namespace holdfast::stores::sqlite::owner_lock_test
