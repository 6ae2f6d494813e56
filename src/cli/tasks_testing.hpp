// What tests of the verbs that work on tasks share.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

#include <holdfast/client.hpp>
#include <holdfast/worker.hpp>

#include "cli/verbs.hpp"

namespace holdfast::cli {

struct Ran {
  int exit_code = 0;
  std::string out;
  std::string err;
};

// The verbs on a file of their own, with nobody else there.
class TasksVerbs : public ::testing::Test {
 protected:
  TasksVerbs() {
    for (const char* name : {"HOLDFAST_SERVER", "HOLDFAST_STORE", "HOLDFAST_API_TOKEN"})
      ::unsetenv(name);
    std::string name = (std::filesystem::temp_directory_path() / "holdfast-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "cannot make " << name;
    folder_ = name;
  }
  ~TasksVerbs() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }
  [[nodiscard]] std::string store() const { return "sqlite:" + path("tasks.db"); }

  // `words` without the program's name; the store is added.
  Ran run_verb(std::vector<std::string> words, const std::string& input = {},
               bool terminal = false) const {
    words.insert(words.begin(), "holdfast");
    words.insert(words.end(), {"--store", store()});
    return run_as_given(words, input, terminal);
  }
  static Ran run_as_given(const std::vector<std::string>& words, const std::string& input = {},
                          bool terminal = false) {
    std::vector<const char*> pointers;
    for (const std::string& word : words)
      pointers.push_back(word.c_str());
    std::istringstream in(input);
    std::ostringstream out;
    std::ostringstream err;
    Io io{in, out, err, terminal, false, false};
    const int exit_code = run(static_cast<int>(pointers.size()), pointers.data(), io);
    return {exit_code, out.str(), err.str()};
  }
  std::string submit(std::vector<std::string> words) const {
    words.insert(words.begin(), "submit");
    const Ran ran = run_verb(words);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return ran.out.substr(0, 36);
  }
  // Dead letters with these payloads, and the ids of them.
  std::vector<std::string> dead(const std::vector<std::string>& payloads,
                                const std::string& error = "disk on fire") const {
    Client client(store());
    Worker worker(store(), {.log = {}});
    worker.on("t", [&] { throw std::runtime_error(error); }, {.attempts = 1});
    EXPECT_TRUE(worker.start());
    std::vector<std::string> ids;
    for (const std::string& payload : payloads) {
      const auto id = client.submit({.type = "t", .payload = payload});
      EXPECT_TRUE(client.wait(*id, std::chrono::minutes(1)));
      ids.push_back(id->text());
    }
    static_cast<void>(worker.stop());
    return ids;
  }
  [[nodiscard]] TaskInfo find(const std::string& id) const {
    return Client(store()).find(TaskId::parse(id).value()).value_or(TaskInfo());
  }
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(path(name)) << content;
  }
  [[nodiscard]] std::string content(const std::string& name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::filesystem::path folder_;
};

[[nodiscard]] inline std::size_t widest_line_of(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    widest = std::max(widest, line.size());
  return widest;
}

}  // namespace holdfast::cli
