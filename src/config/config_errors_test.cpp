#include <array>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include "config/config.hpp"
#include "config/config_testing.hpp"

namespace holdfast::config::config_errors_test {
namespace {

std::string errors_of(std::string_view text) {
  FakeOutside outside = furnished_outside();
  const auto config = check(text, "/etc/holdfast/h.toml", outside);
  EXPECT_FALSE(config) << text;
  if (config) return "";
  std::string all;
  for (const Problem& problem : config.error()) {
    const std::string line = problem.text();
    EXPECT_TRUE(line.starts_with("/etc/holdfast/h.toml:")) << line;
    EXPECT_EQ(line.find("planted"), std::string::npos) << "a secret: " << line;
    EXPECT_GT(problem.place.line, 0) << line;
    all += (all.empty() ? "" : "\n") + line.substr(std::string("/etc/holdfast/").size());
  }
  return all;
}

struct BadFile {
  const char* text;
  const char* message;
};

void expect_errors(std::span<const BadFile> rows) {
  for (const BadFile& row : rows)
    EXPECT_EQ(errors_of(row.text), row.message) << row.text;
}

TEST(ConfigErrors, a_broker_is_named_well_and_keeps_its_password_to_itself) {
  expect_errors(std::array<BadFile, 14>{{
      {"[queue.a]\ndead_letter = 'x'\n",
       "h.toml:2:15: queue.a.dead_letter: this is about a queue that a broker carries, and no "
       "broker is given; add broker = \"amqp://…\", or remove it"},
      {"[queue.a]\nbroker = 'http://u:hunter2@x'\n",
       "h.toml:2:10: queue.a.broker: a broker's URL begins with amqp://, amqps:// or sqs://"},
      {"[queue.a]\nbroker = 'amqp://u:hunter2@x/v/q'\n",
       "h.toml:2:10: queue.a.broker: a virtual host with a slash in it is written %2f, and no "
       "queue follows it"},
      {"[queue.a]\nbroker = 'amqp://u:hunter2@x:99999/'\n",
       "h.toml:2:10: queue.a.broker: the port is a number from 1 to 65535"},
      {"[queue.a]\nbroker = 'amqp://u:hunter2@x,y:99999/'\n",
       "h.toml:2:10: queue.a.broker: the port is a number from 1 to 65535"},
      {"[queue.a]\nbroker = 'amqp://x,/'\n",
       "h.toml:2:10: queue.a.broker: the host is missing, or cannot be one"},
      {"[queue.a]\nbroker = 'amqp://x'\ndead_letter = 'a'\n",
       "h.toml:3:15: queue.a.dead_letter: the dead letters of a queue cannot go into itself"},
      {"[queue.a]\nbroker = 'sqs://'\n",
       "h.toml:2:10: queue.a.broker: a queue at SQS is sqs://region/queue, as in "
       "sqs://eu-west-1/orders"},
      {"[queue.a]\nbroker = 'sqs://r/a.b'\n",
       "h.toml:2:10: queue.a.broker: the name of a queue at SQS has letters, digits, - and _, at "
       "most 80, and .fifo at its end if it is one"},
      {"[queue.'a.b']\nbroker = 'sqs://r'\n",
       "h.toml:2:10: queue.\"a.b\".broker: SQS cannot have a queue of this name: letters, digits, "
       "- "
       "and _; name another after the region: sqs://region/queue"},
      {"[queue.a]\nbroker = 'sqs://r/b'\nkind = 'quorum'\n",
       "h.toml:3:8: queue.a.kind: this is about a queue at RabbitMQ; remove it"},
      {"[queue.a]\nbroker = 'amqp://x'\nvisibility = '1m'\n",
       "h.toml:3:14: queue.a.visibility: this is about a queue at SQS; remove it"},
      {"[queue.a]\nbroker = 'sqs://r/b'\ndead_letter = 'b'\n",
       "h.toml:3:15: queue.a.dead_letter: the dead letters of a queue cannot go into itself"},
      {"[queue.'amq.a']\nbroker = 'amqp://x'\n",
       "h.toml:2:10: queue.\"amq.a\".broker: RabbitMQ cannot have a queue of this name: at most "
       "200 "
       "bytes, and not \"amq.\" at its beginning"},
  }});
}

TEST(ConfigErrors, unknown_names_are_found_and_the_right_ones_offered) {
  expect_errors(std::array<BadFile, 14>{{
      {"[htpp]\n", "h.toml:1:2: unknown table \"htpp\"; did you mean \"http\"?"},
      {"\n[cellar]\nx = 1\n",
       "h.toml:2:2: unknown table \"cellar\"; known are store, http, token, log, shutdown, engine, "
       "queue, task, webhook, inputs, alerts, events, aws, "
       "broker, recover, route"},
      {"listen = 'x'\n", "h.toml:1:1: unknown key \"listen\"; it belongs into [http]"},
      {"[http]\n\nlisen = 'x'\n",
       "h.toml:3:1: http: unknown key \"lisen\"; did you mean \"listen\"?"},
      {"[log]\nurl = 'x'\n", "h.toml:2:1: log: unknown key \"url\"; it belongs into [store]"},
      {"[log]\nzzzzzzz = 'x'\n",
       "h.toml:2:1: log: unknown key \"zzzzzzz\"; known are level, format"},
      {"[queue.a]\nconcurency = 1\n",
       "h.toml:2:1: queue.a: unknown key \"concurency\"; did you mean \"concurrency\"?"},
      {"[task.a]\npull = true\nretry = { atempts = 1 }\n",
       "h.toml:3:11: task.a.retry: unknown key \"atempts\"; did you mean \"attempts\"?"},
      {"[task.a]\npull = true\n[task.a.retri]\nfirst = '1s'\n",
       "h.toml:3:9: task.a: unknown key \"retri\"; did you mean \"retry\"?"},
      {"[task.a]\npull = true\n\"retry.first\" = '1s'\n",
       "h.toml:3:1: task.a: unknown key \"retry.first\"; it belongs into [task.NAME]"},
      {"[task.scan.file]\ncommand = ['cat']\n",
       "h.toml:1:12: task.scan: unknown key \"file\"; a name with a dot stands in quotes: "
       "[task.\"scan.file\"]"},
      {"[log]\nlevel = 'inf'\n",
       "h.toml:2:9: log.level: unknown level \"inf\"; did you mean \"info\"?"},
      {"[log]\nformat = 'xml'\n",
       "h.toml:2:10: log.format: unknown format \"xml\"; known are auto, text, json"},
      {"[token.a]\nrole = 'sumbit'\nsecret = 'env:TOKEN'\n",
       "h.toml:2:8: token.a.role: unknown role \"sumbit\"; did you mean \"submit\"?"},
  }});
}

TEST(ConfigErrors, tables_are_written_as_tables) {
  expect_errors(std::array<BadFile, 8>{{
      {"[[http]]\n", "h.toml:1:3: http: this is a table that is there once; write [http]"},
      {"http = 1\n", "h.toml:1:1: http: this is a table that is there once; write [http]"},
      {"[[token]]\nrole = 'read'\n",
       "h.toml:1:3: token: this is a table for each name; write [token.NAME]"},
      {"[token]\nrole = 'read'\n",
       "h.toml:2:1: token: \"role\" stands in a table without a name; write [token.NAME]"},
      {"[queue.'']\n",
       "h.toml:1:8: queue.\"\": a name has at least one letter, and no control characters"},
      {"[queue.\"a\\nb\"]\n",
       "h.toml:1:8: queue.\"a\\nb\": a name has at least one letter, and no control characters"},
      {"[task.a]\npull = true\nretry = 3\n",
       "h.toml:3:9: task.a.retry: this must be a table; write retry = { key = value }"},
      {"[task.a]\nwebhook = 'http://a'\nheaders = 'x'\n",
       "h.toml:3:11: task.a.headers: headers are a table; write { X-Name = \"value\" }"},
  }});
}

TEST(ConfigErrors, values_have_their_type_and_their_range) {
  expect_errors(std::array<BadFile, 40>{{
      {"[http]\nmax_array = '3'\n",
       "h.toml:2:13: http.max_array: this must be a whole number, and is text"},
      {"[http]\nmax_array = 1.5\n",
       "h.toml:2:13: http.max_array: this must be a whole number, and is a number"},
      {"[http]\nmax_array = 0\n",
       "h.toml:2:13: http.max_array: 0 is out of range; from 1 to 100000"},
      {"[http]\nmax_array = 9223372036854775807\n",
       "h.toml:2:13: http.max_array: 9223372036854775807 is out of range; from 1 to 100000"},
      {"[http]\ninsecure = 1\n",
       "h.toml:2:12: http.insecure: this must be true or false, and is a whole number"},
      {"[http]\nidle_timeout = 30\n",
       "h.toml:2:16: http.idle_timeout: a duration has a unit, and stands in quotes; \"30s\"?"},
      {"[http]\nidle_timeout = 2020-01-01\n",
       "h.toml:2:16: http.idle_timeout: this must be a duration in quotes, such as \"30s\", and is "
       "a "
       "date or time"},
      {"[http]\nidle_timeout = '10 secs'\n",
       "h.toml:2:16: http.idle_timeout: \"10 secs\": unknown unit \"secs\" at offset 3; use ns, "
       "us, ms, "
       "s, m, h or d"},
      {"[http]\nidle_timeout = '2h'\n",
       "h.toml:2:16: http.idle_timeout: 2h is out of range; from 100ms to 1h"},
      {"[http]\nmax_body = true\n",
       "h.toml:2:12: http.max_body: this must be a size in quotes, such as \"256KiB\", and is true "
       "or "
       "false"},
      {"[http]\nmax_body = -1\n", "h.toml:2:12: http.max_body: a size is not negative"},
      {"[http]\nmax_body = '2TiB'\n",
       "h.toml:2:12: http.max_body: 2TiB is out of range; from 1KiB to 1GiB"},
      {"[http]\nmax_body = '1KiB'\n",
       "h.toml:2:12: http.max_body: a payload of 256KiB cannot come in a body of 1KiB; make "
       "max_body "
       "larger"},
      {"[store]\nkeep_dead = 'for ever'\n",
       "h.toml:2:13: store.keep_dead: \"for ever\": expected a number at offset 0; or \"forever\""},
      {"[store]\nkeep_warning = '0s'\n",
       "h.toml:2:16: store.keep_warning: 0s is out of range; from 1s to 3650d, or \"auto\""},
      {"[store]\nkeep_dead = true\n",
       "h.toml:2:13: store.keep_dead: this must be a duration in quotes, such as \"30s\", or "
       "\"forever\", and is true or false"},
      {"[task.a]\npull = true\ntimeout = '0s'\n",
       "h.toml:3:11: task.a.timeout: 0s is out of range; from 1ms to 30d, or \"none\""},
      {"[task.a]\npull = true\nretry.factor = nan\n",
       "h.toml:3:16: task.a.retry.factor: nan is out of range; from 1 to 1000"},
      {"[task.a]\npull = true\nretry.factor = '2'\n",
       "h.toml:3:16: task.a.retry.factor: this must be a number, and is text"},
      {"[alerts]\nretry_rate = 20\n",
       "h.toml:2:14: alerts.retry_rate: 20 is out of range; from 0 to 1"},
      {"[store]\nurl = ''\n",
       "h.toml:2:7: store.url: this is empty; leave the key out if there is nothing to say"},
      {"[store]\nurl = 'postgres://x'\n",
       "h.toml:2:7: store.url: this is no place for tasks that is known here; write "
       "\"sqlite:PATH\" for a file, \"redis://HOST:PORT\" for Redis, or \"memory:NAME\" in tests"},
      {"[store]\nurl = 'redis://:planted@host:x'\n",
       "h.toml:2:7: store.url: the port is a number from 1 to 65535"},
      {"[store]\nurl = 'redis://:planted@'\n",
       "h.toml:2:7: store.url: the host is missing, or cannot be one"},
      {"[store]\nurl = 'redis://planted@host'\n",
       "h.toml:2:7: store.url: a password is written user:password@host, or :password@host without "
       "a user"},
      {"[store]\nurl = 'redis://:planted@host/tasks'\n",
       "h.toml:2:7: store.url: behind the host comes the number of a database"},
      {"[store]\nurl = 'redis://:planted@a,b'\n",
       "h.toml:2:7: store.url: several hosts are those of sentinels: redis+sentinel://"},
      {"[store]\nurl = 'redis+sentinel://:planted@a,b'\n",
       "h.toml:2:7: store.url: behind the sentinels comes the name of their master: "
       "redis+sentinel://host,host/master"},
      {"[store]\nurl = 'redis://:planted@host?space=a&planted=1'\n",
       "h.toml:2:7: store.url: behind the ? only space=NAME and ca=FILE are known; in a password "
       "it is %3f"},
      {"[store]\nurl = 'rediss://:planted@host?ca=ca.pem'\n",
       "h.toml:2:7: store.url: the file of ?ca= is named from the root: ?ca=/PATH"},
      {"[store]\nurl = \"sqlite:a\\u0000b\"\n",
       "h.toml:2:7: store.url: control characters and other invisible letters have no place here"},
      {"[webhook]\nuser_agent = ''\n",
       "h.toml:2:14: webhook.user_agent: this goes into a header: printable ASCII, and at least "
       "one "
       "letter"},
      {"[webhook]\nallow = '10.0.0.0/8'\n",
       "h.toml:2:9: webhook.allow: this must be a list of texts, in brackets, and is text"},
      {"[webhook]\nallow = [\n  'loopback', 3]\n",
       "h.toml:3:15: webhook.allow: this must be text in quotes, and is a whole number"},
      {"[webhook]\nallow = ['::1',\n  '10.1.2.3/8']\n",
       "h.toml:3:3: webhook.allow: \"10.1.2.3/8\": bits are set beyond the first 8: write "
       "10.0.0.0/8 for "
       "the network, or 10.1.2.3 for the one address"},
      {"[http]\nlisten = '8080'\n",
       "h.toml:2:10: http.listen: \"8080\": a port is missing: write 127.0.0.1:8080"},
      {"[http]\npublic_url = 'holdfast.example.org'\n",
       "h.toml:2:14: http.public_url: a URL begins with https:// or http://"},
      {"[task.a]\npull = true\nqueue = ''\n",
       "h.toml:3:9: task.a.queue: this is empty: a name has at least one letter"},
      {"[task.a]\npull = true\npresets = ['http', 'netwrok']\n",
       "h.toml:3:20: task.a.presets: unknown preset \"netwrok\"; did you mean \"network\"?"},
      {"[task.a]\ncommand = ['cat']\npass = ['A=1']\n",
       "h.toml:3:9: task.a.pass: \"A=1\" cannot be the name of an environment variable (one that "
       "ends "
       "in * stands for all that begin so)"},
  }});
}

TEST(ConfigErrors, secrets_stand_outside_of_the_file) {
  expect_errors(std::array<BadFile, 17>{{
      {"[token.a]\nrole = 'read'\nsecret = 'planted-0123456789'\n",
       "h.toml:3:10: token.a.secret: secrets do not belong into this file; write \"env:NAME\" or "
       "\"file:PATH\""},
      {"[token.a]\nrole = 'read'\nsecret = 'env:MISSING'\n",
       "h.toml:3:10: token.a.secret: the environment variable \"MISSING\" is not set; set it where "
       "the "
       "server is started, or write \"file:PATH\""},
      {"[token.a]\nrole = 'read'\nsecret = 'env:EMPTY'\n",
       "h.toml:3:10: token.a.secret: the environment variable \"EMPTY\" is empty; set it where the "
       "server is started, or write \"file:PATH\""},
      {"[token.a]\nrole = 'read'\nsecret = 'env:'\n",
       "h.toml:3:10: token.a.secret: the environment variable \"\" is not set; set it where the "
       "server "
       "is started, or write \"file:PATH\""},
      {"[token.a]\nrole = 'read'\nsecret = 'file:none'\n",
       "h.toml:3:10: token.a.secret: /etc/holdfast/none: No such file or directory"},
      {"[token.a]\nrole = 'read'\nsecret = 'file:empty'\n",
       "h.toml:3:10: token.a.secret: /etc/holdfast/empty: this file is empty"},
      {"[token.a]\nrole = 'read'\nsecret = 'env:SHORT'\n",
       "h.toml:3:10: token.a.secret: this secret has 15 bytes: 16 are the least"},
      {"[token.a]\nrole = 'read'\nsecret = 'env:SPACED'\n",
       "h.toml:3:10: token.a.secret: a token has only letters, digits and signs of ASCII, or no "
       "client "
       "could send it"},
      {"[task.a]\nwebhook = 'http://a'\nsecret = 'env:BAD_SIGNING'\n",
       "h.toml:3:10: task.a.secret: after whsec_ this is not base64"},
      {"[task.a]\nwebhook = 'http://a'\nsecret = 'env:SHORT_SIGNING'\n",
       "h.toml:3:10: task.a.secret: this secret has 7 bytes: 16 are the least"},
      {"[task.a]\nwebhook = 'http://a'\nheaders = { Authorization = 'Bearer planted' }\n",
       "h.toml:3:29: task.a.headers.Authorization: secrets do not belong into this file; write "
       "\"env:NAME\" or \"file:PATH\""},
      {"[task.a]\nwebhook = 'http://a'\nheaders = { X-A = 'env:TWO_LINES' }\n",
       "h.toml:3:19: task.a.headers.X-A: the value of a header has no line breaks and no control "
       "characters"},
      {"[task.a]\nwebhook = 'http://a'\nheaders = { Webhook-Id = 'x' }\n",
       "h.toml:3:13: task.a.headers: the header \"Webhook-Id\" is set by Holdfast itself"},
      {"[task.a]\nwebhook = 'http://a'\nheaders = { 'X A' = 'x' }\n",
       "h.toml:3:13: task.a.headers: \"X A\" cannot be the name of a header"},
      {"[task.a]\nwebhook = 'https://me:planted@example.org/'\n",
       "h.toml:2:11: task.a.webhook: a user or a password does not belong into a URL: put it into "
       "a "
       "header, from env: or file:"},
      {"[task.a]\nwebhook = 'env:NO_URL'\n",
       "h.toml:2:11: task.a.webhook: a URL begins with https:// or http://"},
      {"[token.a]\nrole = 'read'\nhash = 'sha256:12'\n",
       "h.toml:3:8: token.a.hash: a hash is sha256: and 64 hexadecimal digits; printf %s "
       "\"$TOKEN\" | "
       "sha256sum prints the digits"},
  }});
}

TEST(ConfigErrors, what_does_not_go_together_is_found) {
  expect_errors(std::array<BadFile, 24>{{
      {"[http]\ntls_key = 'server.key'\n",
       "h.toml:2:11: http.tls_key: tls_certificate is missing: give both"},
      {"[http]\ntls_certificate = 'server.crt'\n",
       "h.toml:2:19: http.tls_certificate: tls_key is missing: give both"},
      {"[http]\ntls_certificate = 'server.crt'\ntls_key = 'none.key'\n",
       "h.toml:3:11: http.tls_key: /etc/holdfast/none.key: No such file or directory"},
      {"[http]\nlisten = '0.0.0.0:80'\n",
       "h.toml:2:10: http.listen: other machines can reach this address, and there is no TLS; set "
       "tls_certificate and tls_key, or insecure = true if a proxy in front does TLS\n"
       "h.toml:2:10: http.listen: other machines can reach this address, and there is no token; "
       "add a "
       "[token.NAME], or listen on 127.0.0.1"},
      {"[http]\nlisten = '[::]:80'\ninsecure = true\n",
       "h.toml:2:10: http.listen: other machines can reach this address, and there is no token; "
       "add a "
       "[token.NAME], or listen on 127.0.0.1"},
      {"[http]\nlisten = '10.0.0.1:80'\n[token.a]\nrole = 'read'\nsecret = 'env:TOKEN'\n",
       "h.toml:2:10: http.listen: other machines can reach this address, and there is no TLS; set "
       "tls_certificate and tls_key, or insecure = true if a proxy in front does TLS"},
      {"[token.a]\nrole = 'read'\n",
       "h.toml:1:1: token.a: a token needs a hash or a secret; write hash = \"sha256:…\" or secret "
       "= "
       "\"env:NAME\""},
      {"[token.a]\nsecret = 'env:TOKEN'\n", "h.toml:1:1: token.a: role is missing"},
      {"[token.a]\nrole = 'read'\nsecret = 'env:TOKEN'\nhash = "
       "'sha256:0000000000000000000000000000000000000000000000000000000000000000'\n",
       "h.toml:4:8: token.a.hash: hash and secret are both given: one of them will do"},
      {"[token.a]\nrole = 'read'\nsecret = 'env:TOKEN'\n[token.b]\nrole = 'operate'\nsecret = "
       "'env:TOKEN'\n",
       "h.toml:6:10: token.b.secret: this is the same token as token.a, so its role is not clear"},
      {"[task.a]\ntimeout = '1s'\n",
       "h.toml:1:1: task.a: nothing says how these tasks are run; give one of command = "
       "[\"program\"], "
       "webhook = \"https://…\" and pull = true"},
      {"[task.a]\ncommand = ['cat']\nwebhook = 'http://a'\npull = true\n",
       "h.toml:3:11: task.a.webhook: these tasks are run in 3 ways (command webhook pull): one "
       "will do"},
      {"[task.a]\npull = 1\n",
       "h.toml:2:8: task.a.pull: this must be true or false, and is a whole number"},
      {"[task.a]\nwebhook = 'http://a'\nfolder = 'work'\n",
       "h.toml:3:10: task.a.folder: this belongs to tasks with a command, and this one has a "
       "webhook"},
      {"[task.a]\npull = true\nmax_response = '1KiB'\n",
       "h.toml:3:16: task.a.max_response: this belongs to tasks with a webhook, and this one has "
       "pull "
       "= true"},
      {"[task.a]\npull = true\nretry = { first = '10m' }\n",
       "h.toml:3:19: task.a.retry.first: the first wait, 10m, is longer than the cap, 5m"},
      {"[task.a]\ncommand = 'cat x'\n",
       "h.toml:2:11: task.a.command: a command is a list, and no shell reads it; write "
       "[\"program\", "
       "\"argument\"]"},
      {"[task.a]\ncommand = []\n", "h.toml:2:11: task.a.command: a command begins with a program"},
      {"[task.a]\ncommand = ['./none']\n",
       "h.toml:2:12: task.a.command: /etc/holdfast/none: No such file or directory"},
      {"[task.a]\npull = true\nrules = 'bad.toml'\n",
       "h.toml:3:9: task.a.rules: /etc/holdfast/bad.toml:1:1: unknown key \"usee\"; did you mean "
       "\"use\"?"},
      {"[task.a]\npull = true\nrules = 'uses_http.toml'\n",
       "h.toml:3:9: task.a.rules: there are two rules \"http.throttled\"; name each preset once, "
       "here "
       "or as `use` in the rule file"},
      {"[alerts]\nsecret = 'env:SIGNING'\n",
       "h.toml:2:10: alerts.secret: there is nothing to sign: webhook is missing"},
      {"[alerts]\nevery = '10m'\n",
       "h.toml:2:9: alerts.every: looked at every 10m, 5m would leave gaps; make over no shorter "
       "than "
       "every"},
      {"[a]\nx = 1\n[a]\n",
       "h.toml:3:1: Error while parsing table header: cannot redefine existing table 'a'"},
  }});
}

TEST(ConfigErrors, a_queue_is_pulled_or_it_is_not) {
  expect_errors(std::array<BadFile, 3>{{
      {"[task.b]\npull = true\n[task.a]\ncommand = ['cat']\n",
       "h.toml:3:1: task.a: the queue \"default\" has tasks that are pulled (task.b) and tasks "
       "that are "
       "not (task.a); give one of them another queue"},
      {"[queue.q]\npull = true\n[task.a]\nwebhook = 'http://a'\nqueue = 'q'\n",
       "h.toml:2:8: queue.q.pull: the queue is pulled, and task.a has a webhook; give that task "
       "another "
       "queue"},
      {"[queue.q]\npull = false\n[task.a]\npull = true\nqueue = 'q'\n",
       "h.toml:2:8: queue.q.pull: the queue is not pulled, and task.a is; leave this key out, or "
       "give "
       "that task another queue"},
  }});
}

TEST(ConfigErrors, what_is_not_toml_is_said_without_its_text) {
  for (const char* text :
       {"[token.a]\nsecret = planted-0123456789\n", "[token.a]\nsecret = 'planted-0123456789\n",
        "[token.a]\nsecret planted\n", "[token.a]\nsecret = \"planted\\q\"\n"}) {
    EXPECT_TRUE(errors_of(text).starts_with("h.toml:2:")) << errors_of(text);
  }
}

TEST(ConfigErrors, all_of_them_come_at_once_in_the_order_of_the_file) {
  EXPECT_EQ(
      errors_of("[log]\nlevel = 3\nfromat = 'json'\n[http]\nlisten = '*:80'\nmax_array = -1\n"),
      "h.toml:2:9: log.level: this must be text in quotes, and is a whole number\n"
      "h.toml:3:1: log: unknown key \"fromat\"; did you mean \"format\"?\n"
      "h.toml:5:10: http.listen: \"*:80\": for all addresses, write 0.0.0.0:80 or [::]:80\n"
      "h.toml:6:13: http.max_array: -1 is out of range; from 1 to 100000");
}

TEST(ConfigErrors, of_brokers_say_what_does_not_belong_there) {
  expect_errors(std::array<BadFile, 4>{{
      {"[broker.a]\nqueues = ['x']\n", "h.toml:1:1: broker.a: url is missing"},
      {"[broker.a]\nurl = 'amqp://u:planted@h/v/q'\n",
       "h.toml:2:7: broker.a.url: a virtual host with a slash in it is written %2f, and no queue "
       "follows it"},
      {"[broker.a]\nurl = 'amqp://h'\nendpoint = 'http://e'\nqueues = []\n",
       "h.toml:3:12: broker.a.endpoint: this is about SQS, and the broker is not there; remove it\n"
       "h.toml:4:10: broker.a.queues: no queue would be shown; give patterns, such as "
       "[\"*.dlq\"]"},
      {"[broker.a]\nurl = 'sqs://r'\nmanagement = 'http://e'\n",
       "h.toml:3:14: broker.a.management: this is about RabbitMQ, and the broker is SQS; remove "
       "it"},
  }});
}

TEST(Config, a_broker_hides_its_password_and_shows_the_usual_queues) {
  FakeOutside outside = furnished_outside();
  outside.variables["BROKER"] = "amqp://u:planted@h";
  const auto config = check("[broker.a]\nurl = 'env:BROKER'\n", "h.toml", outside);
  ASSERT_TRUE(config) << to_error(config.error()).message;
  EXPECT_EQ(config->brokers.at("a").queues,
            (std::vector<std::string>{"*.dlq", "*-dlq", "*-dlq.fifo"}));
  EXPECT_EQ(describe(*config).find("planted"), std::string::npos);
  EXPECT_NE(describe(*config).find("amqp://***@h"), std::string::npos);
}

TEST(ConfigErrors, of_recoveries_say_what_is_missing_and_nothing_of_a_password) {
  expect_errors(std::array<BadFile, 6>{{
      {"[recover.a]\nfrom = 'amqp://h/%2f/q'\nto = 'x'\n",
       "h.toml:1:1: recover.a: nothing says when this is run; give on_start = true or every = "
       "\"1h\""},
      {"[recover.a]\nfrom = 'amqp://h/%2f/q'\non_start = true\n",
       "h.toml:1:1: recover.a: nothing says where messages go; give one of map = \"FILE\", "
       "to_origin = \"queue\" and to = \"QUEUE\"; or only park"},
      {"[recover.a]\nfrom = 'amqp://h/%2f/q'\non_start = true\nto = 'x'\nto_origin = 'queue'\n",
       "h.toml:4:6: recover.a.to: messages go one way: map, to_origin or to"},
      {"[recover.a]\nfrom = 'amqp://h/%2f/q'\non_start = true\nto = 'x'\nexchange = 'e'\n",
       "h.toml:5:12: recover.a.exchange: this is where the routing keys of a map go, and there is "
       "none"},
      {"[recover.a]\nfrom = 'redis://u:planted@h/q'\non_start = true\nto = 'x'\n",
       "h.toml:2:8: recover.a.from: a broker's URL begins with amqp://, amqps:// or sqs://"},
      {"[recover.a]\nfrom = 'amqp://h/%2f/q'\non_start = true\nto = 'x'\nfilter = ['age']\n",
       "h.toml:5:11: recover.a.filter: position 1, at \"age\": a condition is NAME=VALUE, or with "
       "!=, ~, <, >, <=, >=, =~ or !~"},
  }});
}

TEST(Config, V10_a_recovery_has_its_limits_and_hides_its_password) {
  FakeOutside outside = furnished_outside();
  outside.variables["DLQ"] = "amqp://u:planted@h/%2f/q";
  const auto config = check(R"(
[recover.a]
from = "env:DLQ"
to_origin = "exchange"
every = "1h"
[recover.b]
from = "amqp://u:planted@h,h2:5673,[::1]/%2f/q"
to = "x"
on_start = true
)",
                            "h.toml", outside);
  ASSERT_TRUE(config) << to_error(config.error()).message;
  const Recover& a = config->recoveries.at("a");
  EXPECT_EQ(a.from.text.reveal(), "amqp://u:planted@h/%2f/q");
  EXPECT_EQ(a.to_origin, Origin::exchange);
  EXPECT_EQ(a.total, std::chrono::minutes(30));
  const std::string text = describe(*config);
  EXPECT_EQ(text.find("planted"), std::string::npos) << text;
  EXPECT_NE(text.find("amqp://***@h/%2f/q"), std::string::npos) << text;
  EXPECT_NE(text.find("amqp://***@h,h2:5673,[::1]/%2f/q"), std::string::npos) << text;
}

}  // namespace
}  // namespace holdfast::config::config_errors_test
