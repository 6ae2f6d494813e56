#include "io/child_process.hpp"

#include <array>
#include <csignal>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/fifo_testing.hpp"
#include "io/loop.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::io::child_process_test {
namespace {

using namespace std::chrono_literals;
using testing::Fifo;
using ::testing::HasSubstr;

constexpr const char* kPath = "PATH=/usr/local/bin:/usr/bin:/bin";

ChildCommand program(std::vector<std::string> arguments) {
  return {.arguments = std::move(arguments), .environment = {kPath}};
}

ChildCommand shell(const std::string& script) {
  return program({"/bin/sh", "-c", script});
}

// Says in the fifo that it is ready, and then does not end.
ChildCommand sleeper(const Fifo& fifo) {
  return shell("exec >" + fifo.path() + "; echo ready; exec sleep 1000");
}

// To its end; what `meanwhile` does to it is done from the loop.
ChildEnd run(ChildCommand command, std::function<void(ChildProcess&)> meanwhile = {}) {
  Loop loop;
  ChildEnd end;
  ChildProcess child;
  loop.post([&] {
    auto started = ChildProcess::start(loop, std::move(command), [&](ChildEnd given) {
      end = std::move(given);
      loop.stop();
    });
    ASSERT_TRUE(started.has_value()) << started.error().text();
    child = *std::move(started);
    if (meanwhile) meanwhile(child);
  });
  loop.run();
  EXPECT_EQ(child.pid(), 0);
  return end;
}

Error start_error(ChildCommand command) {
  Loop loop;
  const auto started =
      ChildProcess::start(loop, std::move(command), [](const ChildEnd&) { FAIL(); });
  EXPECT_FALSE(started.has_value());
  return started ? Error{} : started.error();
}

TEST(ChildProcess, tells_exit_code_output_and_error) {
  const auto end = run(shell("echo out; echo err >&2; exit 3"));
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_EQ(end.signal, std::nullopt);
  EXPECT_EQ(end.output, "out\n");
  EXPECT_EQ(end.error_tail, "err\n");
  EXPECT_FALSE(end.error_was_longer || end.output_was_too_long || end.was_stopped);
}

TEST(ChildProcess, tells_the_signal) {
  const auto end = run(shell("kill -SEGV $$"));
  EXPECT_EQ(end.signal, SIGSEGV);
  EXPECT_EQ(end.exit_code, std::nullopt);
  EXPECT_FALSE(end.was_stopped);
}

TEST(ChildProcess, feeds_a_megabyte_and_reads_it_back) {
  auto command = program({"cat"});
  for (std::size_t n = 0; command.input.size() < (1U << 20); ++n)
    command.input += static_cast<char>(n * 31);  // all bytes, zero included
  const std::string given = command.input;
  const auto end = run(std::move(command));
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_TRUE(end.output == given);
}

// N5: it gets all of its input even if we die right after its start. Nothing here runs the loop.
TEST(ChildProcess, has_its_whole_input_when_it_starts) {
  for (const std::size_t size : {0UL, 10UL, 4096UL, 65536UL, 65537UL, 3UL << 20}) {
    const testing::TemporaryFolder folder;
    const std::string told = folder / "told";
    Loop loop;
    auto command = shell("wc -c >" + told + ".new && mv " + told + ".new " + told);
    command.input = std::string(size, 'x');
    const auto child = ChildProcess::start(loop, std::move(command), [](const ChildEnd&) {});
    ASSERT_TRUE(child.has_value());
    while (::access(told.c_str(), F_OK) != 0)
      std::this_thread::yield();
    std::size_t seen = 1;
    std::ifstream(told) >> seen;
    EXPECT_EQ(seen, size);
  }
}

// Some programs take nothing else: event loops refuse files, and who opens /dev/stdin once more
// begins a file anew.
TEST(ChildProcess, has_a_pipe_as_its_input_up_to_a_mebibyte) {
  for (const std::size_t size :
       {std::size_t{1000}, (std::size_t{1} << 16U) + 1, std::size_t{1} << 20U}) {
    auto command = shell("[ -p /dev/stdin ] && cat | wc -c");
    command.input = std::string(size, 'x');
    EXPECT_EQ(run(std::move(command)).output, std::to_string(size) + "\n");
  }
}

// A server may be started with its standard input closed: what it opens next then has that number.
TEST(ChildProcess, has_its_input_if_we_have_closed_ours) {
  const auto count = [](std::size_t size) {
    Loop loop;
    const auto timer = loop.after(1h, [] {});  // so that the loop has its files, and 0 stays free
    ::close(STDIN_FILENO);
    auto command = program({"wc", "-c"});
    command.input = std::string(size, 'x');
    std::string output;
    const auto child = ChildProcess::start(loop, std::move(command), [&](const ChildEnd& end) {
      output = end.output;
      loop.stop();
    });
    if (child) loop.run();
    std::_Exit(output == std::to_string(size) + "\n" ? 0 : 1);
  };
  EXPECT_EXIT(count(10), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(count(1U << 20), ::testing::ExitedWithCode(0), "");
}

TEST(ChildProcess, that_does_not_read_its_input_ends_in_peace) {
  auto command = program({"true"});
  command.input = std::string(1U << 20, 'x');
  EXPECT_EQ(run(std::move(command)).exit_code, 0);
}

TEST(ChildProcess, that_closes_its_input_early_runs_on) {
  auto command = shell("exec <&-; echo went on");
  command.input = std::string(1U << 20, 'x');
  const auto end = run(std::move(command));
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.output, "went on\n");
}

TEST(ChildProcess, that_prints_too_much_is_ended) {
  auto command = program({"yes"});
  command.most_output_bytes = 1000;
  const auto end = run(std::move(command));
  EXPECT_TRUE(end.output_was_too_long);
  EXPECT_FALSE(end.was_stopped);
  EXPECT_EQ(end.output.size(), 1000U);
}

TEST(ChildProcess, may_print_just_as_much_as_is_allowed) {
  auto command = program({"printf", "%s", "12345"});
  command.most_output_bytes = 5;
  const auto end = run(std::move(command));
  EXPECT_FALSE(end.output_was_too_long);
  EXPECT_EQ(end.output, "12345");
}

TEST(ChildProcess, keeps_the_end_of_its_errors) {
  auto command = shell("seq 1 100000 >&2; printf END >&2");
  command.kept_error_bytes = 20;
  const auto end = run(std::move(command));
  EXPECT_TRUE(end.error_was_longer);
  EXPECT_EQ(end.error_tail, "998\n99999\n100000\nEND");
}

TEST(ChildProcess, keeps_characters_whole) {
  auto command = shell("printf 'a\\303\\244bc' >&2");  // "aäbc", and three bytes of it cut ä
  command.kept_error_bytes = 3;
  EXPECT_EQ(run(std::move(command)).error_tail, "bc");
}

TEST(ChildProcess, gets_only_the_environment_it_is_given) {
  ::setenv("HOLDFAST_TEST_SECRET", "s3cret", 1);
  auto command = program({"env"});
  command.environment.emplace_back("ONE=1");
  EXPECT_EQ(run(std::move(command)).output, std::string(kPath) + "\nONE=1\n");
  ::unsetenv("HOLDFAST_TEST_SECRET");
}

TEST(ChildProcess, gets_no_descriptor_of_ours) {
  const UniqueFd open(::open("/dev/null", O_RDONLY));  // without O_CLOEXEC
  const auto end =
      run(shell("test -e /proc/self/fd/" + std::to_string(open.get()) + " && echo open; exit 0"));
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.output, "");
}

TEST(ChildProcess, has_default_signals_whatever_ours_are) {
  sigset_t term;
  sigset_t before;
  ::sigemptyset(&term);
  ::sigaddset(&term, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &term, &before);
  const auto pipe_before = ::signal(SIGPIPE, SIG_IGN);
  // The two that the C library keeps for itself: its posix_spawn has its children ignore them.
  const std::array<unsigned long, 4> ignore = {1};
  std::array<std::array<unsigned long, 4>, 2> kept_before{};
  for (const int kept : {32, 33})
    ::syscall(SYS_rt_sigaction, kept, &ignore, &kept_before.at(kept - 32), 8);
  const auto end = run(program({"grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"}));
  for (const int kept : {32, 33})
    ::syscall(SYS_rt_sigaction, kept, &kept_before.at(kept - 32), nullptr, 8);
  ::signal(SIGPIPE, pipe_before);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(end.output, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST(ChildProcess, leads_a_group_of_its_own) {
  const auto end = run(program({"cut", "-d", " ", "-f", "1,5", "/proc/self/stat"}));
  const auto space = end.output.find(' ');
  ASSERT_NE(space, std::string::npos);
  EXPECT_EQ(end.output.substr(0, space) + "\n", end.output.substr(space + 1));
}

TEST(ChildProcess, runs_in_the_folder_it_is_given) {
  auto command = program({"pwd", "-P"});
  command.folder = "/proc";
  EXPECT_EQ(run(std::move(command)).output, "/proc\n");
}

TEST(ChildProcess, is_killed_with_its_group) {
  Fifo fifo;
  const auto end =
      run(shell("(echo ready; exec sleep 1000) >" + fifo.path() + " & wait"), [&](auto& child) {
        EXPECT_EQ(fifo.first(), "ready\n");
        child.kill();
      });
  EXPECT_EQ(end.signal, SIGKILL);
  EXPECT_TRUE(end.was_stopped);
  EXPECT_TRUE(fifo.ends());
}

TEST(ChildProcess, may_clean_up_when_it_is_terminated) {
  Fifo fifo;
  const auto end = run(
      shell("trap 'echo cleaned; exit 7' TERM; echo ready >" + fifo.path() + "; sleep 1000 & wait"),
      [&](auto& child) {
        EXPECT_EQ(fifo.first(), "ready\n");
        child.terminate();
        child.terminate();
      });
  EXPECT_EQ(end.exit_code, 7);
  EXPECT_EQ(end.output, "cleaned\n");
  EXPECT_TRUE(end.was_stopped);
}

TEST(ChildProcess, that_ignores_a_termination_is_killed_after_the_grace) {
  Fifo fifo;
  auto command =
      shell("trap '' TERM; (echo ready; exec sleep 1000) >" + fifo.path() + " & wait; wait");
  command.grace = 1ms;
  const auto end = run(std::move(command), [&](auto& child) {
    EXPECT_EQ(fifo.first(), "ready\n");
    child.terminate();
  });
  EXPECT_EQ(end.signal, SIGKILL);
  EXPECT_TRUE(fifo.ends());
}

// Whoever terminates it again and again does not put off its end.
TEST(ChildProcess, has_one_grace_however_often_it_is_terminated) {
  constexpr int kMost = 500;
  Fifo fifo;
  Loop loop;
  ChildProcess child;
  std::unique_ptr<ports::Loop::Timer> timer;
  int terminated = 0;
  std::function<void()> terminate = [&] {
    child.terminate();
    if (++terminated < kMost) timer = loop.after(5ms, [&] { loop.post([&] { terminate(); }); });
  };
  auto command =
      shell("trap '' TERM; (echo ready; exec sleep 1000) >" + fifo.path() + " & wait; wait; wait");
  command.grace = 50ms;
  loop.post([&] {
    child = ChildProcess::start(loop, std::move(command), [&](const ChildEnd& end) {
              EXPECT_EQ(end.signal, SIGKILL);
              loop.stop();
            }).value();
    EXPECT_EQ(fifo.first(), "ready\n");
    terminate();
  });
  loop.run();
  EXPECT_LT(terminated, kMost);
}

TEST(ChildProcess, leaves_nothing_of_its_group_behind) {
  Fifo fifo;
  auto command = shell("exec 9>" + fifo.path() + "; sleep 1000 & echo started");
  command.drain = 1ms;
  const auto end = run(std::move(command));
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.output, "started\n");
  EXPECT_TRUE(fifo.ends());
}

// The grandchild is in a session of its own, and has our pipes: it gets away, but holds up nobody.
TEST(ChildProcess, is_not_held_up_by_a_grandchild_that_got_away) {
  Fifo fifo;
  const testing::TemporaryFolder folder;
  const std::string gate = folder / "gate";
  ASSERT_EQ(::mkfifo(gate.c_str(), 0600), 0);
  UniqueFd hold(::open(gate.c_str(), O_RDWR | O_CLOEXEC));
  auto command = shell("setsid sh -c 'echo ready >" + fifo.path() + "; read line <" + gate +
                       "' & read ready <" + gate + "; exit 4");
  command.drain = 1ms;
  const auto end = run(std::move(command), [&](auto&) {
    EXPECT_EQ(fifo.first(), "ready\n");
    ASSERT_EQ(::write(hold.get(), "1\n", 2), 2);
    ASSERT_EQ(::write(hold.get(), "2\n", 2), 2);
  });
  EXPECT_EQ(end.exit_code, 4);
}

TEST(ChildProcess, is_killed_when_nobody_wants_it_any_more) {
  Fifo fifo;
  Loop loop;
  loop.post([&] {
    const auto child = ChildProcess::start(loop, sleeper(fifo), [](const ChildEnd&) { FAIL(); });
    EXPECT_TRUE(child.has_value());
    EXPECT_EQ(fifo.first(), "ready\n");
  });
  loop.post([&] { loop.stop(); });
  loop.run();
  EXPECT_TRUE(fifo.ends());
}

TEST(ChildProcess, dies_with_a_loop_that_is_destroyed) {
  Fifo fifo;
  int pid = 0;
  {
    Loop loop;
    const auto child = ChildProcess::start(loop, sleeper(fifo), [](const ChildEnd&) { FAIL(); });
    ASSERT_TRUE(child.has_value());
    EXPECT_EQ(fifo.first(), "ready\n");
    pid = child->pid();
  }
  EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), -1);  // no such child: it is reaped
  EXPECT_TRUE(fifo.ends());
}

TEST(ChildProcess, dies_with_a_worker_that_is_killed) {
  Fifo fifo;
  const pid_t worker = ::fork();
  ASSERT_GE(worker, 0);
  if (worker == 0) {
    Loop loop;
    const auto child = ChildProcess::start(loop, sleeper(fifo), [](const ChildEnd&) {});
    loop.run();
    ::_exit(1);
  }
  EXPECT_EQ(fifo.first(), "ready\n");
  ::kill(worker, SIGKILL);
  ::waitpid(worker, nullptr, 0);
  EXPECT_TRUE(fifo.ends());
}

TEST(ChildProcess, names_a_program_that_is_not_there) {
  const auto by_path = start_error(program({"/nowhere/scan"}));
  EXPECT_EQ(by_path.code, ErrorCode::not_found);
  EXPECT_EQ(by_path.text(), "start program: /nowhere/scan: No such file or directory");
  EXPECT_EQ(start_error(program({"holdfast-has-no-such"})).text(),
            "start program: holdfast-has-no-such: No such file or directory");
}

TEST(ChildProcess, names_a_program_that_may_not_be_executed) {
  const testing::TemporaryFolder folder;
  const std::string file = folder / "scan";
  std::ofstream(file) << "#!/bin/sh\n";
  EXPECT_EQ(start_error(program({file})).text(), "start program: " + file + ": Permission denied");
  auto command = program({"scan"});
  command.environment = {"PATH=" + (folder / "")};
  EXPECT_EQ(start_error(std::move(command)).text(), "start program: scan: Permission denied");
}

TEST(ChildProcess, that_did_not_start_leaves_no_zombie) {
  start_error(program({"/nowhere/scan"}));
  errno = 0;
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(ChildProcess, names_a_folder_that_is_not_there) {
  auto command = program({"true"});
  command.folder = "/nowhere";
  EXPECT_EQ(start_error(std::move(command)).text(),
            "start program: true: in /nowhere: No such file or directory");
}

TEST(ChildProcess, is_looked_up_only_in_the_path_it_is_given) {
  auto command = program({"true"});
  command.environment = {};
  EXPECT_EQ(start_error(std::move(command)).code, ErrorCode::not_found);
}

TEST(ChildProcess, refuses_what_cannot_be_a_command) {
  EXPECT_EQ(start_error(program({})).code, ErrorCode::invalid_argument);
  EXPECT_EQ(start_error(program({""})).code, ErrorCode::invalid_argument);
  EXPECT_THAT(start_error(program({"true", std::string("a\0b", 3)})).text(),
              HasSubstr("zero byte"));
}

TEST(ChildProcess, many_run_at_once) {
  constexpr int kChildren = 50;
  Loop loop;
  std::vector<ChildProcess> children;
  int left = kChildren;
  loop.post([&] {
    for (int n = 0; n < kChildren; ++n) {
      auto command = program({"cat"});
      command.input = std::to_string(n);
      children.push_back(ChildProcess::start(loop, std::move(command), [&, n](const ChildEnd& end) {
                           EXPECT_EQ(end.output, std::to_string(n));
                           if (--left == 0) loop.stop();
                         }).value());
    }
  });
  loop.run();
  EXPECT_EQ(left, 0);
}

}  // namespace
}  // namespace holdfast::io::child_process_test
