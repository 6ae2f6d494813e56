#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <holdfast/clock.hpp>

namespace holdfast::system_clock_test {
namespace {

TEST(SystemClock, does_not_sleep_for_a_time_already_reached) {
  EXPECT_TRUE(system_clock().sleep_until(system_clock().now(), {}));
}

TEST(SystemClock, a_stop_already_requested_wins) {
  std::stop_source source;
  source.request_stop();
  EXPECT_FALSE(system_clock().sleep_until(SteadyTime::max(), source.get_token()));
}

TEST(SystemClock, rough_time_is_never_ahead) {
  for (int i = 0; i < 1000; ++i) {
    const SteadyTime rough = system_clock().rough_now();
    EXPECT_LE(rough, system_clock().now());
    EXPECT_GT(rough, system_clock().now() - std::chrono::seconds(10));
  }
}

TEST(SystemRandom, a_child_process_goes_its_own_way) {
  static_cast<void>(system_random().next());  // so that there is a state to inherit
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::uint64_t number = system_random().next();
    _exit(write(ends[1], &number, sizeof number) == sizeof number ? 0 : 1);
  }
  const std::uint64_t ours = system_random().next();
  std::uint64_t theirs = 0;
  EXPECT_EQ(read(ends[0], &theirs, sizeof theirs), static_cast<ssize_t>(sizeof theirs));
  EXPECT_NE(ours, theirs);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  close(ends[0]);
  close(ends[1]);
}

TEST(SystemRandom, unit_stays_below_one) {
  for (int i = 0; i < 1000; ++i) {
    const double unit = system_random().unit();
    EXPECT_GE(unit, 0.0);
    EXPECT_LT(unit, 1.0);
  }
}

}  // namespace
}  // namespace holdfast::system_clock_test
