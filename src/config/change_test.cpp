#include "config/change.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config_testing.hpp"

namespace holdfast::config::change_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Config config_of(std::string_view text, FakeOutside outside = furnished_outside()) {
  auto config = check(text, "/etc/holdfast/holdfast.toml", outside);
  EXPECT_TRUE(config) << to_error(config.error()).message;
  return config ? *config : Config();
}

TEST(Change, is_empty_between_the_same) {
  const Config config =
      config_of("[task.a]\npull = true\n[token.t]\nrole='read'\nsecret='env:TOKEN'");
  const Change change = diff(config, config);
  EXPECT_TRUE(change.is_empty());
  EXPECT_EQ(change.config, config);
}

TEST(Change, says_what_takes_hold) {
  const Config old = config_of(
      "[queue.q]\nconcurrency = 16\n[task.'a.b']\ncommand = ['cat']\n[task.gone]\ncommand = "
      "['cat']\n"
      "[alerts]\nwebhook = 'https://a/?planted'\n");
  const Config now = config_of(
      "[log]\nlevel = 'debug'\n[queue.q]\nconcurrency = 32\n"
      "[task.'a.b']\nwebhook = 'https://a/'\nretry.attempts = 9\n"
      "[task.fresh]\ncommand = ['cat']\n");
  const Change change = diff(old, now);
  EXPECT_THAT(
      change.reloaded,
      ElementsAre("log.level: \"info\" -> \"debug\"", "queue.q.concurrency: 16 -> 32",
                  "task.gone: removed", "task.\"a.b\".command: [\"cat\"] -> nothing",
                  "task.\"a.b\".webhook: nothing -> \"https://a/\"",
                  "task.\"a.b\".retry.attempts: 4 -> 9", "task.\"a.b\".dependency: \"\" -> \"a\"",
                  "task.fresh: added", "alerts.webhook: \"https://a/?***\" -> nothing"));
  EXPECT_THAT(change.needs_restart, IsEmpty());
  EXPECT_EQ(change.config, now);
}

TEST(Change, keeps_what_needs_a_restart) {
  const Config old = config_of("[http]\nmax_array = 10\n");
  const Config now = config_of(
      "[store]\nurl = 'sqlite:other.db'\n[http]\nlisten = '127.0.0.1:9000'\nmax_array = 10\n"
      "tls_certificate = 'server.crt'\ntls_key = 'server.key'\n[log]\nlevel = 'error'\n");
  const Change change = diff(old, now);
  EXPECT_THAT(change.needs_restart,
              ElementsAre("store.url: \"sqlite:/etc/holdfast/holdfast.db\" -> "
                          "\"sqlite:/etc/holdfast/other.db\"",
                          "http.listen: \"127.0.0.1:8080\" -> \"127.0.0.1:9000\"",
                          "http.tls_certificate: nothing -> \"/etc/holdfast/server.crt\"",
                          "http.tls_key: nothing -> \"/etc/holdfast/server.key\""));
  EXPECT_THAT(change.reloaded, ElementsAre("log.level: \"info\" -> \"error\""));
  Config held = old;
  held.log.level = Level::error;
  EXPECT_EQ(change.config, held);
  EXPECT_EQ(diff(change.config, now).needs_restart.size(), 4) << "and says so again next time";
}

TEST(Change, tells_no_secret) {
  FakeOutside later = furnished_outside();
  later.variables["TOKEN"] = "planted-changed-0123456789";
  const char* text =
      "[token.t]\nrole = 'read'\nsecret = 'env:TOKEN'\n[task.a]\nwebhook = 'http://a'\n"
      "headers = { X = 'env:TOKEN' }\n";
  const Change change = diff(config_of(text), config_of(text, later));
  EXPECT_THAT(change.reloaded, ElementsAre("token.t.secret: changed", "task.a.headers: changed"));
  EXPECT_EQ(change.config.tokens.at("t").secret.reveal(), "planted-changed-0123456789");
}

TEST(Change, sees_a_rule_file_with_another_content) {
  FakeOutside later = furnished_outside();
  later.rule_files["/etc/holdfast/rules.toml"] = "[[rule]]\nstatus = 419\nverdict = 'give up'\n";
  const char* text = "[task.a]\npull = true\nrules = 'rules.toml'\n";
  EXPECT_THAT(diff(config_of(text), config_of(text, later)).reloaded,
              ElementsAre("task.a.rules: changed"));
}

}  // namespace
}  // namespace holdfast::config::change_test
