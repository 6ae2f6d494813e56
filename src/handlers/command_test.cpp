#include "handlers/command.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/fifo_testing.hpp"
#include "io/loop.hpp"

namespace holdfast::handlers::command_test {
namespace {

using namespace std::chrono_literals;
using holdfast::testing::Fifo;
using ::testing::HasSubstr;
using ::testing::Not;

class FakeRun final : public ports::Run {
 public:
  explicit FakeRun(io::Loop& loop) : loop_(loop) {
    record.id = TaskId::parse("01912d68-783e-7a03-8467-5661c1243ad4").value();
    record.task.token = core::Token{42};
  }

  [[nodiscard]] const ports::TaskRecord& task() const noexcept override { return record; }
  [[nodiscard]] int number() const noexcept override { return 3; }
  [[nodiscard]] std::string_view input() const noexcept override { return file; }
  [[nodiscard]] bool begin() noexcept override { return begun = is_wanted; }
  [[nodiscard]] WallTime end() const noexcept override { return WallTime::max(); }
  [[nodiscard]] std::stop_token stop() const noexcept override { return source.get_token(); }
  bool heartbeat() noexcept override { return true; }
  void finish(core::Outcome given) noexcept override {
    EXPECT_FALSE(outcome.has_value());
    outcome = std::move(given);
    loop_.stop();
  }

  ports::TaskRecord record;
  std::string file;
  std::stop_source source;
  bool is_wanted = true;
  bool begun = false;
  std::optional<core::Outcome> outcome;

 private:
  io::Loop& loop_;
};

class CommandTest : public ::testing::Test {
 protected:
  // Runs one attempt to its end; `meanwhile` is done when it has started.
  core::Outcome run(CommandOptions options, const std::function<void()>& meanwhile = {}) {
    Command command(loop_, std::move(options));
    loop_.post([&] {
      command.start(run_);
      if (meanwhile) meanwhile();
    });
    loop_.run();
    EXPECT_EQ(run_.use_count(), 1) << "somebody still has the attempt";
    return run_->outcome.value();
  }

  core::Outcome shell(const std::string& script, const std::function<void()>& meanwhile = {}) {
    return run({.command = {"/bin/sh", "-c", script}}, meanwhile);
  }

  static Failure failure(core::Outcome outcome) {
    if (!std::holds_alternative<Failure>(outcome)) return {.message = "it did not fail"};
    return std::get<Failure>(std::move(outcome));
  }

  static std::string result(core::Outcome outcome) {
    if (!std::holds_alternative<core::Success>(outcome)) return "it did not succeed";
    return std::get<core::Success>(std::move(outcome)).result;
  }

  io::Loop loop_;
  std::shared_ptr<FakeRun> run_ = std::make_shared<FakeRun>(loop_);
};

TEST_F(CommandTest, gets_the_payload_and_gives_the_result) {
  run_->record.payload = "hello";
  EXPECT_EQ(result(run({.command = {"cat"}})), "hello");
  EXPECT_TRUE(run_->begun);
}

TEST_F(CommandTest, a_megabyte_of_any_bytes_goes_through) {
  std::string& payload = run_->record.payload;
  for (std::size_t n = 0; payload.size() < (1U << 20); ++n)
    payload += static_cast<char>(n * 7);
  const std::string given = payload;
  EXPECT_TRUE(result(run({.command = {"cat"}})) == given);
}

TEST_F(CommandTest, need_not_read_its_payload) {
  run_->record.payload = std::string(1U << 20, 'x');
  EXPECT_EQ(result(shell("exec <&-; echo done")), "done\n");
}

TEST_F(CommandTest, is_told_which_attempt_it_is) {
  EXPECT_EQ(result(shell("echo $HOLDFAST_TASK_ID $HOLDFAST_ATTEMPT $HOLDFAST_TOKEN "
                         "${HOLDFAST_INPUT-missing}.")),
            "01912d68-783e-7a03-8467-5661c1243ad4 3 42 .\n");
}

TEST_F(CommandTest, is_told_where_its_input_lies) {
  run_->file = "/tmp/a b";
  EXPECT_EQ(result(shell("echo \"$HOLDFAST_INPUT\"")), "/tmp/a b\n");
}

TEST_F(CommandTest, gets_the_trace_of_its_task) {
  run_->record.trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  EXPECT_EQ(result(shell("echo $TRACEPARENT")), run_->record.trace + "\n");
}

TEST_F(CommandTest, gets_no_trace_where_its_task_has_none) {
  ::setenv("TRACEPARENT", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", 1);
  EXPECT_EQ(result(run({.command = {"/bin/sh", "-c", "echo ${TRACEPARENT-none}"},
                        .pass = {"TRACEPARENT"}})),
            "none\n");
  ::unsetenv("TRACEPARENT");
}

TEST_F(CommandTest, does_not_get_the_secrets_of_our_environment) {
  ::setenv("DATABASE_PASSWORD", "s3cret", 1);
  ::setenv("SCANNER_KEY", "wanted", 1);
  const auto printed = result(run({.command = {"env"}, .pass = {"SCANNER_*"}}));
  EXPECT_THAT(printed, Not(HasSubstr("s3cret")));
  EXPECT_THAT(printed, HasSubstr("SCANNER_KEY=wanted\n"));
  EXPECT_THAT(printed, HasSubstr("PATH="));
  ::unsetenv("DATABASE_PASSWORD");
  ::unsetenv("SCANNER_KEY");
}

TEST_F(CommandTest, fails_with_its_exit_code_and_the_end_of_its_errors) {
  const auto failed = failure(shell("echo first >&2; echo out; echo 'no such user' >&2; exit 9"));
  EXPECT_EQ(failed, (Failure{.message = "first\nno such user", .exit_code = 9}));
}

TEST_F(CommandTest, keeps_only_the_end_of_long_errors) {
  const auto failed = failure(
      run({.command = {"/bin/sh", "-c", "seq 1 100000 >&2; exit 1"}, .kept_error_bytes = 14}));
  EXPECT_EQ(failed.message, "99999\n100000");
}

TEST_F(CommandTest, that_says_nothing_fails_with_its_exit_code) {
  EXPECT_EQ(failure(run({.command = {"false"}})),
            (Failure{.message = "exit code 1", .exit_code = 1}));
}

// T10
TEST_F(CommandTest, that_dies_of_a_signal_has_crashed) {
  const auto failed = failure(shell("echo 'bad pointer' >&2; kill -SEGV $$"));
  EXPECT_EQ(failed,
            (Failure{.message = "died of SIGSEGV: bad pointer", .kind = FailureKind::crash}));
}

TEST_F(CommandTest, that_prints_too_much_fails) {
  const auto failed = failure(run({.command = {"yes"}, .most_result_bytes = 1000}));
  EXPECT_EQ(failed.message, "printed more than 1000 bytes");
  EXPECT_EQ(failed.kind, FailureKind::error);
}

TEST_F(CommandTest, that_is_not_there_fails_and_is_named) {
  const auto failed = failure(run({.command = {"/nowhere/scan"}}));
  EXPECT_EQ(failed,
            (Failure{.message = "start program: /nowhere/scan: No such file or directory"}));
}

// T4
TEST_F(CommandTest, is_stopped_with_all_that_it_has_started) {
  Fifo fifo;
  const auto failed =
      failure(shell("(echo ready; exec sleep 1000) >" + fifo.path() + " & wait", [&] {
        EXPECT_EQ(fifo.first(), "ready\n");
        run_->source.request_stop();
      }));
  EXPECT_EQ(failed.message, "was stopped by SIGTERM");
  EXPECT_EQ(failed.kind, FailureKind::error);
  EXPECT_TRUE(fifo.ends());
}

TEST_F(CommandTest, is_killed_if_it_does_not_stop) {
  Fifo fifo;
  const auto failed =
      failure(run({.command = {"/bin/sh", "-c",
                               "trap '' TERM; exec >" + fifo.path() + "; echo ready; sleep 1000"},
                   .grace = 1ms},
                  [&] {
                    EXPECT_EQ(fifo.first(), "ready\n");
                    run_->source.request_stop();
                  }));
  EXPECT_EQ(failed.message, "was stopped by SIGKILL");
  EXPECT_TRUE(fifo.ends());
}

TEST_F(CommandTest, that_nobody_wants_any_more_is_not_started) {
  const holdfast::testing::TemporaryFolder folder;
  run_->is_wanted = false;
  const auto outcome = run({.command = {"touch", folder / "made"}});
  EXPECT_TRUE(std::holds_alternative<core::HandedBack>(outcome));
  EXPECT_FALSE(std::filesystem::exists(folder / "made"));
}

TEST_F(CommandTest, dies_with_its_handler) {
  Fifo fifo;
  {
    Command command(loop_, {.command = {"/bin/sh", "-c",
                                        "exec >" + fifo.path() + "; echo ready; exec sleep 1000"}});
    command.start(run_);
    EXPECT_EQ(fifo.first(), "ready\n");
  }
  EXPECT_EQ(run_.use_count(), 1);
  EXPECT_TRUE(fifo.ends());
}

TEST(AllowedEnvironment, passes_the_usual_and_what_is_named) {
  const std::vector<std::string> all{
      "PATH=/bin",    "HOME=/root", "LANG=C", "LC_ALL=C", "LC_TIME=C", "TZ=UTC",      "TMPDIR=/tmp",
      "AWS_SECRET=x", "APP_ONE=1",  "APP=0",  "APPLE=2",  "HOMEX=1",   "LD_PRELOAD=x"};
  EXPECT_THAT(allowed_environment(all, std::vector<std::string>{"APP_*", "APP"}),
              ::testing::ElementsAre("PATH=/bin", "HOME=/root", "LANG=C", "LC_ALL=C", "LC_TIME=C",
                                     "TZ=UTC", "TMPDIR=/tmp", "APP_ONE=1", "APP=0"));
}

TEST(AllowedEnvironment, never_passes_what_a_command_gets_from_us) {
  const std::vector<std::string> all{"PATH=/bin", "HOLDFAST_TASK_ID=x", "HOLDFAST_URL=y"};
  EXPECT_THAT(allowed_environment(all, std::vector<std::string>{"HOLDFAST_*"}),
              ::testing::ElementsAre("PATH=/bin", "HOLDFAST_URL=y"));
}

TEST(AllowedEnvironment, has_a_path_always) {
  EXPECT_THAT(allowed_environment({}, {}),
              ::testing::ElementsAre("PATH=/usr/local/bin:/usr/bin:/bin"));
}

}  // namespace
}  // namespace holdfast::handlers::command_test
