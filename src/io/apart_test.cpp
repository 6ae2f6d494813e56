#include "io/apart.hpp"

#include <csignal>
#include <cstdlib>

#include <gtest/gtest.h>
#include <unistd.h>

#include "io/resident_memory.hpp"

namespace holdfast::io::apart_test {
namespace {

using Numbers = std::vector<double>;

TEST(Apart, brings_numbers_back_from_another_process) {
  const auto numbers = run_apart([] { return Numbers{1.5, static_cast<double>(::getpid())}; });
  ASSERT_TRUE(numbers) << numbers.error().text();
  EXPECT_EQ(numbers->at(0), 1.5);
  EXPECT_NE(numbers->at(1), static_cast<double>(::getpid()));
}

TEST(Apart, brings_an_error_back) {
  const auto failed =
      run_apart([]() -> Result<Numbers> { return fail(ErrorCode::not_found, "look", "nothing"); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "look: nothing");
}

TEST(Apart, says_that_a_process_died) {
  const auto failed = run_apart([]() -> Result<Numbers> { std::_Exit(3); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "the process ended before it had a result");
}

TEST(Apart, ends_the_work_when_a_signal_comes_that_is_held) {
  const auto interrupted = [] {
    const HeldSignals held;
    const auto answer = run_apart(
        []() -> Result<Numbers> {
          ::kill(::getppid(), SIGTERM);
          while (true)
            ::pause();
        },
        &held);
    // That we come here at all is that it was held; afterwards it ends us as ever.
    if (answer || answer.error().code != ErrorCode::canceled) std::_Exit(1);
  };
  EXPECT_EXIT(interrupted(), ::testing::KilledBySignal(SIGTERM), "");
}

TEST(Apart, a_signal_that_is_ignored_stays_so) {
  const auto ignoring = [] {
    std::signal(SIGINT, SIG_IGN);
    const HeldSignals held;
    const auto answer = run_apart(
        [] {
          ::kill(::getppid(), SIGINT);
          return Numbers{7};
        },
        &held);
    std::_Exit(answer ? 7 : 1);
  };
  EXPECT_EXIT(ignoring(), ::testing::ExitedWithCode(7), "");
}

TEST(ResidentMemory, knows_the_most_that_was_held) {
  EXPECT_GT(resident_mb(), 1);
  EXPECT_GE(most_resident_mb(), resident_mb() * 0.9);
}

}  // namespace
}  // namespace holdfast::io::apart_test
