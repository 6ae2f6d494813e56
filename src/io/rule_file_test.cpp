#include "io/rule_file.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "io/os_error_name.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::rule_file_test {
namespace {

using namespace std::chrono_literals;

std::vector<Rule> rules_of(std::string_view text) {
  auto rules = parse_rules(text, "rules.toml");
  EXPECT_TRUE(rules) << rules.error().text();
  return rules ? *rules : std::vector<Rule>();
}

std::string error_of(std::string_view text) {
  const auto rules = parse_rules(text, "rules.toml");
  EXPECT_FALSE(rules);
  if (rules) return "";
  EXPECT_EQ(rules.error().code, ErrorCode::invalid_argument);
  return rules.error().message;
}

TEST(RuleFile, says_where_a_preset_comes_twice) {
  EXPECT_EQ(
      parse_rules("use = [\"network\",\n  \"network\"]", "r.toml").error().message.substr(0, 38),
      "r.toml:2:3: preset \"network\" brings a ");
  const auto own = parse_rules(
      "use = \"http\"\n[[rule]]\nname = \"http.throttled\"\nstatus = 429\nverdict = \"retry\"",
      "r.toml");
  EXPECT_EQ(
      own.error().message,
      "r.toml:1:7: preset \"http\" brings a rule \"http.throttled\", and line 2 has it already");
}

TEST(RuleFile, reads_every_key_of_a_rule) {
  const std::vector<Rule> rules = rules_of(R"(
    [[rule]]
    name      = "billing.quota"
    pattern   = 'quota .* exceeded'
    status    = [403, "5xx", "500-504", "429"]
    exit_code = [75, 1]
    os_error  = ["ECONNRESET", 110]
    kind      = "timeout"
    verdict   = "throttle"
    wait      = "1m30s"
    reason    = "The daily quota is used up."
  )");
  const Rule expected{.name = "billing.quota",
                      .pattern = "quota .* exceeded",
                      .http_status = {403, {500, 599}, {500, 504}, 429},
                      .exit_codes = {75, 1},
                      .os_errors = {ECONNRESET, 110},
                      .kind = FailureKind::timeout,
                      .verdict = VerdictKind::throttle,
                      .wait = 90s,
                      .reason = "The daily quota is used up."};
  ASSERT_EQ(rules.size(), 1);
  EXPECT_EQ(rules[0], expected);
}

TEST(RuleFile, a_list_of_one_needs_no_brackets) {
  const std::vector<Rule> rules = rules_of(R"(
    use = "http"
    [[rule]]
    status = "5xx"
    exit_code = 75
    os_error = "EPIPE"
    verdict = "retry"
  )");
  ASSERT_GT(rules.size(), 1);
  EXPECT_EQ(rules[0].http_status, (std::vector<StatusRange>{{500, 599}}));
  EXPECT_EQ(rules[0].exit_codes, std::vector<int>{75});
  EXPECT_EQ(rules[0].os_errors, std::vector<int>{EPIPE});
}

TEST(RuleFile, knows_each_verdict_in_each_spelling) {
  const std::pair<const char*, VerdictKind> rows[] = {
      {"retry", VerdictKind::retry},     {"throttle", VerdictKind::throttle},
      {"give up", VerdictKind::give_up}, {"give_up", VerdictKind::give_up},
      {"give-up", VerdictKind::give_up}, {"ambiguous", VerdictKind::ambiguous},
      {"success", VerdictKind::success},
  };
  for (const auto& [text, verdict] : rows) {
    const auto rules = rules_of(std::string("[[rule]]\nstatus=400\nverdict=\"") + text + "\"\n");
    ASSERT_EQ(rules.size(), 1) << text;
    EXPECT_EQ(rules[0].verdict, verdict) << text;
  }
}

TEST(RuleFile, puts_presets_before_and_after_its_own_rules) {
  const std::vector<Rule> rules = rules_of(R"(
    use = ["http", "network"]
    use_first = ["aws"]
    [[rule]]
    name = "mine.1"
    pattern = "a"
    verdict = "retry"
    [[rule]]
    name = "mine.2"
    pattern = "b"
    verdict = "retry"
  )");
  std::vector<std::string> order;
  for (const Rule& rule : rules) {
    const std::string preset = rule.name.substr(0, rule.name.find('.'));
    if (order.empty() || order.back() != preset) order.push_back(preset);
  }
  EXPECT_EQ(order, (std::vector<std::string>{"aws", "mine", "http", "network"}));
  EXPECT_TRUE(Classifier::make(rules));
}

TEST(RuleFile, an_empty_file_has_no_rules) {
  EXPECT_TRUE(rules_of("").empty());
  EXPECT_TRUE(rules_of("use = []\nrule = []\n").empty());
}

struct BadFile {
  const char* text;
  const char* message;
};

TEST(RuleFile, errors_name_the_place) {
  const BadFile rows[] = {
      {"use = [\n  \"http\",\n  \"netwrok\"]\n",
       "rules.toml:3:3: unknown preset \"netwrok\"; did you mean \"network\"?"},
      {"use = [3]", "rules.toml:1:8: the name of a preset is text"},
      {"usee = []", "rules.toml:1:1: unknown key \"usee\"; did you mean \"use\"?"},
      {"[rule]\npattern = 'x'\n",
       "rules.toml:1:1: rules are written as [[rule]], with two brackets"},
      {"rule = [1]", "rules.toml:1:9: rules are written as [[rule]], with two brackets"},
      {"[[rule]]\npatern = 'x'\n",
       "rules.toml:2:1: unknown key \"patern\"; did you mean \"pattern\"?"},
      {"[[rule]]\nfoo = 'x'\n",
       "rules.toml:2:1: unknown key \"foo\"; known are name, pattern, status, exit_code, os_error, "
       "kind, verdict, wait, reason"},
      {"[[rule]]\npattern = 3\n", "rules.toml:2:11: this must be text, in quotes"},
      {"[[rule]]\npattern = ''\n", "rules.toml:2:11: this must not be empty"},
      {"[[rule]]\nverdict = 'retry'\npattern = 'a(b'\n",
       "rules.toml:3:11: bad pattern at offset 1: missing ): (b"},
      {"[[rule]]\npattern = 'x'\nverdict = 'retri'\n",
       "rules.toml:3:11: unknown verdict \"retri\"; did you mean \"retry\"?"},
      {"[[rule]]\npattern = 'x'\n",
       "rules.toml:1:1: a rule needs a verdict: retry, throttle, give up, ambiguous or success"},
      {"\n[[rule]]\nverdict = 'retry'\n",
       "rules.toml:2:1: no condition: give a pattern, an HTTP status, an exit code, an OS error or "
       "a "
       "kind"},
      {"[[rule]]\nstatus = [400, \"6x\"]\n",
       "rules.toml:2:16: this must be an HTTP status: 429, \"5xx\" or \"500-504\""},
      {"[[rule]]\nstatus = 4000\n",
       "rules.toml:2:10: this must be an HTTP status: 429, \"5xx\" or \"500-504\""},
      {"[[rule]]\nstatus = \"504-\"\n",
       "rules.toml:2:10: this must be an HTTP status: 429, \"5xx\" or \"500-504\""},
      {"[[rule]]\nstatus = []\n", "rules.toml:2:10: the list is empty"},
      {"[[rule]]\nstatus = \"504-500\"\nverdict = 'retry'\n",
       "rules.toml:1:1: HTTP status range 504-500 ends before it begins"},
      {"[[rule]]\nexit_code = 256\n", "rules.toml:2:13: this must be an exit code, from 0 to 255"},
      {"[[rule]]\nos_error = \"ECONRESET\"\n",
       "rules.toml:2:12: this must be an OS error: \"ECONNRESET\" or its number"},
      {"[[rule]]\nkind = 'timout'\n",
       "rules.toml:2:8: unknown kind \"timout\"; did you mean \"timeout\"?"},
      {"[[rule]]\nstatus = 429\nverdict = 'give up'\nwait = '3s'\n",
       "rules.toml:1:1: a wait belongs to the verdict throttle, not give up"},
      {"[[rule]]\nname = 'a'\nstatus = 1\n",
       "rules.toml:3:10: this must be an HTTP status: 429, "
       "\"5xx\" or \"500-504\""},
      {"[[rule]]\nname='a'\nstatus=400\nverdict='retry'\n[[rule]]\nname='a'\nstatus=401\n"
       "verdict='retry'\n",
       "rules.toml:6:6: the name \"a\" is taken by the rule in line 1"},
  };
  for (const BadFile& row : rows)
    EXPECT_EQ(error_of(row.text), row.message) << row.text;
}

TEST(RuleFile, a_bad_wait_shows_what_is_wrong_with_it) {
  const std::string error =
      error_of("[[rule]]\nstatus = 429\nverdict = 'throttle'\nwait = '3 fortnights'\n");
  EXPECT_TRUE(error.starts_with("rules.toml:4:8: ")) << error;
  EXPECT_NE(error.find("fortnights"), std::string::npos) << error;
}

TEST(RuleFile, broken_toml_is_an_error_with_its_place) {
  EXPECT_TRUE(error_of("use = [\n\n[[rule]\n").starts_with("rules.toml:3:"));
  EXPECT_TRUE(error_of("\n[!]\n").starts_with("rules.toml:2:")) << "see io/toml.hpp";
  EXPECT_TRUE(error_of("é = 1\n").starts_with("rules.toml:1:")) << "see io/toml.hpp";
}

TEST(RuleFile, loads_from_a_file_and_says_why_it_cannot) {
  const holdfast::testing::TemporaryFolder folder;
  const std::string path = folder / "rules.toml";
  std::ofstream(path) << "[[rule]]\nstatus = 400\nverdict = 'retry'\n";
  const auto loaded = load_rules(path);
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_EQ(loaded->size(), 1);

  std::ofstream(path) << "oops";
  EXPECT_TRUE(load_rules(path).error().message.starts_with(path + ":1:"));
  std::ofstream(path, std::ios::trunc).close();
  EXPECT_TRUE(load_rules(path).value().empty());

  const auto missing = load_rules(folder / "nothing.toml");
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_EQ(missing.error().message, (folder / "nothing.toml") + ": No such file or directory");
  EXPECT_EQ(load_rules(folder.path()).error().code, ErrorCode::unavailable);
  EXPECT_EQ(load_rules("/dev/zero").error().message, "/dev/zero: more than 4MiB");
}

TEST(OsErrorName, knows_names_and_numbers) {
  EXPECT_EQ(os_error_number("ECONNRESET"), ECONNRESET);
  EXPECT_EQ(os_error_number("EWOULDBLOCK"), EAGAIN);
  EXPECT_EQ(os_error_number("104"), 104);
  EXPECT_FALSE(os_error_number("econnreset"));
  EXPECT_FALSE(os_error_number("0"));
  EXPECT_FALSE(os_error_number("-3"));
  EXPECT_FALSE(os_error_number(""));
}

}  // namespace
}  // namespace holdfast::rule_file_test
