#include "config/checks.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "config/keys.hpp"
#include "config/route_checks.hpp"
#include "core/json_text.hpp"
#include "core/units.hpp"

namespace holdfast::config {
namespace {

std::string_view name_of(RunBy how) {
  switch (how) {
    case RunBy::command: return "a command";
    case RunBy::webhook: return "a webhook";
    case RunBy::pull: return "pull = true";
  }
  return "";
}

class Checks {
 public:
  Checks(Reading& reading, Config& config) : reading_(reading), config_(config) {}

  void check_store();
  void check_http();
  void check_tokens();
  void check_tasks();
  void check_queues();
  void check_aws() { (void)check_credentials("aws"); }
  void check_alerts();
  void check_brokers();
  void check_recoveries();

 private:
  void check_task(const std::string& path, Task& task);
  void check_handler(const std::string& path, const Task& task);
  void check_rules(const std::string& path, const Task& task);
  void check_input(const std::string& path, Task& task);
  [[nodiscard]] bool check_credentials(const std::string& path);
  void find_credentials(const std::string& path, Input& input);
  void check_queue(const std::string& name, Queue& queue);
  void check_broker(const std::string& path, const std::string& name, const Queue& queue);
  void check_sqs(const std::string& path, const std::string& name, const Queue& queue);

  [[nodiscard]] bool has(std::string_view path, std::string_view name) const {
    return reading_.has(join_key(path, name));
  }
  // Something was said of this key already, so what else seems wrong may only follow from it.
  [[nodiscard]] bool is_wrong(const std::string& key) const {
    return std::ranges::find(reading_.problems, key, &Problem::key) != reading_.problems.end();
  }
  // At the first of these keys that was given, or else at their table.
  void wrong(const std::string& path, std::initializer_list<std::string_view> names,
             std::string message, std::string suggestion = {}) {
    for (const std::string_view name : names) {
      const auto at = reading_.places.find(join_key(path, name));
      if (at == reading_.places.end()) continue;
      return reading_.wrong(at->second, at->first, std::move(message), std::move(suggestion));
    }
    reading_.wrong(reading_.places[path], path, std::move(message), std::move(suggestion));
  }

  Reading& reading_;
  Config& config_;
  std::set<std::string> clear_;  // tasks of which it is known how they are run
};

void Checks::check_store() {
  if (reading_.has("store.url")) return;
  config_.store.url = plain_url("sqlite:" + reading_.resolve("holdfast.db"));
}

void Checks::check_http() {
  const Http& http = config_.http;
  const bool certificate = reading_.has("http.tls_certificate");
  const bool key = reading_.has("http.tls_key");
  if (certificate && !key) wrong("http", {"tls_certificate"}, "tls_key is missing: give both");
  if (key && !certificate) wrong("http", {"tls_key"}, "tls_certificate is missing: give both");
  if (http.max_payload > http.max_body) {
    wrong("http", {"max_payload", "max_body"},
          fmt::format("a payload of {} cannot come in a body of {}", format_size(http.max_payload),
                      format_size(http.max_body)),
          "make max_body larger");
  }
  if (http.listen.is_loopback()) return;
  if (config_.tokens.empty()) {
    wrong("http", {"listen"}, "other machines can reach this address, and there is no token",
          "add a [token.NAME], or listen on 127.0.0.1");
  }
  if (!certificate && !key && !http.insecure && !is_wrong("http.insecure")) {
    wrong("http", {"listen"}, "other machines can reach this address, and there is no TLS",
          "set tls_certificate and tls_key, or insecure = true if a proxy in front does TLS");
  }
}

void Checks::check_tokens() {
  std::map<std::string, std::string> seen;
  for (const auto& [name, token] : config_.tokens) {
    const std::string path = join_key("token", name);
    const bool hash = has(path, "hash");
    const bool secret = has(path, "secret");
    if (hash && secret)
      wrong(path, {"hash"}, "hash and secret are both given: one of them will do");
    if (!hash && !secret) {
      wrong(path, {}, "a token needs a hash or a secret",
            R"(write hash = "sha256:…" or secret = "env:NAME")");
    }
    std::string value = token.hash ? "hash" + std::string(token.hash->begin(), token.hash->end())
                                   : "text" + std::string(token.secret.reveal());
    if (value == "text") continue;
    const auto [at, fresh] = seen.emplace(std::move(value), path);
    if (fresh) continue;
    wrong(path, {"hash", "secret"},
          fmt::format("this is the same token as {}, so its role is not clear", at->second));
  }
}

void Checks::check_tasks() {
  for (auto& [name, task] : config_.tasks)
    check_task(join_key("task", name), task);
}

void Checks::check_task(const std::string& path, Task& task) {
  check_handler(path, task);
  check_rules(path, task);
  check_input(path, task);
  if (task.retry.cap < task.retry.first) {
    wrong(join_key(path, "retry"), {"cap", "first"},
          fmt::format("the first wait, {}, is longer than the cap, {}",
                      format_duration(task.retry.first), format_duration(task.retry.cap)));
  }
  if (!has(path, "dependency")) task.dependency = task.webhook.host;
  config_.queues.try_emplace(task.queue);
}

void Checks::check_handler(const std::string& path, const Task& task) {
  const bool command = has(path, "command");
  const bool webhook = has(path, "webhook");
  const int given = int{command} + int{webhook} + int{task.pull};
  if (given == 0 && is_wrong(join_key(path, "pull"))) return;
  if (given == 0) {
    return wrong(path, {}, "nothing says how these tasks are run",
                 R"(give one of command = ["program"], webhook = "https://…" and pull = true)");
  }
  if (given > 1) {
    const std::string all = fmt::format("{}{}{}", command ? "command " : "",
                                        webhook ? "webhook " : "", task.pull ? "pull" : "");
    return wrong(path, {"webhook", "command"},
                 fmt::format("these tasks are run in {} ways ({}): one will do", given,
                             all.ends_with(' ') ? all.substr(0, all.size() - 1) : all));
  }
  clear_.insert(path);
  const RunBy how = task.pull ? RunBy::pull : webhook ? RunBy::webhook : RunBy::command;
  for (const Row<Task>& row : sections().task.rows) {
    if (!row.info.only || *row.info.only == how || !has(path, row.info.name)) continue;
    wrong(path, {row.info.name},
          fmt::format("this belongs to tasks with {}, and this one has {}", name_of(*row.info.only),
                      name_of(how)));
  }
}

// Names of rules are unique: the classifier would refuse them later, without the place.
void Checks::check_rules(const std::string& path, const Task& task) {
  if (!has(path, "presets") && !has(path, "rules")) return;
  std::set<std::string> names;
  for (const Rule& rule : task.all_rules()) {
    if (rule.name.empty() || names.insert(rule.name).second) continue;
    return wrong(path, {"presets", "rules"},
                 fmt::format("there are two rules {}", holdfast::quoted(rule.name)),
                 "name each preset once, here or as `use` in the rule file");
  }
}

void Checks::check_input(const std::string& path, Task& task) {
  if (!has(path, "input")) return;
  const std::string within = join_key(path, "input");
  Input& input = task.input;
  if (has(path, "webhook") || task.pull) {
    return wrong(path, {"input"},
                 "inputs are for tasks with a command, which can read a file; this one has " +
                     std::string(name_of(task.pull ? RunBy::pull : RunBy::webhook)));
  }
  for (const std::string_view name : {"s3", "bucket", "key"}) {
    if (!has(within, name)) wrong(path, {"input"}, fmt::format("input: {} is missing", name));
  }
  if (input.s3.is_set() && input.s3.text.reveal().contains('?'))
    wrong(within, {"s3"}, "the address of the server has no query");
  if (input.retry.cap < input.retry.first) {
    wrong(join_key(within, "retry"), {"cap", "first"},
          fmt::format("the first wait, {}, is longer than the cap, {}",
                      format_duration(input.retry.first), format_duration(input.retry.cap)));
  }
  find_credentials(within, input);
}

// What is not given comes from where the tools of AWS look for it, as a whole or not at all.
// True: some are given.
bool Checks::check_credentials(const std::string& path) {
  const bool access = has(path, "access_key");
  const bool secret = has(path, "secret_key");
  const bool session = has(path, "session_token");
  if (access && !secret) wrong(path, {"access_key"}, "secret_key is missing: give both");
  if (secret && !access) wrong(path, {"secret_key"}, "access_key is missing: give both");
  if (!access && !secret && session)
    wrong(path, {"session_token"}, "access_key and secret_key are missing: give all three");
  return access || secret || session;
}

void Checks::find_credentials(const std::string& path, Input& input) {
  const auto variable = [&](const std::string& name) {
    auto text = reading_.outside.variable(name);
    return text && !text->empty() ? Secret(*std::move(text), "env:" + name) : Secret();
  };
  if (!has(path, "region")) {
    for (const auto* name : {"AWS_DEFAULT_REGION", "AWS_REGION"}) {
      if (const Secret region = variable(name); region.is_set()) input.region = region.reveal();
    }
  }
  if (check_credentials(path)) return;
  input.access_key = variable("AWS_ACCESS_KEY_ID");
  input.secret_key = variable("AWS_SECRET_ACCESS_KEY");
  if (input.access_key.is_set() && input.secret_key.is_set()) {
    input.session_token = variable("AWS_SESSION_TOKEN");
  } else {
    input.access_key = {};
    input.secret_key = {};
  }
}

void Checks::check_queues() {
  for (auto& [name, queue] : config_.queues)
    check_queue(name, queue);
}

void Checks::check_broker(const std::string& path, const std::string& name, const Queue& queue) {
  if (!queue.broker.is_set()) {
    if (is_wrong(join_key(path, "broker"))) return;
    for (const std::string_view key :
         {"broker_ca", "broker_cert", "broker_key", "broker_endpoint", "broker_create", "visibility", "max_receives",
          "dead_letter", "kind", "prefetch", "answer", "foreign_type", "publish", "connect"}) {
      if (!has(path, key)) continue;
      wrong(path, {key}, "this is about a queue that a broker carries, and no broker is given",
            "add broker = \"amqp://…\", or remove it");
    }
    return;
  }
  if (queue.is_at_sqs()) return check_sqs(path, name, queue);
  for (const std::string_view key :
       {"broker_endpoint", "broker_create", "visibility", "max_receives"}) {
    if (has(path, key)) wrong(path, {key}, "this is about a queue at SQS", "remove it");
  }
  constexpr std::size_t kMostBytes = 200;  // RabbitMQ takes 255; waits add their own to it
  if (name.size() > kMostBytes || name.starts_with("amq.")) {
    wrong(path, {"broker"},
          "RabbitMQ cannot have a queue of this name: at most 200 bytes, and not \"amq.\" at its "
          "beginning");
  }
  if (queue.dead_letter == name) {
    wrong(path, {"dead_letter"}, "the dead letters of a queue cannot go into itself");
  }
}

// The names of its queues are checked where they are used as such: the one of the URL, or the
// queue's own.
void Checks::check_sqs(const std::string& path, const std::string& name, const Queue& queue) {
  for (const std::string_view key : {"kind", "broker_cert", "broker_key"}) {
    if (has(path, key)) wrong(path, {key}, "this is about a queue at RabbitMQ", "remove it");
  }
  const std::string_view url = queue.broker.text.reveal();
  const bool names_queue = std::ranges::count(url, '/') > 2 && !url.ends_with('/');
  if (!names_queue && !parse_broker_url("sqs://x/" + name, "", BrokerPart::queue)) {
    wrong(path, {"broker"}, "SQS cannot have a queue of this name: letters, digits, - and _",
          "name another after the region: sqs://region/queue");
  }
  if (queue.dead_letter.empty()) return;
  if (auto dead = parse_broker_url("sqs://x/" + queue.dead_letter, "", BrokerPart::queue); !dead) {
    wrong(path, {"dead_letter"}, dead.error());
  }
  const std::string own = names_queue ? std::string(url.substr(url.rfind('/') + 1)) : name;
  if (queue.dead_letter == own) {
    wrong(path, {"dead_letter"}, "the dead letters of a queue cannot go into itself");
  }
}

void Checks::check_queue(const std::string& name, Queue& queue) {
  std::string pulled;
  std::string other;
  RunBy other_by = RunBy::command;
  for (const auto& [type, task] : config_.tasks) {
    const std::string path = join_key("task", type);
    if (task.queue != name || !clear_.contains(path)) continue;
    std::string& first = task.pull ? pulled : other;
    if (!first.empty()) continue;
    first = path;
    if (!task.pull)
      other_by = reading_.has(join_key(path, "webhook")) ? RunBy::webhook : RunBy::command;
  }
  const std::string path = join_key("queue", name);
  check_broker(path, name, queue);
  if (!pulled.empty() && !other.empty()) {
    const bool later = reading_.places[pulled] > reading_.places[other];
    return wrong(later ? pulled : other, {"queue"},
                 fmt::format("the queue {} has tasks that are pulled ({}) and tasks that are not "
                             "({})",
                             holdfast::quoted(name), pulled, other),
                 "give one of them another queue");
  }
  if (queue.pull && !other.empty()) {
    wrong(path, {"pull"},
          fmt::format("the queue is pulled, and {} has {}", other, name_of(other_by)),
          "give that task another queue");
  }
  if (!queue.pull && !pulled.empty() && has(path, "pull") && !is_wrong(join_key(path, "pull"))) {
    wrong(path, {"pull"}, fmt::format("the queue is not pulled, and {} is", pulled),
          "leave this key out, or give that task another queue");
  }
  queue.pull = queue.pull || !pulled.empty();
}

void Checks::check_alerts() {
  const Alerts& alerts = config_.alerts;
  if (reading_.has("alerts.secret") && !reading_.has("alerts.webhook")) {
    wrong("alerts", {"secret"}, "there is nothing to sign: webhook is missing");
  }
  if (alerts.every > alerts.over) {
    wrong("alerts", {"over", "every"},
          fmt::format("looked at every {}, {} would leave gaps", format_duration(alerts.every),
                      format_duration(alerts.over)),
          "make over no shorter than every");
  }
}

void Checks::check_brokers() {
  for (auto& [name, broker] : config_.brokers) {
    const std::string path = join_key("broker", name);
    broker.aws = config_.aws;
    const std::string_view url = broker.url.text.reveal();
    const bool is_sqs = url.starts_with("sqs:");
    if (has(path, "endpoint") && !is_sqs) {
      wrong(path, {"endpoint"}, "this is about SQS, and the broker is not there", "remove it");
    }
    if (has(path, "management") && is_sqs) {
      wrong(path, {"management"}, "this is about RabbitMQ, and the broker is SQS", "remove it");
    }
    if (broker.queues.empty()) {
      wrong(path, {"queues"}, "no queue would be shown", R"(give patterns, such as ["*.dlq"])");
    }
  }
}

void Checks::check_recoveries() {
  for (auto& [name, recover] : config_.recoveries) {
    const std::string path = join_key("recover", name);
    recover.aws = config_.aws;
    if (has(path, "endpoint") && !recover.from.text.reveal().starts_with("sqs:")) {
      wrong(path, {"endpoint"}, "this is about a queue at SQS", "remove it");
    }
    const int ways = int{has(path, "map")} + int{has(path, "to_origin")} + int{has(path, "to")};
    if (ways == 0 && !has(path, "park")) {
      wrong(path, {}, "nothing says where messages go",
            R"(give one of map = "FILE", to_origin = "queue" and to = "QUEUE"; or only park)");
    }
    if (ways > 1) {
      wrong(path, {"to", "to_origin", "map"}, "messages go one way: map, to_origin or to");
    }
    if (has(path, "exchange") && !has(path, "map")) {
      wrong(path, {"exchange"}, "this is where the routing keys of a map go, and there is none");
    }
    if (!recover.on_start && !recover.every && !is_wrong(join_key(path, "every"))) {
      wrong(path, {}, "nothing says when this is run", R"(give on_start = true or every = "1h")");
    }
  }
}

}  // namespace

void complete(Reading& reading, Config& config) {
  Checks checks(reading, config);
  checks.check_store();
  checks.check_http();
  checks.check_tokens();
  checks.check_tasks();
  checks.check_queues();
  checks.check_aws();
  checks.check_alerts();
  checks.check_brokers();
  checks.check_recoveries();
  complete_routes(reading, config);
}

}  // namespace holdfast::config
