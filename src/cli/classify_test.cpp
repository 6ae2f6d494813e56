#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "cli/verbs.hpp"
#include "core/utf8.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::cli::classify_test {
namespace {

struct Ran {
  int exit_code = 0;
  std::string out;
  std::string err;
};

struct Setting {
  std::string in = {};
  bool in_is_terminal = false;
  bool colour = false;
};

Ran holdfast(std::vector<const char*> words, const Setting& setting = {}) {
  words.insert(words.begin(), "holdfast");
  std::istringstream in(setting.in);
  std::ostringstream out;
  std::ostringstream err;
  Io io{in, out, err, setting.in_is_terminal, setting.colour};
  const int exit_code = run(static_cast<int>(words.size()), words.data(), io);
  return {exit_code, out.str(), err.str()};
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::size_t columns = 0;
    for (std::string_view rest = line; !rest.empty(); ++columns) {
      rest.remove_prefix(std::max<std::size_t>(1, first_code_point(rest).length));
    }
    widest = std::max(widest, columns);
  }
  return widest;
}

std::size_t count_lines(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

class RuleFileOnDisk {
 public:
  explicit RuleFileOnDisk(std::string_view text) { std::ofstream(path_) << text; }

  [[nodiscard]] const char* path() const { return path_.c_str(); }

 private:
  holdfast::testing::TemporaryFolder folder_;
  std::string path_ = folder_ / "rules.toml";
};

TEST(ClassifyVerb, says_verdict_text_rule_and_reason) {
  const Ran ran = holdfast({"classify", "insufficient funds for gas", "what is this"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.out,
            "give up    insufficient funds for gas\n"
            "           ethereum.insufficient-funds: The account cannot pay for the\n"
            "           transaction.\n"
            "retry      what is this\n"
            "           no rule: Unknown errors are retried.\n");
  EXPECT_EQ(ran.err, "");
}

TEST(ClassifyVerb, takes_status_exit_code_os_error_and_retry_after) {
  EXPECT_EQ(holdfast({"classify", "--status", "503", "--retry-after", "30s", "oh"}).out,
            "throttle   oh\n"
            "           http.unavailable (HTTP status 503): The server is down or overloaded\n"
            "           for now. Wait 30s.\n");
  const Ran reset = holdfast({"classify", "--os-error", "ECONNRESET", "oh"});
  EXPECT_NE(reset.out.find("network.os-error (OS error "), std::string::npos) << reset.out;
  const RuleFileOnDisk rules("[[rule]]\nname='usage'\nexit_code=64\nverdict='give up'\n");
  EXPECT_EQ(holdfast({"classify", "--rules", rules.path(), "--exit-code", "64", "oh"}).out,
            "give up    oh\n           usage (exit code 64)\n");
}

TEST(ClassifyVerb, reads_lines_of_standard_input) {
  const Ran ran =
      holdfast({"classify", "--json"}, {.in = "read ECONNRESET\r\n\nexecution reverted\nlast"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(
      ran.out,
      R"({"text":"read ECONNRESET","text_bytes":15,"verdict":"retry","category":"RETRYABLE",)"
      R"("basis":"pattern","rule":"network.connection-lost","reason":"The connection broke.",)"
      R"("matched":"ECONNRESET","offset":5})"
      "\n"
      R"({"text":"execution reverted","text_bytes":18,"verdict":"give up",)"
      R"("category":"NON_RETRYABLE","basis":"pattern","rule":"ethereum.reverted",)"
      R"("reason":"The contract refuses the call, and will refuse it again.",)"
      R"("matched":"execution reverted","offset":0})"
      "\n"
      R"({"text":"last","text_bytes":4,"verdict":"retry","category":"RETRYABLE",)"
      R"("basis":"fallback","rule":null,"reason":"Unknown errors are retried.","matched":""})"
      "\n");
}

TEST(ClassifyVerb, json_has_the_wait_in_seconds) {
  const Ran ran =
      holdfast({"classify", "--json", "--status", "429", "--retry-after", "1500ms", "x"});
  EXPECT_NE(ran.out.find(R"("verdict":"throttle","category":"RETRYABLE","wait":1.5,)"),
            std::string::npos)
      << ran.out;
}

TEST(ClassifyVerb, a_status_needs_no_text) {
  const std::string expected =
      "give up\n"
      "           http.not-found (HTTP status 404): The server does not have what the\n"
      "           request names.\n";
  EXPECT_EQ(holdfast({"classify", "--status", "404"}).out, expected);
  const Ran at_terminal =
      holdfast({"classify", "--status", "404"}, {.in = "not read", .in_is_terminal = true});
  EXPECT_EQ(at_terminal.out, expected);
}

TEST(ClassifyVerb, a_status_goes_with_every_line) {
  const Ran ran = holdfast({"classify", "--status", "404", "--json"}, {.in = "a\nb\n"});
  EXPECT_EQ(count_lines(ran.out), 2);
  EXPECT_EQ(ran.out.find("http.not-found") != std::string::npos, true);
}

TEST(ClassifyVerb, a_person_at_a_terminal_is_told_what_is_awaited) {
  const Ran ran = holdfast({"classify"}, {.in = "x\n", .in_is_terminal = true});
  EXPECT_NE(ran.err.find("Ctrl-D"), std::string::npos);
  EXPECT_EQ(count_lines(ran.out), 2);
}

TEST(ClassifyVerb, no_line_is_wider_than_eighty_columns) {
  std::string wide;
  for (int i = 0; i < 100; ++i)
    wide += "größer ";
  const std::string one_word(300, 'w');
  const RuleFileOnDisk rules("[[rule]]\nname='" + one_word +
                             "'\npattern='w'\nverdict='retry'\nreason='" + wide + "'\n");
  const Ran ran = holdfast({"classify", "--rules", rules.path(), one_word.c_str(), wide.c_str()});
  EXPECT_EQ(widest_line(ran.out), 80) << ran.out;
  EXPECT_EQ(widest_line(holdfast({"classify", std::string(69, 'x').c_str()}).out), 80);
  EXPECT_EQ(holdfast({"classify", std::string(69, 'x').c_str()}).out.find("…"), std::string::npos);
  EXPECT_LE(widest_line(holdfast({"classify", "--help"}).out), 80);
  EXPECT_LE(widest_line(holdfast({"--help"}).out), 80);
}

TEST(ClassifyVerb, colours_the_verdict_on_a_terminal_only) {
  EXPECT_EQ(holdfast({"classify", "already known"}).out.find('\x1b'), std::string::npos);
  const Ran ran = holdfast({"classify", "already known"}, {.colour = true});
  EXPECT_TRUE(ran.out.starts_with("\x1b[32msuccess\x1b[0m    already known\n")) << ran.out;
  for (const char* text : {"execution reverted", "nonce too low", "429 Too Many Requests", "?"}) {
    EXPECT_TRUE(holdfast({"classify", text}, {.colour = true}).out.starts_with("\x1b[3")) << text;
  }
}

TEST(ClassifyVerb, prints_nothing_that_a_terminal_would_act_upon) {
  const Ran ran = holdfast({"classify"}, {.in = "evil \x1b[2J \xff text\n"});
  EXPECT_EQ(ran.out.find('\x1b'), std::string::npos);
  EXPECT_EQ(ran.out.find('\xff'), std::string::npos);
  EXPECT_EQ(count_lines(ran.out), 2);
}

TEST(ClassifyVerb, a_line_of_ten_megabytes_is_one_answer) {
  std::string line(10 << 20, 'x');
  line += " execution reverted";
  const Ran people = holdfast({"classify"}, {.in = line});
  EXPECT_TRUE(people.out.starts_with("give up    xxx")) << people.out.substr(0, 200);
  EXPECT_LE(widest_line(people.out), 80);
  const Ran json = holdfast({"classify", "--json"}, {.in = line});
  EXPECT_LT(json.out.size(), 5000);
  EXPECT_NE(json.out.find("\"text_bytes\":10485779"), std::string::npos);
  EXPECT_NE(json.out.find("\"offset\":10485761"), std::string::npos);
}

TEST(ClassifyVerb, own_rules_come_first_and_alone_unless_presets_are_named) {
  const RuleFileOnDisk rules("[[rule]]\nname='mine'\npattern='funds'\nverdict='retry'\n");
  EXPECT_NE(holdfast({"classify", "--rules", rules.path(), "insufficient funds"}).out.find("mine"),
            std::string::npos);
  EXPECT_NE(holdfast({"classify", "--rules", rules.path(), "nonce too low"}).out.find("no rule"),
            std::string::npos);
  const Ran both = holdfast({"classify", "--rules", rules.path(), "--preset", "http", "--preset",
                             "ethereum", "nonce too low", "insufficient funds"});
  EXPECT_NE(both.out.find("ethereum.nonce-used"), std::string::npos);
  EXPECT_NE(both.out.find("mine"), std::string::npos);
}

TEST(ClassifyVerb, what_cannot_be_done_is_exit_code_1) {
  const Ran missing = holdfast({"classify", "--rules", "/no/such/rules.toml", "x"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_EQ(missing.err, "holdfast classify: /no/such/rules.toml: No such file or directory\n");
  const RuleFileOnDisk rules("[[rule]]\npatern='x'\n");
  const Ran bad = holdfast({"classify", "--rules", rules.path(), "x"});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_NE(bad.err.find(":2:1: unknown key \"patern\"; did you mean \"pattern\"?"),
            std::string::npos)
      << bad.err;
  const Ran twice = holdfast({"classify", "--preset", "http", "--preset", "all", "x"});
  EXPECT_EQ(twice.exit_code, 1);
  EXPECT_NE(twice.err.find("is taken by rule"), std::string::npos) << twice.err;
}

TEST(ClassifyVerb, broken_streams_are_exit_code_1) {
  std::istringstream in("x\n");
  std::ostringstream out;
  std::ostringstream err;
  Io io{in, out, err};
  const char* words[] = {"holdfast", "classify"};
  out.setstate(std::ios::badbit);
  EXPECT_EQ(run(2, words, io), 1);
  EXPECT_NE(err.str().find("cannot write"), std::string::npos);
  out.clear();
  in.setstate(std::ios::badbit);
  EXPECT_EQ(run(2, words, io), 1);
  EXPECT_NE(err.str().find("cannot read"), std::string::npos);
}

TEST(ClassifyVerb, a_wrong_command_line_is_exit_code_2) {
  const std::vector<std::vector<const char*>> lines = {
      {"classify", "--bogus"},
      {"classify", "--status", "3", "x"},
      {"classify", "--status", "abc", "x"},
      {"classify", "--exit-code", "256", "x"},
      {"classify", "--os-error", "EFOO", "x"},
      {"classify", "--retry-after", "soon", "x"},
      {"classify", "--preset", "htp", "x"},
      {"classify", "--preset"},
      {"classify", "--rules", "", "x"},
      {"clasify", "x"},
      {"--bogus"},
      {},
  };
  for (const auto& line : lines) {
    const Ran ran = holdfast(line);
    EXPECT_EQ(ran.exit_code, 2) << (line.empty() ? "" : line.back());
    EXPECT_EQ(ran.out, "");
    EXPECT_NE(ran.err, "");
  }
  EXPECT_EQ(holdfast({"clasify"}).err,
            "holdfast: unknown verb \"clasify\"; did you mean \"classify\"?\n");
}

TEST(Program, teaches_and_names_its_version) {
  const Ran help = holdfast({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_NE(help.out.find("classify"), std::string::npos);
  EXPECT_EQ(holdfast({"help"}).out, help.out);
  const Ran verb_help = holdfast({"classify", "--help"});
  EXPECT_EQ(verb_help.exit_code, 0);
  EXPECT_NE(verb_help.out.find("Examples:"), std::string::npos);
  const Ran version = holdfast({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_TRUE(version.out.starts_with("holdfast ")) << version.out;
}

}  // namespace
}  // namespace holdfast::cli::classify_test
