#include "server/service.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "config/change.hpp"
#include "core/uuid.hpp"
#include "http/api.hpp"
#include "http/api_brokers.hpp"
#include "http/api_recoveries.hpp"
#include "http/api_seeing.hpp"
#include "http/api_session.hpp"
#include "http/api_triage.hpp"
#include "http/page.hpp"
#include "http/server.hpp"
#include "io/file_limit.hpp"
#include "io/http_client.hpp"
#include "io/signals.hpp"
#include "node/running_server.hpp"
#include "seeing/readiness.hpp"
#include "seeing/watch.hpp"
#include "server/alert_desk.hpp"
#include "server/broker_desk.hpp"
#include "server/broker_monitor.hpp"
#include "server/carrying.hpp"
#include "server/hiring.hpp"
#include "server/opening.hpp"
#include "server/recoveries.hpp"
#include "server/recovery_desk.hpp"
#include "server/recovery_reporter.hpp"
#include "server/retention.hpp"
#include "server/routing.hpp"
#include "wire/operation_json.hpp"

namespace holdfast::server {
namespace {

// Fails if two of them are the same, so that the role of one is not that of another.
Result<http::Tokens> tokens_of(const config::Config& config) {
  std::vector<http::Tokens::Entry> entries;
  for (const auto& [name, token] : config.tokens) {
    entries.push_back({.name = name,
                       .role = role_of(token.role),
                       .hash = token.hash ? *token.hash : http::sha256(token.secret.reveal())});
    const auto same = std::ranges::find(entries, entries.back().hash, &http::Tokens::Entry::hash);
    if (same == std::prev(entries.end())) continue;
    return fail(ErrorCode::invalid_argument, "token \"" + name + "\"",
                "is the same as token \"" + same->name + "\"");
  }
  return http::Tokens(std::move(entries));
}

// So much of a fresh id that no other server has it.
std::string new_life() {
  return UuidSource(system_random()).next(system_clock().wall_now()).text().substr(24);
}

bool has_queues_of_its_own(const config::Config& config) {
  return std::ranges::any_of(config.queues,
                             [](const auto& one) { return !one.second.broker.is_set(); });
}

}  // namespace

struct Service::Parts {
  Parts(config::Config its_config, Options its_options)
      : config(std::move(its_config)),
        options(std::move(its_options)),
        watch(system_clock(), {.keep_events = static_cast<std::size_t>(config.events.keep),
                               .life = new_life(),
                               .store = config.store.url.shown}) {}

  [[nodiscard]] Result<void> start();
  [[nodiscard]] Result<void> set_up();  // on the loop
  void set_up_seeing();                 // likewise
  void set_up_brokers();                // likewise
  void keep_recoveries();
  using Types = std::vector<std::pair<std::string, engine::TypeOptions>>;
  // How the tasks of a configuration are run; of those that `old` has the same, nothing.
  [[nodiscard]] Result<Types> types_of(const config::Config& from, const config::Config* old);
  [[nodiscard]] Result<void> reload(const config::Config& next);
  [[nodiscard]] Result<void> apply(const config::Config& next);  // on the loop
  void change_engine(const config::Config& old, const config::Config& now, Types types);
  [[nodiscard]] Result<std::shared_ptr<ports::Handler>> handler_of(const config::Task& task);
  [[nodiscard]] Result<std::shared_ptr<inputs::Landing>> landing_place();
  [[nodiscard]] node::Node::Work work();
  void set_limits(const config::Config* old = nullptr);
  void announce_self();
  [[nodiscard]] std::string own_url() const;
  Stopped stop();

  config::Config config;
  const Options options;
  seeing::Watch watch;  // loop only, once there is one
  std::shared_ptr<node::Node> node;
  std::shared_ptr<const io::AddressGuard> guard;

  // Loop only.
  std::optional<io::HttpClient> client;
  std::shared_ptr<inputs::Landing> landing;  // once a task has an input
  std::unique_ptr<io::Signals> signals;
  http::Routes routes;
  std::unique_ptr<http::Api> api;
  std::unique_ptr<http::SeeingApi> seeing_api;
  std::unique_ptr<http::TriageApi> triage_api;
  std::unique_ptr<AlertDesk> alerts;
  std::unique_ptr<BrokerMonitor> monitor;
  std::unique_ptr<RecoveryReporter> reporter;
  std::unique_ptr<BrokerDesk> broker_desk;
  std::unique_ptr<http::BrokersApi> brokers_api;
  std::unique_ptr<RecoveryDesk> recovery_desk;
  std::unique_ptr<http::RecoveriesApi> recoveries_api;
  std::unique_ptr<Recoveries> recoveries;
  std::unique_ptr<http::Gate> gate;
  std::unique_ptr<http::Server> server;
  bool ready = false;
  bool has_own_queues = true;  // see readiness_of()

  std::uint16_t port = 0;
  bool working = false;
  std::optional<Stopped> stopped;
};

Result<void> Service::Parts::start() {
  io::raise_file_limit();
  auto opened = open_patiently(config.store.url.text.reveal(), options.log);
  if (!opened) return std::unexpected(std::move(opened).error());
  node = *std::move(opened);
  Result<void> set;
  node->on_loop([&] { set = set_up(); });
  if (!set) return set;
  node::Node::Work all = work();
  Result<void> hired;
  node->on_loop([&] {
    if (auto types = types_of(config, nullptr)) {
      all.types = *std::move(types);
    } else {
      hired = std::unexpected(std::move(types).error());
    }
    monitor = std::make_unique<BrokerMonitor>(node->loop(), watch.brokers(), options.log);
    if (auto carried =
            carriages_of(config, node->loop(), options.log, all.on_broken, monitor.get())) {
      all.carried = *std::move(carried);
      for (const engine::Carriage& carriage : all.carried)
        watch.expect_publishing(carriage.queue);
    } else {
      hired = std::unexpected(std::move(carried).error());
    }
  });
  if (!hired) return hired;
  if (auto started = node->start_work(std::move(all)); !started) return started;
  working = true;
  set_limits();
  Result<void> listening;
  node->on_loop([&] {
    listening = alerts->set(config.alerts);
    reporter = std::make_unique<RecoveryReporter>(RecoveryReporter::Parts{
        .counts = watch.recoveries(),
        .clock = node->clock(),
        .notify = [this](std::string json) { alerts->send(std::move(json)); },
        .audit = [this](AuditEntry entry) { node->audit().note(std::move(entry)); },
        .server = config.http.public_url.shown});
    recoveries = std::make_unique<Recoveries>(node->loop(), options.log, *reporter);
    reporter->expect(config.recoveries);
    node->operations().on_change([this](const Operation& operation) {
      std::string text;
      wire::JsonWriter writer(text);
      write(writer, operation);
      watch.events().operation(std::move(text), node->clock().wall_now());
    });
    node->operations().start();
    recoveries->on_begin(
        [this](const BrokerPlace& place) { return recovery_desk->is_running(place); });
    recovery_desk->start();
    if (listening) listening = recoveries->set(config.recoveries);
    if (listening) listening = monitor->set(config.recoveries);
    if (listening) listening = broker_desk->set(config);
    if (listening) listening = server->listen();
    ready = listening.has_value();
    if (ready) port = server->port();
  });
  if (listening) announce_self();
  return listening;
}

// So that the command line finds this server by its file.
void Service::Parts::announce_self() {
  const auto told = node::announce(config.store.url.text.reveal(), own_url());
  if (told) return;
  options.log.log(Level::warning, "server.not_announced",
                  "the command line will not find this server by its file: give it --server",
                  {{"error", told.error().text()}});
}

std::string Service::Parts::own_url() const {
  config::Listen listen = config.http.listen;
  listen.port = port;
  // "Everywhere" is no place to connect to.
  if (listen.address == "0.0.0.0") listen.address = "127.0.0.1";
  if (listen.address == "::") listen.address = "::1";
  const bool tls = !config.http.tls_certificate.empty();
  return (tls ? "https://" : "http://") + listen.text();
}

Result<void> Service::Parts::set_up() {
  signals = std::make_unique<io::Signals>(
      node->loop(),
      [this](int signal, int count) {
        if (count > 1) return node->hurry();
        if (options.on_signal) options.on_signal(signal);
      },
      options.on_hangup, io::Signals::Afterwards::ignored_once_heard);
  auto made = guard_of(config.webhook);
  if (!made) return std::unexpected(std::move(made).error());
  guard = *std::move(made);
  auto started = io::HttpClient::start(node->loop(), {.user_agent = config.webhook.user_agent});
  if (!started) return std::unexpected(std::move(started).error());
  client.emplace(*std::move(started));
  api = std::make_unique<http::Api>(
      *node,
      http::ApiLimits{.max_payload = config.http.max_payload,
                      .max_array = static_cast<std::size_t>(config.http.max_array),
                      .max_json_depth = static_cast<std::size_t>(config.http.max_json_depth),
                      .default_lease = config.engine.lease},
      node->clock(),
      http::Api::Health{
          .is_ready = [this] { return ready; },
          .readiness = [this] { return seeing::readiness_of(watch.brokers(), has_own_queues); }});
  has_own_queues = has_queues_of_its_own(config);
  // First: "/v1/tasks/count" is not the task "count".
  triage_api = std::make_unique<http::TriageApi>(*node, node->clock());
  triage_api->add_to(routes);
  api->add_to(routes);
  set_up_seeing();
  set_up_brokers();
  auto mapped = routes_of(config);
  if (!mapped) return std::unexpected(std::move(mapped).error());
  api->set_mapped(routes, *std::move(mapped));
  auto tokens = tokens_of(config);
  if (!tokens) return std::unexpected(std::move(tokens).error());
  gate = std::make_unique<http::Gate>(routes, *std::move(tokens));
  http::add_session_routes(routes, *gate, {.tls = !config.http.tls_certificate.empty()});
  http::add_page_routes(routes, http::assets());
  server = std::make_unique<http::Server>(
      node->loop(), *gate,
      http::ServerOptions{.address = config.http.listen.address,
                          .port = config.http.listen.port,
                          .max_body = config.http.max_body,
                          .max_connections = static_cast<std::size_t>(config.http.max_connections),
                          .header_timeout = config.http.header_timeout,
                          .body_timeout = config.http.body_timeout,
                          .idle_timeout = config.http.idle_timeout,
                          .tls_certificate = config.http.tls_certificate,
                          .tls_key = config.http.tls_key,
                          .on_answered =
                              [this](const http::Route* route, int status) {
                                if (!route) return watch.answered("", "", status);
                                watch.answered(route->method, route->pattern, status);
                              }},
      options.log);
  return server->bind();  // no task is begun by a server that cannot be reached
}

void Service::Parts::set_up_seeing() {
  seeing_api = std::make_unique<http::SeeingApi>(*node, watch, [this] {
    return http::SeeingApi::Traffic{.connections = server->connections(),
                                    .requests_under_way = server->requests_under_way()};
  });
  seeing_api->add_to(routes);
  alerts =
      std::make_unique<AlertDesk>(AlertDesk::Parts{.node = *node,
                                                   .client = *client,
                                                   .guard = guard,
                                                   .watch = watch,
                                                   .log = options.log,
                                                   .public_url = config.http.public_url.shown});
}

void Service::Parts::set_up_brokers() {
  broker_desk = std::make_unique<BrokerDesk>(node->loop(), system_clock(), options.log);
  brokers_api = std::make_unique<http::BrokersApi>(*broker_desk);
  brokers_api->add_to(routes);
  recovery_desk = std::make_unique<RecoveryDesk>(RecoveryDesk::Parts{
      .loop = node->loop(),
      .writer = node->writer(),
      .reader = node->reader(),
      .clock = node->clock(),
      .random = system_random(),
      .audit = node->audit(),
      .brokers = *broker_desk,
      .runner = new_life(),
      .is_shared = node->is_shared(),
      .is_busy =
          [this](const BrokerPlace& place) { return recoveries && recoveries->is_running(place); },
      .log = options.log});
  broker_desk->on_recovery([this](const std::string& broker, const std::string& queue) {
    return recovery_desk->running_on(broker, queue);
  });
  recoveries_api = std::make_unique<http::RecoveriesApi>(*recovery_desk);
  recoveries_api->add_to(routes);
}

node::Node::Work Service::Parts::work() {
  node::Node::Work all{.lease = config.engine.lease,
                       .grace = config.shutdown.grace,
                       .stop_grace = config.shutdown.stop_grace,
                       .keep = keep_of(config.store),
                       .log = options.log,
                       .observer = &watch};
  Retention retention = retention_of(config.store, node->loop(), options.log);
  all.spill = std::move(retention.spill);
  all.memo = std::move(retention.memo);
  for (const auto& [name, queue] : config.queues) {
    if (auto rule = dead_letters_of(name, queue)) all.dead_letters.push_back(*std::move(rule));
    // What others pull is not claimed here.
    if (queue.pull) continue;
    all.queues.push_back(
        {.name = name, .concurrency = static_cast<std::size_t>(queue.concurrency)});
  }
  all.on_broken = [this](const Error& error) {
    ready = false;
    if (options.on_broken) options.on_broken(error);
  };
  return all;
}

Result<Service::Parts::Types> Service::Parts::types_of(const config::Config& from,
                                                       const config::Config* old) {
  Types types;
  for (const auto& [name, task] : from.tasks) {
    if (old) {
      const auto before = old->tasks.find(name);
      if (before != old->tasks.end() && before->second == task) continue;
    }
    auto classifier = classifier_of(task);
    auto handler = handler_of(task);
    const Error* error = !classifier ? &classifier.error() : !handler ? &handler.error() : nullptr;
    if (error) return fail(error->code, "task \"" + name + "\"", error->text());
    watch.tally().expect(task.queue, name);
    types.emplace_back(name, engine::TypeOptions{.handler = *std::move(handler),
                                                 .policy = policy_of(task),
                                                 .classifier = *std::move(classifier),
                                                 .dependency = task.dependency,
                                                 .deadline = task.deadline,
                                                 .queue = task.queue});
  }
  return types;
}

Result<std::shared_ptr<ports::Handler>> Service::Parts::handler_of(const config::Task& task) {
  return make_handler(task, {.loop = node->loop(),
                             .client = *client,
                             .guard = guard,
                             .stop_grace = config.shutdown.stop_grace,
                             .log = options.log,
                             .landing = [this] { return landing_place(); }});
}

Result<std::shared_ptr<inputs::Landing>> Service::Parts::landing_place() {
  if (landing) return landing;
  auto opened = inputs::Landing::open(node->loop(), config.inputs.folder);
  if (opened) landing = *opened;
  return opened;
}

// Settings that the store keeps are those of the configuration from now on: a queue that it does
// not name has none, unless the store is shared and another configuration may name it. What
// somebody has set since stays, unless `old` says otherwise.
void Service::Parts::set_limits(const config::Config* old) {
  const auto set = [this](const std::string& name, int limit, int backlog) {
    const auto done = node->configure({.queue = name, .concurrency = limit, .backlog = backlog});
    if (done) return;
    options.log.log(Level::warning, "queue.limit", "the limits of a queue could not be set",
                    {{"queue", name}, {"error", done.error().text()}});
  };
  for (const auto& [name, queue] : config.queues) {
    const auto before = old ? old->queues.find(name) : config.queues.end();
    const bool same = old && before != old->queues.end() && before->second.limit == queue.limit &&
                      before->second.backlog == queue.backlog;
    if (!same) set(name, queue.limit, queue.backlog);
  }
  if (!old && node->is_shared()) return;
  const auto kept = node->query(ports::Count{});
  if (!kept) return;  // nor were those set, and the log says why
  for (const ports::QueueCounts& queue : *kept) {
    const bool has_limits = queue.concurrency != 0 || queue.backlog != 0;
    const bool left = !old || old->queues.contains(queue.queue);
    if (has_limits && left && !config.queues.contains(queue.queue)) set(queue.queue, 0, 0);
  }
}

// What may be refused comes first; then nothing is.
Result<void> Service::Parts::apply(const config::Config& next) {
  // The file was checked with an address that it cannot change any more.
  if (!next.http.listen.is_loopback() && next.tokens.empty()) {
    return fail(ErrorCode::invalid_argument, "reload",
                "without tokens only loopback may be served, and this server listens on " +
                    next.http.listen.text() + " until it is started anew");
  }
  auto tokens = tokens_of(next);
  if (!tokens) return std::unexpected(std::move(tokens).error());
  auto types = types_of(next, &config);
  if (!types) return std::unexpected(std::move(types).error());
  auto mapped = routes_of(next);
  if (!mapped) return std::unexpected(std::move(mapped).error());
  if (auto checked = server->check_tls(); !checked) return checked;
  if (auto checked = Recoveries::check(next.recoveries); !checked) return checked;
  if (auto set = broker_desk->set(next); !set) return set;
  if (auto set = alerts->set(next.alerts); !set) return set;
  if (auto set = monitor->set(next.recoveries); !set) return set;
  reporter->expect(next.recoveries);
  if (auto set = recoveries->set(next.recoveries); !set) return set;
  if (auto read = server->reload_tls(); !read) {
    options.log.log(Level::error, "http.certificate", "the old certificate stays in use",
                    {{"error", read.error().text()}});
  }
  has_own_queues = has_queues_of_its_own(next);
  change_engine(config, next, *std::move(types));
  gate->set_tokens(*std::move(tokens));
  api->set_mapped(routes, *std::move(mapped));
  // Whoever may not come in any more may not go on reading either.
  if (next.tokens != config.tokens) server->cut_streams();
  return {};
}

Result<void> Service::Parts::reload(const config::Config& next) {
  config::Change change = config::diff(config, next);
  Result<void> done;
  node->on_loop([&] { done = apply(change.config); });
  if (!done) return done;
  const config::Config old = std::exchange(config, std::move(change.config));
  set_limits(&old);
  for (const std::string& what : change.reloaded)
    options.log.log(Level::info, "config.changed", what);
  for (const std::string& what : change.needs_restart) {
    options.log.log(Level::warning, "config.needs_restart",
                    "this holds only after a restart: " + what);
  }
  options.log.log(
      Level::info, "config.reloaded", "the configuration was read again",
      {{"changed", change.reloaded.size()}, {"needs_restart", change.needs_restart.size()}});
  return {};
}

// Those of which something else is said than before.
static void change_dead_letters(engine::Engine& engine, const config::Config& old,
                                const config::Config& now) {
  for (const auto& [name, queue] : old.queues) {
    const bool was_kept = queue.on_dead == config::OnDead::keep;
    const auto after = now.queues.find(name);
    const bool is_kept = after == now.queues.end() || after->second.on_dead == config::OnDead::keep;
    if (is_kept && !was_kept) engine.keep_dead_letters(name);
  }
  for (const auto& [name, queue] : now.queues) {
    const auto before = old.queues.find(name);
    auto rule = dead_letters_of(name, queue);
    if (!rule || (before != old.queues.end() && dead_letters_of(name, before->second) == rule)) {
      continue;
    }
    engine.consume_dead_letters(*std::move(rule));
  }
}

// On the loop.
void Service::Parts::change_engine(const config::Config& old, const config::Config& now,
                                   Types types) {
  engine::Engine& engine = node->engine();
  for (const auto& [name, task] : old.tasks) {
    if (!now.tasks.contains(name)) engine.forget(name);
  }
  for (auto& [name, how] : types)
    engine.handle(std::move(name), std::move(how));
  for (const auto& [name, queue] : old.queues) {
    const auto after = now.queues.find(name);
    if (after == now.queues.end() || after->second.pull) engine.leave(name);
  }
  change_dead_letters(engine, old, now);
  for (const auto& [name, queue] : now.queues) {
    if (queue.pull) continue;
    engine.serve({.name = name, .concurrency = static_cast<std::size_t>(queue.concurrency)});
  }
}

// What recoveries have come to is in the store before that is closed.
void Service::Parts::keep_recoveries() {
  static_cast<void>(node->call<bool>("keep recoveries", [this](auto then) {
    recovery_desk->flush([then = std::move(then)]() mutable { then(true); });
  }));
}

Service::Stopped Service::Parts::stop() {
  if (stopped) return *stopped;
  Stopped report;
  if (node) {
    node->on_loop([this] {
      ready = false;
      if (server) server->stop_accepting();
    });
  }
  std::vector<std::jthread> ending;
  if (node) {
    node->on_loop([&] {
      if (recoveries) ending = recoveries->end();
      monitor.reset();
      if (recovery_desk) std::ranges::move(recovery_desk->end(), std::back_inserter(ending));
    });
  }
  if (working) {
    const auto done = node->stop_work();
    if (done) {
      report = {.finished = done->finished,
                .handed_back = done->handed_back,
                .cut_short = done->cut_short,
                .left_behind = done->abandoned};
    } else {
      report.error = done.error();
    }
  }
  ending.clear();  // waits for them
  if (node && recovery_desk) keep_recoveries();
  const auto close = [this] {
    server.reset();
    recoveries.reset();
    monitor.reset();
    recovery_desk.reset();
    broker_desk.reset();
    alerts.reset();
    seeing_api.reset();
    client.reset();
    landing.reset();
    signals.reset();
  };
  if (node) node->on_loop(close);
  close();  // a loop that has failed does nothing any more
  node.reset();
  stopped = report;
  return report;
}

Result<std::unique_ptr<Service>> Service::start(config::Config config, Options options) {
  auto parts = std::make_unique<Parts>(std::move(config), std::move(options));
  if (auto started = parts->start(); !started) {
    static_cast<void>(parts->stop());
    return std::unexpected(std::move(started).error());
  }
  return std::make_unique<Service>(std::move(parts));
}

Service::Service(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Service::~Service() {
  static_cast<void>(parts_->stop());
}

std::string Service::url() const {
  config::Listen listen = parts_->config.http.listen;
  listen.port = parts_->port;
  const bool tls = !parts_->config.http.tls_certificate.empty();
  return (tls ? "https://" : "http://") + listen.text();
}

std::uint16_t Service::port() const {
  return parts_->port;
}

Service::Stopped Service::stop() {
  return parts_->stop();
}

Result<void> Service::reload(const config::Config& next) {
  return parts_->reload(next);
}

const config::Config& Service::config() const {
  return parts_->config;
}

void Service::hurry() {
  if (parts_->node) parts_->node->hurry();
}

}  // namespace holdfast::server
