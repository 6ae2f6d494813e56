// docs/cli.md has every verb and every option of those that work on tasks.
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/text_columns.hpp"
#include "cli/verbs.hpp"

namespace holdfast::cli::cli_page_test {
namespace {

using ::testing::HasSubstr;

std::string help_of(std::vector<const char*> words) {
  words.insert(words.begin(), "holdfast");
  words.push_back("--help");
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  Io io{in, out, err};
  EXPECT_EQ(run(static_cast<int>(words.size()), words.data(), io), 0) << err.str();
  return out.str();
}

std::string page() {
  std::ifstream file(HOLDFAST_SOURCE_DIR "/docs/cli.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

// "--queue", from lines that begin with one.
std::set<std::string> options_in(const std::string& help) {
  std::set<std::string> options;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == line.npos || begin == 0) continue;
    const std::size_t at = line.starts_with("  -h,") ? line.find("--") : begin;
    if (line.compare(at, 2, "--") != 0) continue;
    options.insert(line.substr(at, line.find_first_of(" ,[=", at) - at));
  }
  options.erase("--help");
  return options;
}

std::string wide_line_in(const std::string& help) {
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    if (columns_of(line) > kColumns) return line;
  }
  return {};
}

TEST(CliPage, has_every_verb_and_option) {
  const std::string text = page();
  const std::vector<std::vector<const char*>> verbs{{"submit"},
                                                    {"tasks", "ls"},
                                                    {"tasks", "show"},
                                                    {"tasks", "cancel"},
                                                    {"tasks", "retry"},
                                                    {"dead", "ls"},
                                                    {"dead", "groups"},
                                                    {"dead", "show"},
                                                    {"dead", "replay"},
                                                    {"dead", "discard"},
                                                    {"dead", "edit"},
                                                    {"dead", "export"},
                                                    {"dead", "import"},
                                                    {"queues", "ls"},
                                                    {"queues", "pause"},
                                                    {"queues", "resume"},
                                                    {"queues", "limit"},
                                                    {"operations", "ls"},
                                                    {"operations", "show"},
                                                    {"operations", "watch"},
                                                    {"operations", "pause"},
                                                    {"operations", "resume"},
                                                    {"operations", "cancel"},
                                                    {"audit"},
                                                    {"brokers"},
                                                    {"recoveries", "start"},
                                                    {"recoveries", "ls"},
                                                    {"recoveries", "show"},
                                                    {"recoveries", "watch"},
                                                    {"recoveries", "cancel"},
                                                    {"top"}};
  for (const auto& verb : verbs) {
    const std::string help = help_of(verb);
    EXPECT_THAT(help, HasSubstr("holdfast " + std::string(verb.front()))) << "examples";
    EXPECT_EQ(wide_line_in(help), "");
    const auto options = options_in(help);
    EXPECT_TRUE(options.contains("--json")) << verb.back();
    EXPECT_TRUE(options.contains("--server")) << verb.back();
    for (const std::string& option : options)
      EXPECT_THAT(text, HasSubstr(option)) << verb.front() << ' ' << verb.back();
    EXPECT_THAT(text, HasSubstr(verb.back()));
  }
}

TEST(CliPage, has_every_option_of_recover) {
  const std::string help = help_of({"recover"});
  EXPECT_EQ(wide_line_in(help), "");
  for (const std::string& option : options_in(help))
    EXPECT_THAT(page(), HasSubstr(option));
}

TEST(CliPage, has_every_verb_of_the_program) {
  const std::string help = help_of({});
  EXPECT_EQ(wide_line_in(help + help_of({"worker"})), "");
  const std::string text = page();
  for (const char* verb : {"serve", "worker", "submit", "tasks", "dead", "queues", "top", "brokers",
                           "recoveries", "recover", "classify", "verify", "bench", "demo"}) {
    EXPECT_THAT(help, HasSubstr(std::string("  ") + verb));
    EXPECT_THAT(text, HasSubstr(std::string("`holdfast ") + verb + "`"));
  }
}

}  // namespace
}  // namespace holdfast::cli::cli_page_test
