#include "config/config.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "config/config_testing.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::config::config_test {
namespace {

using namespace std::chrono_literals;

constexpr const char* kFile = "/etc/holdfast/holdfast.toml";

Config config_of(std::string_view text, FakeOutside outside = furnished_outside()) {
  auto config = check(text, kFile, outside);
  EXPECT_TRUE(config) << to_error(config.error()).message;
  return config ? *config : Config();
}

constexpr const char* kEverything = R"(
[store]
url            = "sqlite:data/tasks.db"
keep_succeeded = "2h"
keep_canceled  = "3h"
keep_failed    = "4h"
keep_dead      = "forever"
keep_warning   = "5h"
spill          = "spilled"

[http]
listen          = "[::]:9000"
max_payload     = "1MiB"
max_body        = 16777216
max_array       = 10
max_json_depth  = 8
max_connections = 100
header_timeout  = "1s"
body_timeout    = "2s"
idle_timeout    = "3s"
tls_certificate = "server.crt"
tls_key         = "/etc/holdfast/server.key"
public_url      = "https://holdfast.example.org"
insecure        = false

[token.ci]
role   = "submit"
secret = "env:TOKEN"
[token."the operator"]
role = "operate"
hash = "sha256:00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00Ab"
[token.files]
role   = "read"
secret = "file:token"

[log]
level  = "warning"
format = "json"

[shutdown]
grace      = "0s"
stop_grace = "1s"

[engine]
lease = "1m"

[queue.scans]
concurrency = 2
limit       = 3
backlog     = 4
[queue.pulled]
pull = true

[task."scan.file"]
queue      = "scans"
command    = ["./scan", "--fast"]
timeout    = "none"
retry      = { attempts = 7, first = "2s", factor = 1.5, cap = "1m", jitter = "full" }
crashes    = 1
deferrals  = 2
replays    = 0
deadline   = "1h"
dependency = "scanner"
presets    = ["http", "network"]
rules      = "rules.toml"
folder     = "work"
pass       = ["LICENSE", "SCAN_*"]
max_result = "2MiB"

[task.notify]
webhook         = "https://Example.org:8443/hook?key=planted"
secret          = "env:SIGNING"
headers         = { X-Team = "planted-team", Authorization = "env:TOKEN" }
max_response    = "1KiB"
connect_timeout = "1s"

[task.by_hand]
queue = "pulled"
pull  = true

[webhook]
allow         = ["loopback", "10.0.0.0/8"]
user_agent    = "Example/1.0"

[alerts]
webhook      = "env:HOOK"
secret       = "env:SIGNING"
every        = "10s"
over         = "20s"
dead_letters = 5
retry_rate   = 1
timeout_rate = 0.5
min_tasks    = 1
quiet        = "1h"

[events]
keep = 5
)";

TEST(Config, reads_what_the_server_is_told) {
  const Config config = config_of(kEverything);
  const Store store{plain_url("sqlite:/etc/holdfast/data/tasks.db"),
                    2h,
                    3h,
                    4h,
                    std::nullopt,
                    5h,
                    "/etc/holdfast/spilled"};
  EXPECT_EQ(config.store, store);
  EXPECT_EQ(config.http.listen, (Listen{"::", 9000}));
  EXPECT_EQ(config.http.max_payload, 1U << 20);
  EXPECT_EQ(config.http.max_body, 16U << 20);
  EXPECT_EQ(config.http.max_array, 10);
  EXPECT_EQ(config.http.max_json_depth, 8);
  EXPECT_EQ(config.http.max_connections, 100);
  EXPECT_EQ(config.http.header_timeout, 1s);
  EXPECT_EQ(config.http.body_timeout, 2s);
  EXPECT_EQ(config.http.idle_timeout, 3s);
  EXPECT_EQ(config.http.tls_certificate, "/etc/holdfast/server.crt");
  EXPECT_EQ(config.http.tls_key, "/etc/holdfast/server.key");
  EXPECT_EQ(config.http.public_url.text.reveal(), "https://holdfast.example.org");
  EXPECT_EQ(config.log, (Log{Level::warning, LogFormat::json}));
  EXPECT_EQ(config.shutdown, (Shutdown{0s, 1s}));
  EXPECT_EQ(config.engine, Engine{1min});
  EXPECT_EQ(config.events, Events{5});
  const Webhook webhook{{{"127.0.0.0", 8}, {"::1", 128}, {"10.0.0.0", 8}}, "Example/1.0"};
  EXPECT_EQ(config.webhook, webhook);
}

TEST(Config, reads_who_may_use_it) {
  const Config config = config_of(kEverything);
  ASSERT_EQ(config.tokens.size(), 3);
  EXPECT_EQ(config.tokens.at("ci").role, Role::submit);
  EXPECT_EQ(config.tokens.at("ci").secret.reveal(), "planted-token-0123456789");
  EXPECT_EQ(config.tokens.at("ci").secret.source(), "env:TOKEN");
  EXPECT_EQ(config.tokens.at("files").role, Role::read);
  EXPECT_EQ(config.tokens.at("files").secret.reveal(), "planted-in-a-file-0123456789");
  EXPECT_EQ(config.tokens.at("files").secret.source(), "file:/etc/holdfast/token");
  const Token& person = config.tokens.at("the operator");
  EXPECT_EQ(person.role, Role::operate);
  ASSERT_TRUE(person.hash);
  EXPECT_EQ((*person.hash)[0], 0);
  EXPECT_EQ((*person.hash)[1], 0xff);
  EXPECT_EQ((*person.hash)[31], 0xab);
  EXPECT_FALSE(person.secret.is_set());
}

TEST(Config, reads_how_tasks_are_run) {
  const Config config = config_of(kEverything);
  ASSERT_EQ(config.tasks.size(), 3);
  const Task& scan = config.tasks.at("scan.file");
  EXPECT_EQ(scan.run_by(), RunBy::command);
  EXPECT_EQ(scan.command, (std::vector<std::string>{"/etc/holdfast/scan", "--fast"}));
  EXPECT_EQ(scan.queue, "scans");
  EXPECT_EQ(scan.timeout, std::nullopt);
  EXPECT_EQ(scan.retry, (Retry{7, 2s, 1.5, 1min, retry::Jitter::full}));
  EXPECT_EQ(scan.retry.wait().text(),
            retry::exponential({2s, 1.5, 1min, retry::Jitter::full}).text());
  EXPECT_EQ(scan.crashes, 1);
  EXPECT_EQ(scan.deferrals, 2);
  EXPECT_EQ(scan.replays, 0);
  EXPECT_EQ(scan.deadline, 1h);
  EXPECT_EQ(scan.dependency, "scanner");
  EXPECT_EQ(scan.folder, "/etc/holdfast/work");
  EXPECT_EQ(scan.pass, (std::vector<std::string>{"LICENSE", "SCAN_*"}));
  EXPECT_EQ(scan.max_result, 2U << 20);
  EXPECT_EQ(scan.all_rules().front().name, "mine.1") << "before the presets";
  EXPECT_TRUE(Classifier::make(scan.all_rules()));

  const Task& notify = config.tasks.at("notify");
  EXPECT_EQ(notify.run_by(), RunBy::webhook);
  EXPECT_EQ(notify.webhook.text.reveal(), "https://Example.org:8443/hook?key=planted");
  EXPECT_EQ(notify.dependency, "example.org") << "the host, since nothing else is said";
  EXPECT_EQ(notify.secret.reveal(), "whsec_cGxhbnRlZHNlY3JldHBsYW50ZWQhIQ==");
  ASSERT_EQ(notify.headers.size(), 2);
  EXPECT_EQ(notify.headers[0].name, "X-Team");
  EXPECT_EQ(notify.headers[0].value.reveal(), "planted-team");
  EXPECT_EQ(notify.headers[1].value.reveal(), "planted-token-0123456789");
  EXPECT_EQ(notify.max_response, 1024);
  EXPECT_EQ(notify.connect_timeout, 1s);
  EXPECT_EQ(config.tasks.at("by_hand").run_by(), RunBy::pull);
}

TEST(Config, C3_5_dead_letters_are_kept_unless_it_is_said_what_becomes_of_them) {
  const Queue usual;
  EXPECT_EQ(usual.on_dead, OnDead::keep) << "T5";
  EXPECT_EQ(usual.redrive_rounds, 1) << "C3.3";
  EXPECT_EQ(usual.dead_poll, 10s);
  EXPECT_EQ(usual.dead_wait, 10s);
  EXPECT_EQ(usual.dead_batch, 10);
  const Config config = config_of(
      "[queue.q]\non_dead = 'redrive'\nredrive_rounds = 0\ndead_poll = '250ms'\n"
      "dead_wait = '1s'\ndead_batch = 3\n");
  const Queue& queue = config.queues.at("q");
  EXPECT_EQ(queue.on_dead, OnDead::redrive);
  EXPECT_EQ(queue.redrive_rounds, 0);
  EXPECT_EQ(queue.dead_poll, 250ms);
  EXPECT_EQ(queue.dead_wait, 1s);
  EXPECT_EQ(queue.dead_batch, 3);
}

TEST(Config, every_queue_that_a_task_names_is_there) {
  const Config config = config_of(kEverything);
  ASSERT_EQ(config.queues.size(), 3);
  EXPECT_EQ(config.queues.at("scans"), (Queue{2, 3, 4, false}));
  EXPECT_EQ(config.queues.at("default"), Queue()) << "named by notify alone";
  EXPECT_TRUE(config.queues.at("pulled").pull);
  const Config pulled = config_of("[task.a]\npull = true\nqueue = 'q'\n");
  EXPECT_TRUE(pulled.queues.at("q").pull) << "since its task is";
}

TEST(Config, an_empty_file_gives_the_defaults) {
  Config expected;
  expected.store.url = plain_url("sqlite:/etc/holdfast/holdfast.db");  // beside the file
  EXPECT_EQ(config_of(""), expected);
}

TEST(Config, the_store_may_be_on_redis_and_its_url_a_secret) {
  FakeOutside outside = furnished_outside();
  outside.variables["STORE"] = "rediss://ann:planted@tasks.example.org:6380/2?space=shop";
  outside.secret_files["/etc/holdfast/store"] = "redis+sentinel://:planted@a,b/main";
  outside.variables["FILE"] = "sqlite:tasks.db";
  const Config read = config_of("[store]\nurl = 'env:STORE'\n", outside);
  EXPECT_EQ(read.store.url.text.reveal(), outside.variables["STORE"]);
  EXPECT_EQ(read.store.url.shown, "rediss://***@tasks.example.org:6380/2?space=shop");
  EXPECT_EQ(describe(read).find("planted"), std::string::npos);
  EXPECT_NE(describe(read).find("url = \"rediss://***@tasks.example.org:6380/2?space=shop\""),
            std::string::npos);
  EXPECT_EQ(config_of("[store]\nurl = 'file:store'\n", outside).store.url.shown,
            "redis+sentinel://***@a,b/main");
  EXPECT_EQ(config_of("[store]\nurl = 'redis://host'\n").store.url.shown, "redis://host");
  EXPECT_EQ(config_of("[store]\nurl = 'env:FILE'\n", outside).store.url.shown,
            "sqlite:/etc/holdfast/tasks.db");
}

TEST(Config, a_retry_table_may_have_a_header_of_its_own) {
  const Config config = config_of(
      "[task.a]\npull = true\nretry.attempts = 9\n[task.b]\npull = true\n"
      "[task.b.retry]\nfirst = '3s'\n");
  EXPECT_EQ(config.tasks.at("a").retry.attempts, 9);
  EXPECT_EQ(config.tasks.at("b").retry.first, 3s);
}

TEST(Config, a_dependency_may_be_none) {
  EXPECT_EQ(
      config_of("[task.a]\nwebhook = 'http://a.b'\ndependency = ''\n").tasks.at("a").dependency,
      "");
}

TEST(Config, loopback_needs_neither_token_nor_tls) {
  for (const char* listen :
       {"127.0.0.1:0", "127.1.2.3:80", "[::1]:8080", "localhost:1", "[::ffff:127.0.0.1]:8080"}) {
    config_of(std::string("[http]\nlisten = '") + listen + "'\n");
  }
  const Config open = config_of(
      "[http]\nlisten = '0.0.0.0:80'\ninsecure = true\n[token.a]\nrole = 'read'\nsecret = "
      "'env:TOKEN'");
  EXPECT_EQ(open.http.listen.text(), "0.0.0.0:80");
}

TEST(Config, describes_itself_without_secrets) {
  const std::string text = describe(config_of(kEverything));
  EXPECT_EQ(text.find("planted"), std::string::npos) << text;
  EXPECT_EQ(text.find("cGxhbnRlZ"), std::string::npos) << text;
  EXPECT_EQ(text.find("00ff"), std::string::npos) << text;
  for (const char* line :
       {"[token.ci]\nrole = \"submit\"\nsecret = \"*** (env:TOKEN)\"\n", "hash = \"sha256:***\"\n",
        "webhook = \"https://Example.org:8443/hook?***\"\n",
        "headers = { X-Team = \"***\", Authorization = \"***\" }\n",
        "webhook = \"https://hooks.example.org/***\"\n", "[task.\"scan.file\"]\n",
        "retry.attempts = 7\n", "timeout = \"none\"\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\nin\n" << text;
  }
  const std::size_t notify = text.find("[task.notify]");
  EXPECT_EQ(text.substr(notify, text.find("[task.\"scan") - notify).find("max_result"),
            std::string::npos)
      << "which a webhook does not have";
}

TEST(Config, reads_back_what_it_describes) {
  const Config config = config_of(R"(
    [http]
    listen = "[::1]:81"
    [queue."a b"]
    concurrency = 3
    [queue.carried]
    broker = "amqp://mq/"
    kind = "quorum"
    connect.wait = "3s"
    [task."x.y"]
    command = ["cat", "-n\"\\"]
    queue = "a b"
    retry.factor = 1.25
    [task.z]
    webhook = "http://example.org/a"
    [webhook]
    allow = ["loopback", "fd00::/8"]
  )");
  EXPECT_EQ(config_of(describe(config)), config);
  EXPECT_EQ(config_of(describe(config_of(""))), config_of(""));
}

TEST(Config, reads_a_file_and_what_stands_beside_it) {
  const holdfast::testing::TemporaryFolder folder;
  const std::string path = folder / "holdfast.toml";
  const std::string secret = folder / "token";
  std::ofstream(path) << "[token.a]\nrole = 'read'\nsecret = 'file:token'\n";
  std::ofstream(secret) << "0123456789abcdef0\n";
  std::filesystem::permissions(secret, std::filesystem::perms(0600));
  const auto config = read(path);
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->tokens.at("a").secret.reveal(), "0123456789abcdef0");
  EXPECT_EQ(config->store.url.text.reveal(), "sqlite:" + (folder / "holdfast.db"));

  std::ofstream(path) << "[htp]\n";
  const auto wrong = read(path);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(wrong.error().text(),
            "read configuration: " + path + ":1:2: unknown table \"htp\"; did you mean \"http\"?");
  const auto missing = read(folder / "nothing.toml");
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_EQ(missing.error().text(),
            "read configuration: " + (folder / "nothing.toml") + ": No such file or directory");
  EXPECT_EQ(read(folder.path()).error().code, ErrorCode::invalid_argument);
  std::ofstream(path) << std::string((4 << 20) + 1, '\n');
  EXPECT_EQ(read(path).error().code, ErrorCode::exhausted);
}

}  // namespace
}  // namespace holdfast::config::config_test
