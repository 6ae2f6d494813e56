#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <utility>

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "cli/text_columns.hpp"
#include "cli/verbs.hpp"

namespace holdfast::cli::bench_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct Ran {
  int exit_code = 0;
  std::string out;
  std::string err;
};

class BenchVerb : public ::testing::Test {
 protected:
  BenchVerb() {
    std::string name = (fs::temp_directory_path() / "holdfast-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "cannot make " << name;
    folder_ = name;
  }
  ~BenchVerb() override { fs::remove_all(folder_); }

  // With few tasks where `more` does not say how many, so that every part takes a moment only.
  Ran bench(std::vector<std::string> more, std::ostream* to = nullptr) {
    std::vector<std::string> all{"holdfast", "bench"};
    all.insert(all.end(), more.begin(), more.end());
    const std::vector<std::pair<std::string, std::string>> usual{
        {"--folder", folder_.string()}, {"--tasks", "2000"},  {"--failing", "200"},
        {"--waiting", "500"},           {"--seconds", "0.2"}, {"--batch", "100"}};
    for (const auto& [name, value] : usual) {
      if (std::ranges::find(more, name) == more.end()) all.insert(all.end(), {name, value});
    }
    std::vector<const char*> words;
    for (const std::string& word : all)
      words.push_back(word.c_str());
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    Io io{in, to ? *to : out, err};
    const int exit_code = run(static_cast<int>(words.size()), words.data(), io);
    return {exit_code, out.str(), err.str()};
  }

  fs::path folder_;
};

TEST_F(BenchVerb, measures_every_part_and_leaves_no_file) {
  const Ran ran = bench({});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.err, "");
  for (const char* what :
       {"enqueued, while others run", "enqueue to done, in batches", "one by one, at a steady rate",
        "enqueue to done, median", "99 of 100", "the slowest", "fail 3 times, to dead letter",
        "memory of an idle worker", "start with all waiting", "memory with all waiting"}) {
    EXPECT_THAT(ran.out, HasSubstr(what));
  }
  EXPECT_THAT(ran.out, HasSubstr("tasks/s  ≥ 100,000"));
  std::istringstream lines(ran.out);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(columns_of(line), kColumns) << line;
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(BenchVerb, gives_each_figure_with_its_target_as_json) {
  const Ran ran = bench({"--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const auto all = boost::json::parse(ran.out).as_object();
  EXPECT_EQ(all.at("tasks"), 2000);
  EXPECT_EQ(all.at("batch"), 100);
  const auto& figures = all.at("figures").as_object();
  EXPECT_EQ(figures.size(), 10u);
  for (const auto& [key, figure] : figures) {
    EXPECT_GT(figure.at("value").to_number<double>(), 0) << key;
    EXPECT_EQ(figure.as_object().contains("met"), figure.as_object().contains("target")) << key;
  }
  EXPECT_FALSE(figures.at("max_ms").as_object().contains("met"));
  const auto& done = figures.at("done_per_s").as_object();
  EXPECT_EQ(done.at("target"), 100'000);
  EXPECT_EQ(done.at("target_is"), "at least");
  const auto& idle = figures.at("idle_mb").as_object();
  EXPECT_EQ(idle.at("target"), 30);
  EXPECT_EQ(idle.at("target_is"), "at most");
  EXPECT_EQ(idle.at("met").as_bool(), idle.at("value").to_number<double>() <= 30);
}

TEST_F(BenchVerb, measures_one_part_alone) {
  const auto figures = boost::json::parse(bench({"failures", "--json"}).out).at("figures");
  EXPECT_EQ(figures.as_object().size(), 1u);
  EXPECT_TRUE(figures.as_object().contains("dead_per_s"));
}

TEST_F(BenchVerb, a_sample_of_one_is_enough) {
  const Ran ran = bench({"latency", "--rate", "1", "--seconds", "0.1", "--payload", "0"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
}

TEST_F(BenchVerb, fails_for_a_missed_target_only_if_told_to) {
  // One task at a time cannot reach the target of whole batches.
  const std::vector<std::string> slow{"throughput", "--tasks", "3", "--batch", "1"};
  const Ran ran = bench(slow);
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_THAT(ran.out, HasSubstr("≥ 100,000   MISSED\n"));
  auto checked = slow;
  checked.emplace_back("--check");
  EXPECT_EQ(bench(checked).exit_code, 1);
}

TEST_F(BenchVerb, refuses_what_cannot_be_measured) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--waiting", "0"},
                                             {"--tasks", "0"},
                                             {"--failing", "0"},
                                             {"--batch", "0"},
                                             {"--seconds", "0"},
                                             {"--threads", "x"}}) {
    const Ran ran = bench(words);
    EXPECT_EQ(ran.exit_code, 2) << words.back();
    EXPECT_THAT(ran.err, StartsWith("holdfast: " + words.front())) << words.back();
  }
}

TEST_F(BenchVerb, refuses_a_part_that_is_none) {
  const Ran ran = bench({"speed"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, HasSubstr("speed"));
}

TEST_F(BenchVerb, refuses_a_folder_that_is_not_there) {
  const Ran ran = bench({"--folder", (folder_ / "missing").string()});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err, "holdfast bench: cannot make a folder in \"" + (folder_ / "missing").string() +
                         "\"; choose one with --folder\n");
}

TEST_F(BenchVerb, says_that_its_output_cannot_be_written) {
  std::ostream closed(nullptr);
  const Ran ran = bench({"failures"}, &closed);
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_EQ(ran.err, "holdfast bench: cannot write to standard output\n");
}

TEST_F(BenchVerb, says_in_its_help_what_an_option_is_for) {
  const Ran ran = bench({"--help"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_THAT(ran.out, HasSubstr("default: all"));
  EXPECT_THAT(ran.out, HasSubstr("--check"));
  EXPECT_THAT(ran.out, Not(HasSubstr("UINT")));
  EXPECT_THAT(ran.out, Not(HasSubstr(" in [")));
}

// Tells the process that measures of the first progress, by a signal.
class Interrupting : public std::stringbuf {
 public:
  int sync() override {
    if (::getpid() != owner_) ::kill(owner_, SIGTERM);
    return 0;
  }

 private:
  const ::pid_t owner_ = ::getpid();
};

TEST_F(BenchVerb, removes_its_files_when_it_is_interrupted) {
  const std::string folder = folder_.string();
  const auto interrupted = [&] {
    const char* words[] = {"holdfast", "bench",    "latency",     "--seconds",
                           "3600",     "--folder", folder.c_str()};
    std::istringstream in;
    std::ostringstream out;
    Interrupting buffer;
    std::ostream err(&buffer);
    Io io{in, out, err, false, false, /*err_is_terminal=*/true};
    std::_Exit(run(7, words, io));
  };
  EXPECT_EXIT(interrupted(), ::testing::KilledBySignal(SIGTERM), "");
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(BenchVerb, measures_on_a_store_that_is_named_and_leaves_it_alone) {
  const fs::path named = folder_ / "tasks.db";
  const Ran ran = bench({"--store", "sqlite:" + named.string(), "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const auto figures = boost::json::parse(ran.out).at("figures").as_object();
  for (const char* key : {"enqueue_per_s", "process_per_s", "peak_mb", "end_to_end_per_s", "p50_ms",
                          "p99_ms", "max_ms", "failing_per_s", "idle_mb"}) {
    ASSERT_TRUE(figures.contains(key)) << key;
    EXPECT_GT(figures.at(key).at("value").to_number<double>(), 0) << key;
  }
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(BenchVerb, measures_one_part_of_a_store_alone) {
  const Ran ran = bench({"process", "--store", "sqlite:x.db", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(boost::json::parse(ran.out).at("figures").as_object().size(), 2u);
}

TEST_F(BenchVerb, says_what_is_wrong_with_the_url_of_a_store) {
  const Ran ran = bench({"--store", "tasks.db"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("tasks.db"));
}

TEST_F(BenchVerb, measures_the_server_and_counts_what_it_answered) {
  const Ran ran = bench({"submits", "arrays", "webhooks", "--http", "--requests", "300", "--hooks",
                         "100", "--connections", "4", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const auto figures = boost::json::parse(ran.out).at("figures");
  for (const char* name : {"http_submits_per_s", "http_arrays_per_s", "webhooks_per_s"})
    EXPECT_GT(figures.at(name).at("value").to_number<double>(), 0) << name;
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace holdfast::cli::bench_test
