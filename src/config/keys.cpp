#include "config/keys.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>

#include <fmt/format.h>

#include "config/key_rows.hpp"
#include "config/outside_values.hpp"
#include "config/plain_values.hpp"
#include "config/route_keys.hpp"
#include "config/text_checks.hpp"
#include "core/condition.hpp"
#include "core/json_text.hpp"

namespace holdfast::config {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = kKiB * 1024;
constexpr std::uint64_t kGiB = kMiB * 1024;
constexpr Duration kTenYears = std::chrono::hours(24) * 3650;

constexpr std::array<std::pair<std::string_view, Level>, 5> kLevels = {
    {{"debug", Level::debug},
     {"info", Level::info},
     {"warning", Level::warning},
     {"error", Level::error},
     {"critical", Level::critical}}};
constexpr std::array<std::pair<std::string_view, LogFormat>, 3> kFormats = {
    {{"auto", LogFormat::automatic}, {"text", LogFormat::text}, {"json", LogFormat::json}}};
constexpr std::array<std::pair<std::string_view, QueueKind>, 2> kKinds = {
    {{"classic", QueueKind::classic}, {"quorum", QueueKind::quorum}}};
constexpr std::array<std::pair<std::string_view, OnDead>, 3> kOnDead = {
    {{"keep", OnDead::keep}, {"fail", OnDead::fail}, {"redrive", OnDead::redrive}}};
constexpr std::array<std::pair<std::string_view, AnswerWhen>, 2> kAnswers = {
    {{"confirmed", AnswerWhen::confirmed}, {"recorded", AnswerWhen::recorded}}};
constexpr std::array<std::pair<std::string_view, retry::Jitter>, 4> kJitters = {
    {{"none", retry::Jitter::none},
     {"full", retry::Jitter::full},
     {"equal", retry::Jitter::equal},
     {"decorrelated", retry::Jitter::decorrelated}}};

constexpr std::array<std::pair<std::string_view, OnInputFailure>, 2> kOnInputFailure = {
    {{"fail", OnInputFailure::fail}, {"retry", OnInputFailure::retry}}};

Section<Store> store_section() {
  const SpanOr keep{"forever", {0s, kTenYears}};
  return {
      "store",
      "Where tasks are kept, and for how long after they have ended.",
      {
          row<Store>("url", &Store::url, StoreUrl{}, no,
                     "`sqlite:PATH`, a file that is made if it is not there; "
                     "`redis://user:password@host:6379/0`, `rediss://` over TLS or "
                     "`redis+sentinel://host,host/master`, a Redis that many servers and workers "
                     "share; `memory:NAME` keeps nothing, for tests; `env:NAME` or `file:PATH` if "
                     "it is a secret"),
          row<Store>("keep_succeeded", &Store::keep_succeeded, keep, no,
                     "how long tasks that succeeded are kept, with their results"),
          row<Store>("keep_canceled", &Store::keep_canceled, keep, no,
                     "how long canceled tasks and discarded dead letters are kept"),
          row<Store>("keep_failed", &Store::keep_failed, keep, no,
                     "how long tasks that were given up at once are kept"),
          row<Store>("keep_dead", &Store::keep_dead, keep, no, "how long dead letters are kept"),
          row<Store>("keep_warning", &Store::keep_warning, SpanOr{"auto", {1s, kTenYears}}, no,
                     "failed tasks and dead letters are announced so long before they are removed, "
                     "and kept at least so long; `auto`: a tenth of the time that they are kept, "
                     "an hour at least and 12 hours at most"),
          row<Store>("spill", &Store::spill, Path{PathUse::folder}, no,
                     "a folder: failed tasks and dead letters are written to files there before "
                     "they are removed; without it they are gone"),
      }};
}

Section<Http> http_section() {
  const Span patience{100ms, 1h};
  return {
      "http",
      "Where the server listens, and what it takes from clients.",
      {
          row<Http>("listen", &Http::listen, ListenAt{}, no,
                    "address and port; port 0 is any that is free; `0.0.0.0:8080` or `[::]:8080` "
                    "for all addresses, which needs a token, and TLS or `insecure`"),
          row<Http>("max_payload", &Http::max_payload, Size{1, kGiB}, no,
                    "the largest payload of one task"),
          row<Http>("max_body", &Http::max_body, Size{kKiB, kGiB}, no,
                    "the largest body of one request; no less than `max_payload`"),
          row<Http>("max_array", &Http::max_array, Whole{1, 100'000}, no,
                    "most tasks in one request"),
          row<Http>("max_json_depth", &Http::max_json_depth, Whole{1, 1000}, no,
                    "how deep the JSON of a request may nest"),
          row<Http>("max_connections", &Http::max_connections, Whole{1, 100'000}, no,
                    "most connections at once"),
          row<Http>("header_timeout", &Http::header_timeout, patience, no,
                    "a client has so long to send the head of a request"),
          row<Http>("body_timeout", &Http::body_timeout, patience, no, "and so long for its body"),
          row<Http>("idle_timeout", &Http::idle_timeout, patience, no,
                    "a connection without a request is closed after so long"),
          row<Http>("tls_certificate", &Http::tls_certificate, Path{PathUse::file}, no,
                    "PEM file of the certificate and its chain; its content is read again at a "
                    "reload"),
          row<Http>("tls_key", &Http::tls_key, Path{PathUse::private_key}, no,
                    "PEM file of its key, which not everyone may be able to read"),
          row<Http>("insecure", &Http::insecure, YesNo{}, no,
                    "`true`: serve others than this machine without TLS, since a proxy in front "
                    "does it"),
          row<Http>("public_url", &Http::public_url, Endpoint{}, no,
                    "how people reach this server, for links in alerts"),
      }};
}

Section<Token> token_section() {
  return {"token",
          "Who may use the API. `hash` or `secret`: exactly one of them.",
          {
              row<Token>("role", &Token::role, Choice<Role>{"role", kRoles}, yes,
                         "`submit` (hand in tasks), `read` (look at everything), `work` (claim "
                         "tasks and settle them) or `operate` (everything)",
                         {.required = true}),
              row<Token>("hash", &Token::hash, HashText{}, yes,
                         "`sha256:` and the hexadecimal SHA-256 of the token"),
              row<Token>("secret", &Token::secret, SecretText{SecretText::Use::token}, yes,
                         "the token itself, of at least 16 bytes: `env:NAME` or `file:PATH`"),
          }};
}

Section<Log> log_section() {
  return {"log",
          "What the server writes to its standard error.",
          {
              row<Log>("level", &Log::level, Choice<Level>{"level", kLevels}, yes,
                       "the least that is written: `debug`, `info`, `warning`, `error` or "
                       "`critical`"),
              row<Log>("format", &Log::format, Choice<LogFormat>{"format", kFormats}, no,
                       "`text`, `json`, or `auto`: text on a terminal, JSON elsewhere"),
          }};
}

Section<Shutdown> shutdown_section() {
  return {"shutdown",
          "What happens at SIGTERM or Ctrl-C.",
          {
              row<Shutdown>("grace", &Shutdown::grace, Span{0s, kDay}, no,
                            "tasks that run have so long to end"),
              row<Shutdown>("stop_grace", &Shutdown::stop_grace, Span{0s, 1h}, no,
                            "then they are asked to stop, and have so long again"),
          }};
}

Section<Engine> engine_section() {
  return {"engine",
          "How tasks are moved.",
          {row<Engine>("lease", &Engine::lease, Span{1s, 1h}, no,
                       "how soon others take over what a server has claimed if its machine goes; "
                       "renewed while it lives")}};
}

Section<Queue> queue_section() {
  constexpr int kMost = std::numeric_limits<int>::max();
  const Extra carried{.carried = CarriedBy::broker};
  const Extra at_sqs{.carried = CarriedBy::sqs};
  const Extra at_rabbitmq{.carried = CarriedBy::rabbitmq};
  constexpr Within<&Queue::publish, &Retry::attempts> publish_attempts;
  constexpr Within<&Queue::publish, &Retry::first> publish_first;
  constexpr Within<&Queue::publish, &Retry::cap> publish_cap;
  constexpr Within<&Queue::connect, &Connecting::attempts> connect_attempts;
  constexpr Within<&Queue::connect, &Connecting::wait> connect_wait;
  return {
      "queue",
      "How much of a queue is worked on at once, and what carries it. A queue without a table "
      "has these defaults.",
      {
          row<Queue>("concurrency", &Queue::concurrency, Whole{1, 100'000}, yes,
                     "most tasks of it that this server runs at once"),
          row<Queue>("limit", &Queue::limit, Whole{0, 1'000'000}, yes,
                     "most that all workers together run at once; 0: no limit"),
          row<Queue>("backlog", &Queue::backlog, Whole{0, kMost}, yes,
                     "most tasks that wait in it: what comes beyond is refused (429); 0: no "
                     "limit"),
          row<Queue>("pull", &Queue::pull, YesNo{}, yes,
                     "`true`: its tasks are run by workers that ask for them over HTTP, "
                     "whatever their type"),
          row<Queue>("on_dead", &Queue::on_dead, Choice<OnDead>{"on_dead", kOnDead}, yes,
                     "what becomes of its dead letters by itself: `keep`, `fail` (given up), or "
                     "`redrive` (those with `retry_on_failure` are brought back, the others "
                     "given up)"),
          row<Queue>("redrive_rounds", &Queue::redrive_rounds, Whole{0, 1000}, yes,
                     "so often is a task brought back at most, then it is given up; 0: never"),
          row<Queue>("dead_poll", &Queue::dead_poll, Span{1ms, 1h}, yes,
                     "how often dead letters are looked for, unless they are kept"),
          row<Queue>("dead_wait", &Queue::dead_wait, Span{0s, 20s}, yes,
                     "how long one question for dead letters waits at a broker that is asked for "
                     "them"),
          row<Queue>("dead_batch", &Queue::dead_batch, Whole{1, 1000}, yes,
                     "most dead letters that are worked on at once"),
          row<Queue>("broker", &Queue::broker, BrokerAt{BrokerPart::host}, no,
                     "`amqp://user:password@host:5672/vhost`, or `amqps://`: RabbitMQ carries "
                     "the queue (`host,host`: several hosts of one broker); `sqs://region/queue`: "
                     "SQS does; `env:NAME` or `file:PATH` if it is a secret"),
          row<Queue>("broker_endpoint", &Queue::broker_endpoint, Endpoint{}, no,
                     "where SQS is, if not at AWS: `http://127.0.0.1:4566`", at_sqs),
          row<Queue>("broker_create", &Queue::broker_create, YesNo{}, no,
                     "`true`: queues that SQS does not have are made there, with their redrive "
                     "policy; if not, what is amiss is warned of",
                     at_sqs),
          row<Queue>("visibility", &Queue::visibility, Span{2s, 12h}, no,
                     "so long SQS keeps a message from others that was handed out; it is extended "
                     "while its task runs",
                     at_sqs),
          row<Queue>("max_receives", &Queue::max_receives, Whole{1, 1000}, no,
                     "`maxReceiveCount` of the redrive policy at SQS", at_sqs),
          row<Queue>(
              "broker_ca", &Queue::broker_ca, Path{PathUse::file}, no,
              "PEM file of the certificates that a broker is checked with (`amqps`, `https`); "
              "without it, the system's",
              carried),
          row<Queue>("broker_cert", &Queue::broker_cert, Path{PathUse::file}, no,
                     "PEM file of the certificate by which a broker at `amqps` knows us; without a "
                     "user in its URL it also says who we are (EXTERNAL)",
                     carried),
          row<Queue>("broker_key", &Queue::broker_key, Path{PathUse::file}, no,
                     "PEM file of its key; without it, the key is in the same file", carried),
          row<Queue>("dead_letter", &Queue::dead_letter, Text{check_dependency}, no,
                     "the broker's queue for its dead letters; without it, the queue's name "
                     "and `.dlq`, at SQS `-dlq`",
                     carried),
          row<Queue>("kind", &Queue::kind, Choice<QueueKind>{"kind", kKinds}, no,
                     "how its queues are made at the broker: `classic` or `quorum`", at_rabbitmq),
          row<Queue>(
              "prefetch", &Queue::prefetch, Whole{1, 2000}, no,
              "most messages that the broker hands out before their tasks are settled; at SQS, "
              "which counts deliveries, never more than twice `concurrency`",
              carried),
          row<Queue>("answer", &Queue::answer, Choice<AnswerWhen>{"answer", kAnswers}, no,
                     "when whoever hands in a task is answered: `confirmed` (201, the broker "
                     "has it) or `recorded` (202, it will be published)",
                     carried),
          row<Queue>("foreign_type", &Queue::foreign_type, Text{check_dependency}, no,
                     "the type of messages that others publish and that say none; without it, "
                     "that of the only task of this queue",
                     carried),
          row<Queue>("publish.attempts", publish_attempts, Whole{1, 1000}, no,
                     "most attempts to publish while the broker cannot be reached", carried),
          row<Queue>("publish.first", publish_first, Span{0s, 1h}, no,
                     "the wait after the first of them; each further one is twice as long",
                     carried),
          row<Queue>("publish.cap", publish_cap, Span{0s, 1h}, no, "no such wait is longer",
                     carried),
          row<Queue>("connect.attempts", connect_attempts, Whole{1, 1'000'000}, no,
                     "so often is connecting to the broker tried; then the server ends", carried),
          row<Queue>("connect.wait", connect_wait, Span{1ms, 1h}, no,
                     "the time between two of these attempts", carried),
      }};
}

// The part of tasks that says what is done.
void add_handler_rows(std::vector<Row<Task>>& rows) {
  const Extra command{.only = RunBy::command};
  const Extra webhook{.only = RunBy::webhook};
  rows.insert(
      rows.end(),
      {
          row<Task>("queue", &Task::queue, Text{check_name}, yes,
                    "the queue of tasks that name none"),
          row<Task>("command", &Task::command, Command{}, yes,
                    "run by a program: it and its arguments; no shell reads them"),
          row<Task>("webhook", &Task::webhook, Endpoint{}, yes,
                    "run by a POST to this URL; `env:NAME` or `file:PATH` if it is a secret"),
          row<Task>("pull", &Task::pull, YesNo{}, yes,
                    "`true`: run by a worker that asks for it over HTTP"),
          row<Task>("folder", &Task::folder, Path{PathUse::folder}, yes,
                    "where the program runs; without it, where the server does", command),
          row<Task>("pass", &Task::pass, Texts{check_variable}, yes,
                    "variables of the server's environment that it gets beside PATH, HOME, LANG, "
                    "LC_*, TZ and TMPDIR",
                    command),
          row<Task>("max_result", &Task::max_result, Size{0, kGiB}, yes,
                    "the most it may print as its result", command),
          row<Task>("secret", &Task::secret, SecretText{SecretText::Use::signature}, yes,
                    "signs requests as Standard Webhooks has it: `env:NAME` or `file:PATH` of "
                    "`whsec_` and base64, or of at least 16 bytes",
                    webhook),
          row<Task>("headers", &Task::headers, Headers{}, yes,
                    "sent with each request; values may be `env:NAME` or `file:PATH`, and "
                    "credentials must be",
                    webhook),
          row<Task>("max_response", &Task::max_response, Size{0, kGiB}, yes,
                    "the most of a response that is read", webhook),
          row<Task>("connect_timeout", &Task::connect_timeout, Span{10ms, 10min}, yes,
                    "how long connecting may take", webhook),
      });
}

// A key of a task's input: it has nothing to show where there is none.
template <class At, class Kind>
Row<Task> input_row(std::string_view name, At at, Kind kind, std::string_view meaning) {
  Row<Task> made = row<Task>(name, at, kind, yes, meaning, {.only = RunBy::command});
  made.show = [show = std::move(made.show)](const Task& from) {
    return from.input.is_set() ? show(from) : std::string();
  };
  return made;
}

// The part that says what is fetched before it is run.
void add_input_rows(std::vector<Row<Task>>& rows) {
  constexpr std::uint64_t kTiB = kGiB * 1024;
  constexpr auto retry_attempts = [](auto&& task) -> auto& { return task.input.retry.attempts; };
  constexpr auto retry_first = [](auto&& task) -> auto& { return task.input.retry.first; };
  constexpr auto retry_cap = [](auto&& task) -> auto& { return task.input.retry.cap; };
  const SecretText secret{SecretText::Use::key};
  const TemplateText text;
  rows.insert(
      rows.end(),
      {
          input_row("input.s3", Within<&Task::input, &Input::s3>(), Endpoint{},
                    "a server that speaks S3: an object is fetched from there before the program "
                    "runs, which finds its path in HOLDFAST_INPUT"),
          input_row("input.bucket", Within<&Task::input, &Input::bucket>(), text,
                    "the object's bucket; `{field}` stands for a field of the payload, "
                    "`{one.two}` for one within another"),
          input_row("input.key", Within<&Task::input, &Input::key>(), text,
                    "and its key, likewise"),
          input_row("input.sha256", Within<&Task::input, &Input::sha256>(), text,
                    "the SHA-256 that it must have, in hexadecimal, likewise"),
          input_row("input.region", Within<&Task::input, &Input::region>(), Text{check_region},
                    "the server's region; without it, that of AWS_REGION or AWS_DEFAULT_REGION"),
          input_row("input.path_style", Within<&Task::input, &Input::path_style>(), YesNo{},
                    "`false`: the bucket goes before the host of the server, not into the path"),
          input_row("input.access_key", Within<&Task::input, &Input::access_key>(), secret,
                    "who asks: `env:NAME` or `file:PATH`; without it, AWS_ACCESS_KEY_ID and its "
                    "like; and without those, anybody"),
          input_row("input.secret_key", Within<&Task::input, &Input::secret_key>(), secret,
                    "signs what is asked, likewise"),
          input_row("input.session_token", Within<&Task::input, &Input::session_token>(), secret,
                    "of credentials that expire, likewise"),
          input_row("input.largest", Within<&Task::input, &Input::largest>(), Size{1, kTiB},
                    "a larger object is refused"),
          input_row("input.timeout", Within<&Task::input, &Input::timeout>(), Span{100ms, kDay},
                    "how long one attempt to fetch it may take; the task's own `timeout` begins "
                    "afterwards"),
          input_row("input.retry.attempts", retry_attempts, Whole{1, 1000},
                    "most attempts to fetch it"),
          input_row("input.retry.first", retry_first, Span{0s, 1h},
                    "the wait before the second attempt; each further one is twice as long"),
          input_row("input.retry.cap", retry_cap, Span{0s, 1h}, "no wait is longer"),
          input_row("input.on_failure", Within<&Task::input, &Input::on_failure>(),
                    Choice<OnInputFailure>{"way", kOnInputFailure},
                    "when it cannot be fetched: `fail`, the task has failed; `retry`, the task's "
                    "own rules and `retry` say what follows"),
      });
}

// The part that says what becomes of it.
void add_policy_rows(std::vector<Row<Task>>& rows) {
  constexpr Within<&Task::retry, &Retry::attempts> attempts;
  constexpr Within<&Task::retry, &Retry::first> first;
  constexpr Within<&Task::retry, &Retry::factor> factor;
  constexpr Within<&Task::retry, &Retry::cap> cap;
  constexpr Within<&Task::retry, &Retry::jitter> jitter;
  rows.insert(
      rows.end(),
      {
          row<Task>("timeout", &Task::timeout, SpanOr{"none", {1ms, kDay * 30}}, yes,
                    "how long one attempt may take, or `none`"),
          row<Task>("retry.attempts", attempts, Whole{1, 1'000'000}, yes,
                    "most attempts: the first, and the retries"),
          row<Task>("retry.first", first, Span{0s, kDay * 30}, yes,
                    "the wait before the first retry"),
          row<Task>("retry.factor", factor, Fraction{1, 1000}, yes,
                    "each further wait is so many times as long"),
          row<Task>("retry.cap", cap, Span{0s, kDay * 30}, yes, "no wait is longer"),
          row<Task>("retry.jitter", jitter, Choice<retry::Jitter>{"jitter", kJitters}, yes,
                    "how waits are spread: `none`, `full`, `equal` or `decorrelated`"),
          row<Task>("crashes", &Task::crashes, Whole{1, 1'000'000}, yes,
                    "so often may it take its worker down before it is put aside"),
          row<Task>("deferrals", &Task::deferrals, Whole{1, 1'000'000}, yes,
                    "so often may throttles and open breakers put it off"),
          row<Task>("replays", &Task::replays, Whole{0, 1'000'000}, yes,
                    "so often may it be brought back without somebody insisting"),
          row<Task>("deadline", &Task::deadline, SpanOr{"none", {1ms, kTenYears}}, yes,
                    "no attempt begins later after its submission, or `none`; a task may have one "
                    "of its own"),
          row<Task>("dependency", &Task::dependency, Text{check_dependency}, yes,
                    "what it calls: types that name the same share a circuit breaker. Of a webhook "
                    "that does not say, its host; `\"\"` is none"),
          row<Task>("presets", &Task::presets, Texts{check_preset}, yes,
                    "rules that say which failures can recover: `ethereum`, `aws`, `database`, "
                    "`http`, `network`, or `all`"),
          row<Task>("rules", &Task::rules, RulesAt{}, yes,
                    "a file of rules of your own, which go before the presets"),
      });
}

Section<Task> task_section() {
  Section<Task> section{
      "task",
      "How tasks of one type are run. `command`, `webhook` or `pull = true`: exactly one of them.",
      {}};
  add_handler_rows(section.rows);
  add_input_rows(section.rows);
  add_policy_rows(section.rows);
  return section;
}

Section<Webhook> webhook_section() {
  return {"webhook",
          "What holds for all webhooks.",
          {
              row<Webhook>("allow", &Webhook::allow, Networks{}, no,
                           "private networks that they may reach, such as `10.0.0.0/8`; `loopback` "
                           "is this machine"),
              row<Webhook>("user_agent", &Webhook::user_agent, Text{check_user_agent}, no,
                           "how they introduce themselves"),
          }};
}

Section<Inputs> inputs_section() {
  return {"inputs",
          "Where the inputs of tasks lie while they are worked on.",
          {row<Inputs>("folder", &Inputs::folder, Path{PathUse::folder}, no,
                       "a folder in which the server makes one of its own, which only it can look "
                       "into; without it, TMPDIR or /var/tmp")}};
}

Section<Alerts> alerts_section() {
  constexpr int kMost = std::numeric_limits<int>::max();
  return {
      "alerts",
      "Who is told when things go wrong.",
      {
          row<Alerts>("webhook", &Alerts::webhook, Endpoint{}, yes,
                      "the URL that alerts are sent to; `env:NAME` or `file:PATH` if it is a "
                      "secret; without it they are in `/v1/stats` and `/v1/events` alone"),
          row<Alerts>("secret", &Alerts::secret, SecretText{SecretText::Use::signature}, yes,
                      "signs them, as of a task"),
          row<Alerts>("every", &Alerts::every, Span{1s, kDay}, yes,
                      "how often the thresholds are looked at"),
          row<Alerts>("over", &Alerts::over, Span{1s, kDay * 7}, yes,
                      "over how long they count; no less than `every`"),
          row<Alerts>("dead_letters", &Alerts::dead_letters, Whole{0, kMost}, yes,
                      "alert at so many new dead letters; 0: never"),
          row<Alerts>("retry_rate", &Alerts::retry_rate, Fraction{0, 1}, yes,
                      "alert when more than this share of attempts is retried; 0: never"),
          row<Alerts>("timeout_rate", &Alerts::timeout_rate, Fraction{0, 1}, yes,
                      "alert when more than this share of attempts times out; 0: never"),
          row<Alerts>("min_tasks", &Alerts::min_tasks, Whole{1, kMost}, yes,
                      "with fewer attempts than this, the two rates say nothing"),
          row<Alerts>("backlog_age", &Alerts::backlog_age, SpanOr{"none", {1s, kDay * 365}}, yes,
                      "alert when a task of a queue that is not paused has been due for "
                      "longer, or `none`"),
          row<Alerts>("quiet", &Alerts::quiet, Span{0s, kDay * 7}, yes,
                      "the same alert is not repeated for so long"),
      }};
}

Section<Events> events_section() {
  return {"events",
          "The stream of events at `/v1/events`.",
          {row<Events>("keep", &Events::keep, Whole{0, 10'000'000}, no,
                       "so many past events are kept, for clients that come back")}};
}

}  // namespace

const Sections& sections() {
  static const Sections all{
      store_section(),    http_section(),   token_section(),   log_section(),
      shutdown_section(), engine_section(), queue_section(),   task_section(),
      webhook_section(),  inputs_section(), alerts_section(),  events_section(),
      aws_section(),      broker_section(), recover_section(), route_section()};
  return all;
}

std::vector<TableInfo> tables() {
  std::vector<TableInfo> all;
  each_section([&]<class S>(const Section<S>& section, auto member) {
    TableInfo table{std::string(section.name), section.meaning, {}};
    if (has_names<S>(member)) table.name += "." + std::string(section.placeholder);
    for (const Row<S>& row : section.rows)
      table.keys.push_back(row.info);
    all.push_back(std::move(table));
  });
  TableInfo field{all.back().name + ".body.FIELD", body_field_section().meaning, {}};
  for (const auto& row : body_field_section().rows)
    field.keys.push_back(row.info);
  all.push_back(std::move(field));
  return all;
}

}  // namespace holdfast::config
