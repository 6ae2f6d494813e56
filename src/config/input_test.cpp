// The inputs of tasks: [task.NAME.input].
#include <gtest/gtest.h>

#include "config/change.hpp"
#include "config/config.hpp"
#include "config/config_testing.hpp"

namespace holdfast::config::input_test {
namespace {

constexpr std::string_view kInput = "s3 = 'http://127.0.0.1:9000', bucket = 'b', key = '{k}'";

std::string task_with(std::string_view input) {
  return "[task.t]\ncommand = ['cat']\ninput = { " + std::string(input) + " }\n";
}

Config config_of(std::string_view text, FakeOutside outside = furnished_outside()) {
  auto config = check(text, "/etc/holdfast/h.toml", outside);
  EXPECT_TRUE(config) << to_error(config.error()).message;
  return config ? *std::move(config) : Config();
}

std::string error_of(std::string_view text) {
  FakeOutside outside = furnished_outside();
  const auto config = check(text, "/etc/holdfast/h.toml", outside);
  EXPECT_FALSE(config) << text;
  if (config) return "";
  EXPECT_EQ(config.error().size(), 1U) << to_error(config.error()).message;
  return config.error().front().text().substr(std::string("/etc/holdfast/").size());
}

TEST(ConfigInput, has_the_retries_of_R3_and_R4_by_default) {
  const Input input = config_of(task_with(kInput)).tasks.at("t").input;
  EXPECT_TRUE(input.is_set());
  EXPECT_EQ(input.s3.shown, "http://127.0.0.1:9000");
  EXPECT_EQ(input.retry.attempts, 3);
  EXPECT_EQ(input.retry.first, std::chrono::seconds(1));
  EXPECT_EQ(input.retry.cap, std::chrono::seconds(8));
  EXPECT_EQ(input.on_failure, OnInputFailure::fail);
  EXPECT_EQ(input.region, "us-east-1");
  EXPECT_TRUE(input.path_style);
  EXPECT_FALSE(input.access_key.is_set());
  EXPECT_FALSE(Task().input.is_set());
}

TEST(ConfigInput, takes_credentials_from_where_others_look_for_them) {
  FakeOutside outside = furnished_outside();
  outside.variables["AWS_ACCESS_KEY_ID"] = "planted-id";
  outside.variables["AWS_SECRET_ACCESS_KEY"] = "planted-secret";
  outside.variables["AWS_SESSION_TOKEN"] = "planted-session";
  outside.variables["AWS_DEFAULT_REGION"] = "eu-west-2";
  const Config config = config_of(task_with(kInput), outside);
  const Input& input = config.tasks.at("t").input;
  EXPECT_EQ(input.access_key.reveal(), "planted-id");
  EXPECT_EQ(input.secret_key.reveal(), "planted-secret");
  EXPECT_EQ(input.session_token.reveal(), "planted-session");
  EXPECT_EQ(input.region, "eu-west-2");
  const std::string text = describe(config);
  EXPECT_EQ(text.find("planted"), std::string::npos) << text;
  EXPECT_NE(text.find("input.secret_key = \"*** (env:AWS_SECRET_ACCESS_KEY)\"\n"),
            std::string::npos)
      << text;

  outside.variables["AWS_REGION"] = "eu-west-3";
  outside.variables.erase("AWS_SECRET_ACCESS_KEY");  // one without the other is none
  const Config without = config_of(task_with(kInput), outside);
  EXPECT_FALSE(without.tasks.at("t").input.access_key.is_set());
  EXPECT_EQ(without.tasks.at("t").input.region, "eu-west-3");
}

TEST(ConfigInput, prefers_what_the_file_says) {
  FakeOutside outside = furnished_outside();
  outside.variables["AWS_ACCESS_KEY_ID"] = "no";
  outside.variables["AWS_SECRET_ACCESS_KEY"] = "no";
  outside.variables["AWS_SESSION_TOKEN"] = "no";
  outside.variables["AWS_REGION"] = "no";
  const Input input = config_of(task_with(std::string(kInput) +
                                          ", access_key = 'env:SHORT', secret_key = 'env:TOKEN', "
                                          "region = 'us-west-1'"),
                                outside)
                          .tasks.at("t")
                          .input;
  EXPECT_EQ(input.access_key.reveal(), "0123456789abcde");
  EXPECT_EQ(input.secret_key.source(), "env:TOKEN");
  EXPECT_FALSE(input.session_token.is_set());
  EXPECT_EQ(input.region, "us-west-1");
}

TEST(ConfigInput, says_what_is_wrong) {
  const std::string good(kInput);
  EXPECT_EQ(error_of("[task.t]\nwebhook = 'https://a.example.org'\ninput = { " + good + " }\n"),
            "h.toml:3:9: task.t.input: inputs are for tasks with a command, which can read a file; "
            "this one has a webhook");
  EXPECT_EQ(error_of("[task.t]\npull = true\ninput = { " + good + " }\n"),
            "h.toml:3:9: task.t.input: inputs are for tasks with a command, which can read a file; "
            "this one has pull = true");
  EXPECT_EQ(error_of(task_with("s3 = 'http://a', key = 'k'")),
            "h.toml:3:9: task.t.input: input: bucket is missing");
  EXPECT_EQ(error_of(task_with("s3 = 'http://a', bucket = 'b', key = 'a/{k'")),
            "h.toml:3:48: task.t.input.key: the { at offset 2 is not closed; {{ and }} stand for "
            "braces themselves");
  EXPECT_EQ(error_of(task_with(good + ", access_key = 'env:TOKEN'")),
            "h.toml:3:81: task.t.input.access_key: secret_key is missing: give both");
  EXPECT_EQ(error_of(task_with(good + ", session_token = 'env:TOKEN'")),
            "h.toml:3:84: task.t.input.session_token: access_key and secret_key are missing: give "
            "all three");
  EXPECT_EQ(
      error_of(task_with(good + ", retry = { first = '9s' }")),
      "h.toml:3:86: task.t.input.retry.first: the first wait, 9s, is longer than the cap, 8s");
  EXPECT_EQ(error_of(task_with("s3 = 'http://a?b=c', bucket = 'b', key = 'k'")),
            "h.toml:3:16: task.t.input.s3: the address of the server has no query");
  EXPECT_EQ(error_of(task_with(good + ", larges = '1B'")),
            "h.toml:3:68: task.t.input: unknown key \"larges\"; did you mean \"largest\"?");
}

TEST(ConfigInput, is_described_where_there_is_one) {
  const Config config = config_of(task_with(kInput) + "[task.u]\ncommand = ['cat']\n");
  const std::string text = describe(config);
  EXPECT_NE(text.find("input.key = \"{k}\"\n"), std::string::npos) << text;
  EXPECT_NE(text.find("input.retry.cap = \"8s\"\n"), std::string::npos) << text;
  const std::size_t other = text.find("[task.u]");
  EXPECT_EQ(text.substr(other, text.find("\n\n", other) - other).find("input."), std::string::npos)
      << text;
  EXPECT_EQ(config_of(text), config);
}

TEST(ConfigInput, can_change_while_the_server_runs) {
  const Config old = config_of(task_with(kInput));
  const Change change = diff(old, config_of(task_with(std::string(kInput) + ", largest = '1MiB'")));
  EXPECT_EQ(change.reloaded,
            (std::vector<std::string>{"task.t.input.largest: \"1GiB\" -> \"1MiB\""}));
  EXPECT_TRUE(change.needs_restart.empty());
}

}  // namespace
}  // namespace holdfast::config::input_test
