#pragma once

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace holdfast::testing {

// A program of Python that is talked to by lines. It ends when this does.
class PythonProgram {
 public:
  explicit PythonProgram(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"/usr/bin/python3", "-B"});
    int to[2];
    int from[2];
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], 0);
    posix_spawn_file_actions_adddup2(&actions, from[1], 1);
    std::vector<char*> words;
    for (std::string& argument : arguments)
      words.push_back(argument.data());
    words.push_back(nullptr);
    const int failed = posix_spawn(&pid_, words[0], &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(to[0]);
    close(from[1]);
    in_ = fdopen(to[1], "w");
    out_ = fdopen(from[0], "r");
    if (failed != 0) throw std::runtime_error("cannot start Python");
  }
  ~PythonProgram() { end(); }
  PythonProgram(const PythonProgram&) = delete;
  PythonProgram& operator=(const PythonProgram&) = delete;

  // The next line; empty: there is none any more.
  std::string line() {
    std::string text;
    for (int c = std::fgetc(out_); c != EOF && c != '\n'; c = std::fgetc(out_)) {
      text += static_cast<char>(c);
    }
    return text;
  }
  void say(const std::string& text) {
    std::fputs((text + "\n").c_str(), in_);
    std::fflush(in_);
  }
  // Its exit code.
  int end() {
    if (pid_ == 0) return 0;
    std::fclose(in_);
    int status = 0;
    waitpid(pid_, &status, 0);
    std::fclose(out_);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = 0;
  std::FILE* in_ = nullptr;
  std::FILE* out_ = nullptr;
};

// A RabbitMQ of one test's own: tests/support/rabbitmq.py does the work.
class RabbitMqProcess {
 public:
  explicit RabbitMqProcess(const std::string& source_folder, std::vector<std::string> options = {})
      : program_(with({source_folder + "/tests/support/rabbitmq.py", "hold"}, std::move(options))),
        addresses_(program_.line()) {
    if (addresses_.empty()) throw std::runtime_error("RabbitMQ did not start");
  }

  [[nodiscard]] std::string url() const { return text("url"); }
  [[nodiscard]] std::string tls_url() const { return text("tls_url"); }
  [[nodiscard]] std::string ca_file() const { return text("ca_file"); }

  void ctl(const std::string& words) { order("ctl " + words); }
  void kill() { order("kill"); }
  void stop() { order("stop"); }
  void start() { order("start"); }
  // Makes queues that were just declared survive kill().
  void sync_queues() { order("sync_queues"); }

 private:
  static std::vector<std::string> with(std::vector<std::string> words,
                                       std::vector<std::string> more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  void order(const std::string& words) {
    program_.say(words);
    if (const std::string answer = program_.line(); answer != "done") {
      throw std::runtime_error(words + ": " + answer);
    }
  }
  // Of a flat line of JSON whose texts have no escapes.
  [[nodiscard]] std::string text(const std::string& name) const {
    const std::string before = "\"" + name + "\": \"";
    const auto at = addresses_.find(before);
    if (at == std::string::npos) return {};
    const auto begin = at + before.size();
    return addresses_.substr(begin, addresses_.find('"', begin) - begin);
  }

  PythonProgram program_;
  const std::string addresses_;
};

}  // namespace holdfast::testing
