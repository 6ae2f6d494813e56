#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/classify.hpp>
#include <holdfast/log.hpp>
#include <holdfast/result.hpp>
#include <holdfast/retry/wait.hpp>
#include <holdfast/time.hpp>

#include "config/address.hpp"
#include "config/outside.hpp"
#include "config/problem.hpp"
#include "config/secret.hpp"
#include "config/url.hpp"
#include "wire/body_field.hpp"

// The configuration of `holdfast serve`: values only, one struct for each table of the file. The
// defaults stand here and nowhere else; what each key means, within which limits, and whether it
// can change while the server runs, stands in keys.cpp; docs/configuration.md is for people.
//
// Paths are as the file's folder makes them; an empty text, path, URL or secret is one that is not
// given, and a duration that is nothing is "forever" or "none".
namespace holdfast::config {

struct Store {
  Url url = plain_url("sqlite:holdfast.db");
  std::optional<Duration> keep_succeeded = std::chrono::hours(24);
  std::optional<Duration> keep_canceled = std::chrono::hours(24);
  std::optional<Duration> keep_failed = {};
  std::optional<Duration> keep_dead = {};
  std::optional<Duration> keep_warning = {};  // nothing: by how long they are kept
  std::string spill = {};

  bool operator==(const Store&) const = default;
};

struct Http {
  Listen listen = {};
  std::uint64_t max_payload = std::uint64_t{256} << 10;
  std::uint64_t max_body = std::uint64_t{8} << 20;
  int max_array = 1000;
  int max_json_depth = 32;
  int max_connections = 1024;
  Duration header_timeout = std::chrono::seconds(10);
  Duration body_timeout = std::chrono::seconds(30);
  Duration idle_timeout = std::chrono::seconds(60);
  std::string tls_certificate = {};  // both, or none
  std::string tls_key = {};
  bool insecure = false;
  Url public_url = {};

  bool operator==(const Http&) const = default;
};

enum class Role : std::uint8_t { submit, read, work, operate };

using Sha256 = std::array<std::uint8_t, 32>;

struct Token {
  Role role = Role::submit;
  std::optional<Sha256> hash = {};  // one of these two
  Secret secret = {};

  bool operator==(const Token&) const = default;
};

enum class LogFormat : std::uint8_t { automatic, text, json };

struct Log {
  Level level = Level::info;
  LogFormat format = LogFormat::automatic;

  bool operator==(const Log&) const = default;
};

struct Shutdown {
  Duration grace = std::chrono::seconds(30);
  Duration stop_grace = std::chrono::seconds(5);

  bool operator==(const Shutdown&) const = default;
};

struct Engine {
  Duration lease = std::chrono::seconds(30);

  bool operator==(const Engine&) const = default;
};

struct Retry {
  int attempts = 4;
  Duration first = std::chrono::seconds(1);
  double factor = 2;
  Duration cap = std::chrono::minutes(5);
  retry::Jitter jitter = retry::Jitter::none;

  [[nodiscard]] retry::Wait wait() const {
    return retry::exponential({.first = first, .factor = factor, .cap = cap, .jitter = jitter});
  }
  bool operator==(const Retry&) const = default;
};

enum class QueueKind : std::uint8_t { classic, quorum };

// When whoever hands in a task of a carried queue is answered.
enum class AnswerWhen : std::uint8_t { confirmed, recorded };

// What becomes of a queue's dead letters by itself.
enum class OnDead : std::uint8_t { keep, fail, redrive };

// How often and how patiently a broker is connected to (R8).
struct Connecting {
  int attempts = 90;
  Duration wait = std::chrono::seconds(10);

  bool operator==(const Connecting&) const = default;
};

struct Queue {
  int concurrency = 16;
  int limit = 0;
  int backlog = 0;
  bool pull = false;  // also if one of its tasks is
  OnDead on_dead = OnDead::keep;
  int redrive_rounds = 1;
  Duration dead_poll = std::chrono::seconds(10);  // C3.5
  Duration dead_wait = std::chrono::seconds(10);
  int dead_batch = 10;
  Url broker = {};  // not given: the store carries it, and the rest has no meaning
  std::string broker_ca = {};
  std::string broker_cert = {};  // by which the broker knows us
  std::string broker_key = {};
  Url broker_endpoint = {};    // of SQS
  bool broker_create = false;  // likewise, and the next two
  Duration visibility = std::chrono::seconds(30);
  int max_receives = 3;
  std::string dead_letter = {};  // empty: the queue's name and ".dlq", at SQS "-dlq"
  QueueKind kind = QueueKind::classic;
  int prefetch = 256;
  AnswerWhen answer = AnswerWhen::confirmed;
  std::string foreign_type = {};                                     // empty: that of its only task
  Retry publish = {.attempts = 5, .cap = std::chrono::seconds(16)};  // R1; without a jitter
  Connecting connect = {};

  [[nodiscard]] bool is_at_sqs() const { return broker.text.reveal().starts_with("sqs:"); }
  bool operator==(const Queue&) const = default;
};

// A rule file as it was when it was read.
struct RuleFile {
  std::string path = {};
  std::vector<Rule> rules = {};

  bool operator==(const RuleFile&) const = default;
};

// Any value may be a secret: people put keys into headers.
struct Header {
  std::string name = {};
  Secret value = {};

  bool operator==(const Header&) const = default;
};

// What becomes of a task whose input cannot be fetched.
enum class OnInputFailure : std::uint8_t { fail, retry };

struct InputRetry {
  int attempts = 3;
  Duration first = std::chrono::seconds(1);
  Duration cap = std::chrono::seconds(8);

  bool operator==(const InputRetry&) const = default;
};

// An object that is fetched before a task is run.
struct Input {
  Url s3 = {};  // the server; without it there is no input
  std::string bucket = {};
  std::string key = {};
  std::string sha256 = {};
  std::string region = "us-east-1";
  bool path_style = true;
  Secret access_key = {};  // both, or none
  Secret secret_key = {};
  Secret session_token = {};
  std::uint64_t largest = std::uint64_t{1} << 30;
  Duration timeout = std::chrono::minutes(5);
  InputRetry retry = {};
  OnInputFailure on_failure = OnInputFailure::fail;

  [[nodiscard]] bool is_set() const noexcept { return s3.is_set(); }
  bool operator==(const Input&) const = default;
};

enum class RunBy : std::uint8_t { command, webhook, pull };

struct Task {
  std::string queue = "default";
  std::vector<std::string> command = {};  // one of these three
  Url webhook = {};
  bool pull = false;

  std::optional<Duration> timeout = std::chrono::seconds(30);
  Retry retry = {};
  int crashes = 3;
  int deferrals = 1000;
  int replays = 3;
  std::optional<Duration> deadline = {};
  std::string dependency = {};  // of a webhook that does not say: its host
  std::vector<std::string> presets = {"all"};
  RuleFile rules = {};

  std::string folder = {};  // of commands
  std::vector<std::string> pass = {};
  std::uint64_t max_result = std::uint64_t{1} << 20;
  Input input = {};

  Secret secret = {};  // of webhooks
  std::vector<Header> headers = {};
  std::uint64_t max_response = std::uint64_t{64} << 10;
  Duration connect_timeout = std::chrono::seconds(5);

  [[nodiscard]] RunBy run_by() const {
    if (pull) return RunBy::pull;
    return webhook.is_set() ? RunBy::webhook : RunBy::command;
  }
  // For a classifier: the file's own, and then the presets. No name is there twice.
  [[nodiscard]] std::vector<Rule> all_rules() const;

  bool operator==(const Task&) const = default;
};

struct Webhook {
  std::vector<Network> allow = {};
  std::string user_agent = "holdfast";

  bool operator==(const Webhook&) const = default;
};

struct Inputs {
  std::string folder = {};

  bool operator==(const Inputs&) const = default;
};

struct Alerts {
  Url webhook = {};
  Secret secret = {};
  Duration every = std::chrono::minutes(1);
  Duration over = std::chrono::minutes(5);
  int dead_letters = 1;
  double retry_rate = 0.2;
  double timeout_rate = 0.05;
  int min_tasks = 20;
  std::optional<Duration> backlog_age = std::chrono::minutes(10);
  Duration quiet = std::chrono::minutes(15);

  bool operator==(const Alerts&) const = default;
};

struct Events {
  int keep = 10'000;

  bool operator==(const Events&) const = default;
};

// Who asks of queues at SQS.
struct Aws {
  Secret access_key = {};  // both, or none
  Secret secret_key = {};
  Secret session_token = {};
  std::string profile = {};

  bool operator==(const Aws&) const = default;
};

// A broker whose dead-letter queues are shown, and brought back by hand.
struct Broker {
  Url url = {};
  std::vector<std::string> queues = {"*.dlq", "*-dlq", "*-dlq.fifo"};  // as core/name_pattern.hpp
  Url management = {};
  std::string ca_file = {};
  Url endpoint = {};  // of SQS, if not at AWS
  Aws aws = {};       // what the table [aws] says

  bool operator==(const Broker&) const = default;
};

enum class Origin : std::uint8_t { none, exchange, queue };

// Of which runs of a recovery the webhook of [alerts] is told.
enum class Notify : std::uint8_t { never, problems, always };

// A dead-letter queue that is brought back now and then.
struct Recover {
  Url from = {};         // of a broker, and its queue
  Url endpoint = {};     // of SQS, if not at AWS
  Aws aws = {};          // what the table [aws] says
  std::string map = {};  // one of these three
  Origin to_origin = Origin::none;
  std::string to = {};
  std::string exchange = {};
  std::vector<std::string> filter = {};
  int window = 2000;
  int limit = 0;
  double rate = 0;
  std::string park = {};
  int max_recoveries = 3;
  int renew_at = 3;
  bool persistent = false;
  bool keep_expiration = false;
  std::string journal = {};
  std::string ca_file = {};
  std::string cert_file = {};  // by which the broker knows us
  std::string key_file = {};
  Url management = {};              // of the broker's API
  std::string delivery_limit = {};  // "none" or a number, where it cannot be found out
  Duration total = std::chrono::minutes(30);
  Duration idle = std::chrono::seconds(10);
  Duration empty = std::chrono::seconds(5);
  Duration stall = std::chrono::seconds(30);
  bool on_start = false;  // one of these two, or both
  std::optional<Duration> every = {};
  Notify notify = Notify::problems;

  bool operator==(const Recover&) const = default;
};

// A route of the user's own: a body that becomes a task (POST), or a task that is shown (GET).
struct Route {
  std::string task = {};           // the type
  std::optional<Role> role = {};   // not given: submit of POST, read of GET
  std::optional<int> status = {};  // not given: 201 of POST, 200 of GET
  std::string summary = {};
  wire::UnknownFields unknown = wire::UnknownFields::refuse;
  std::vector<wire::BodyField> body = {};  // in the order of the file
  std::string answer = {};                 // JSON: see wire/answer_shape.hpp

  bool operator==(const Route&) const = default;
};

// The parts of a route's name, "POST /relay/direct".
struct RouteName {
  std::string_view method = {};
  std::string_view path = {};
};
[[nodiscard]] RouteName parts_of(std::string_view route) noexcept;

struct Config {
  Store store = {};
  Http http = {};
  std::map<std::string, Token> tokens = {};
  Log log = {};
  Shutdown shutdown = {};
  Engine engine = {};
  std::map<std::string, Queue> queues = {};  // all that have a table, or a task that names them
  std::map<std::string, Task> tasks = {};
  Webhook webhook = {};
  Inputs inputs = {};
  Alerts alerts = {};
  Events events = {};
  Aws aws = {};
  std::map<std::string, Broker> brokers = {};
  std::map<std::string, Recover> recoveries = {};
  std::map<std::string, Route> routes = {};  // by "POST /relay/direct"

  bool operator==(const Config&) const = default;
};

// The text of a configuration file: as it holds, or everything that is wrong with it at once, in
// the order of the file. What is not TOML at all is one problem. `file` is for messages, and its
// folder is where relative paths begin.
[[nodiscard]] std::expected<Config, Problems> check(std::string_view text, const std::string& file,
                                                    Outside& outside);

// The same with the system's files and environment. Errors are invalid_argument, with one line for
// each problem: `holdfast.toml:3:1: http: unknown key "lisen"; did you mean "listen"?`.
[[nodiscard]] Result<Config> parse(std::string_view text, const std::string& file);

// The same from a file of at most 4 MiB; fails with not_found, unavailable or exhausted if it
// cannot be read.
[[nodiscard]] Result<Config> read(const std::string& path);

// The whole configuration as it holds, defaults and all, as TOML for people: what is secret is ***.
[[nodiscard]] std::string describe(const Config& config);

}  // namespace holdfast::config
