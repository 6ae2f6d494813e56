#include "io/signals.hpp"

#include <csignal>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "io/loop.hpp"

namespace holdfast::io::signals_test {
namespace {

// T3: a second signal forces the end.
TEST(Signals, are_heard_on_the_loop_and_counted) {
  Loop loop;
  std::vector<std::pair<int, int>> heard;
  const Signals signals(loop, [&](int signal, int count) {
    heard.emplace_back(signal, count);
    if (count == 1) ::raise(SIGINT);
    if (count == 2) loop.stop();
  });
  loop.post([] { ::raise(SIGTERM); });
  loop.run();
  EXPECT_EQ(heard, (std::vector<std::pair<int, int>>{{SIGTERM, 1}, {SIGINT, 2}}));
}

TEST(Signals, a_hangup_is_heard_apart_and_ends_nothing) {
  Loop loop;
  int hung_up = 0;
  const Signals signals(
      loop,
      [&](int signal, int count) {
        EXPECT_EQ(std::pair(signal, count), std::pair(SIGTERM, 1));
        loop.stop();
      },
      [&] {
        ++hung_up;
        ::raise(SIGTERM);
      });
  loop.post([] { ::raise(SIGHUP); });
  loop.run();
  EXPECT_EQ(hung_up, 1);
}

volatile std::sig_atomic_t own_handler_ran = 0;

TEST(Signals, give_back_what_was_there_before) {
  const auto before = ::signal(SIGTERM, [](int) { own_handler_ran = 1; });
  {
    Loop loop;
    const Signals signals(loop, [](int, int) {});
  }
  ::raise(SIGTERM);
  EXPECT_EQ(own_handler_ran, 1);
  ::signal(SIGTERM, before);
}

// T3: whoever sends it once more does not turn a clean end into a death by signal.
TEST(Signals, do_not_kill_a_process_that_is_ending_because_of_one) {
  const auto hear_one_and_raise_more = [] {
    {
      Loop loop;
      const Signals signals(
          loop, [&](int, int) { loop.stop(); }, nullptr, Signals::Afterwards::ignored_once_heard);
      loop.post([] { ::raise(SIGTERM); });
      loop.run();
    }
    ::raise(SIGTERM);
    ::raise(SIGINT);
    std::_Exit(7);
  };
  EXPECT_EXIT(hear_one_and_raise_more(), ::testing::ExitedWithCode(7), "");
}

TEST(Signals, are_as_before_if_none_was_heard) {
  const auto before = ::signal(SIGTERM, SIG_DFL);
  {
    Loop loop;
    const Signals signals(loop, [](int, int) {}, nullptr, Signals::Afterwards::ignored_once_heard);
  }
  EXPECT_EQ(::signal(SIGTERM, before), SIG_DFL);
}

// A hangup ends nothing, so whoever heard only that one may still be killed.
TEST(Signals, are_as_before_if_only_a_hangup_was_heard) {
  const auto before = ::signal(SIGTERM, SIG_DFL);
  {
    Loop loop;
    const Signals signals(
        loop, [](int, int) {}, [&] { loop.stop(); }, Signals::Afterwards::ignored_once_heard);
    loop.post([] { ::raise(SIGHUP); });
    loop.run();
  }
  EXPECT_EQ(::signal(SIGTERM, before), SIG_DFL);
}

TEST(Signals, a_hangup_does_not_kill_a_process_that_is_ending_either) {
  const auto hear_one_and_hang_up = [] {
    {
      Loop loop;
      const Signals signals(
          loop, [&](int, int) { loop.stop(); }, [] {}, Signals::Afterwards::ignored_once_heard);
      loop.post([] { ::raise(SIGTERM); });
      loop.run();
    }
    ::raise(SIGHUP);
    std::_Exit(7);
  };
  EXPECT_EXIT(hear_one_and_hang_up(), ::testing::ExitedWithCode(7), "");
}

// A server out of files is what an operator stops.
TEST(Signals, are_heard_without_a_file_to_spare) {
  const auto hear_one_without_files = [] {
    const rlimit few{.rlim_cur = 100, .rlim_max = 100};
    ::setrlimit(RLIMIT_NOFILE, &few);
    Loop loop;
    const Signals signals(
        loop, [&](int, int) { loop.stop(); }, [] {}, Signals::Afterwards::ignored_once_heard);
    loop.post([] {
      while (::dup(STDERR_FILENO) >= 0) {
      }
      ::raise(SIGTERM);
    });
    loop.run();
    std::_Exit(7);
  };
  EXPECT_EXIT(hear_one_without_files(), ::testing::ExitedWithCode(7), "");
}

TEST(Signals, may_end_while_they_are_heard) {
  Loop loop;
  std::optional<Signals> signals;
  signals.emplace(loop, [&](int, int) {
    signals.reset();
    loop.stop();
  });
  loop.post([] { ::raise(SIGTERM); });
  loop.run();
  EXPECT_FALSE(signals.has_value());
}

}  // namespace
}  // namespace holdfast::io::signals_test
