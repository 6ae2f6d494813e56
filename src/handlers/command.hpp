#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

#include "ports/handler.hpp"

namespace holdfast::io {
class Loop;
}

namespace holdfast::handlers {

struct CommandOptions {
  std::vector<std::string> command = {};  // the program and its arguments; no shell
  std::string folder = {};                // to run in; empty: ours
  // Variables of our environment that it gets beside PATH, HOME, LANG, LC_*, TZ and TMPDIR. A name
  // that ends in * stands for all that begin so.
  std::vector<std::string> pass = {};
  std::size_t most_result_bytes = std::size_t{1} << 20;
  std::size_t kept_error_bytes = 4000;       // so that a store keeps it whole: kKeptMessageBytes
  Duration grace = std::chrono::seconds(5);  // between SIGTERM and SIGKILL
};

// Runs a program for each attempt.
//
// It gets the payload as its standard input, and HOLDFAST_TASK_ID, HOLDFAST_ATTEMPT, HOLDFAST_TOKEN
// and HOLDFAST_INPUT (the path of the task's input file; empty: there is none), and TRACEPARENT if
// the task has a trace, in an environment that has nothing else of ours but what is allowed. Exit
// code 0 is success, and what it printed is the result. Any other is a failure whose message is the
// end of its standard error; what codes mean by themselves is said by command_rules.hpp. Death by a
// signal is a crash. A stop request ends it with all its group: first SIGTERM, SIGKILL after the
// grace.
//
// Threads: the loop's. Destroyed before the loop; that kills what still runs.
class Command final : public ports::Handler {
 public:
  // Reads the environment: at start, before other threads may change it.
  Command(io::Loop& loop, CommandOptions options);
  ~Command() override;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  void start(std::shared_ptr<ports::Run> run) noexcept override;

 private:
  class Running;

  void run(const std::shared_ptr<ports::Run>& attempt);

  io::Loop& loop_;
  const CommandOptions options_;
  const std::vector<std::string> environment_;
  std::unordered_map<const ports::Run*, std::shared_ptr<Running>> running_;
};

// Of `all` ("NAME=value"), what a command may get: see CommandOptions::pass. Never a variable that
// the command gets from us. Without a PATH, that of the system: it is where programs are looked up.
[[nodiscard]] std::vector<std::string> allowed_environment(std::span<const std::string> all,
                                                           std::span<const std::string> pass);

}  // namespace holdfast::handlers
