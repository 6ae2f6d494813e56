#include "server/service.hpp"

#include <utility>
#include <vector>

#include "http/api.hpp"
#include "http/server.hpp"
#include "io/http_client.hpp"
#include "io/signals.hpp"
#include "node/registry.hpp"
#include "node/running_server.hpp"
#include "server/hiring.hpp"

namespace holdfast::server {
namespace {

http::Role role_of(config::Role role) {
  switch (role) {
    case config::Role::submit: return http::Role::submit;
    case config::Role::read: return http::Role::read;
    case config::Role::work: return http::Role::work;
    case config::Role::operate: return http::Role::operate;
  }
  return http::Role::submit;
}

http::Tokens tokens_of(const config::Config& config) {
  std::vector<http::Tokens::Entry> entries;
  for (const auto& [name, token] : config.tokens) {
    entries.push_back({.name = name,
                       .role = role_of(token.role),
                       .hash = token.hash ? *token.hash : http::sha256(token.secret.reveal())});
  }
  return http::Tokens(std::move(entries));
}

}  // namespace

struct Service::Parts {
  Parts(config::Config its_config, Options its_options)
      : config(std::move(its_config)), options(std::move(its_options)) {}

  [[nodiscard]] Result<void> start();
  [[nodiscard]] Result<void> set_up();  // on the loop
  [[nodiscard]] Result<void> hire(node::Node::Work& work);
  [[nodiscard]] Result<std::shared_ptr<ports::Handler>> handler_of(const config::Task& task);
  [[nodiscard]] node::Node::Work work();
  void set_limits();
  void announce_self();
  [[nodiscard]] std::string own_url() const;
  Stopped stop();

  const config::Config config;
  const Options options;
  std::shared_ptr<node::Node> node;
  std::shared_ptr<const io::AddressGuard> guard;

  // Loop only.
  std::optional<io::HttpClient> client;
  std::unique_ptr<io::Signals> signals;
  http::Routes routes;
  std::unique_ptr<http::Api> api;
  std::unique_ptr<http::Gate> gate;
  std::unique_ptr<http::Server> server;
  bool ready = false;

  std::uint16_t port = 0;
  bool working = false;
  std::optional<Stopped> stopped;
};

Result<void> Service::Parts::start() {
  auto opened = node::open(config.store.url, options.log);
  if (!opened) return std::unexpected(std::move(opened).error());
  node = *std::move(opened);
  Result<void> set;
  node->on_loop([&] { set = set_up(); });
  if (!set) return set;
  node::Node::Work all = work();
  Result<void> hired;
  node->on_loop([&] { hired = hire(all); });
  if (!hired) return hired;
  if (auto started = node->start_work(std::move(all)); !started) return started;
  working = true;
  set_limits();
  Result<void> listening;
  node->on_loop([&] {
    listening = server->listen();
    ready = listening.has_value();
    if (ready) port = server->port();
  });
  if (listening) announce_self();
  return listening;
}

// So that the command line finds this server by its file.
void Service::Parts::announce_self() {
  const auto told = node::announce(config.store.url, own_url());
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
  signals = std::make_unique<io::Signals>(node->loop(), [this](int signal, int count) {
    if (count > 1) return node->hurry();
    if (options.on_signal) options.on_signal(signal);
  });
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
      system_clock(), [this] { return ready; });
  api->add_to(routes);
  gate = std::make_unique<http::Gate>(routes, tokens_of(config));
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
                          .tls_key = config.http.tls_key},
      options.log);
  return {};
}

node::Node::Work Service::Parts::work() {
  node::Node::Work all{.lease = config.engine.lease,
                       .grace = config.shutdown.grace,
                       .stop_grace = config.shutdown.stop_grace,
                       .keep = {.succeeded = config.store.keep_succeeded,
                                .canceled = config.store.keep_canceled,
                                .failed = config.store.keep_failed,
                                .dead = config.store.keep_dead},
                       .log = options.log};
  for (const auto& [name, queue] : config.queues) {
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

Result<void> Service::Parts::hire(node::Node::Work& all) {
  for (const auto& [name, task] : config.tasks) {
    auto classifier = classifier_of(task);
    auto handler = handler_of(task);
    const Error* error = !classifier ? &classifier.error() : !handler ? &handler.error() : nullptr;
    if (error) return fail(error->code, "task \"" + name + "\"", error->text());
    all.types.emplace_back(name, engine::TypeOptions{.handler = *std::move(handler),
                                                     .policy = policy_of(task),
                                                     .classifier = *std::move(classifier),
                                                     .dependency = task.dependency});
  }
  return {};
}

Result<std::shared_ptr<ports::Handler>> Service::Parts::handler_of(const config::Task& task) {
  return make_handler(task, {.loop = node->loop(),
                             .client = *client,
                             .guard = guard,
                             .stop_grace = config.shutdown.stop_grace});
}

// Settings that the store keeps are those of the configuration from now on.
void Service::Parts::set_limits() {
  for (const auto& [name, queue] : config.queues) {
    const auto set = node->configure({.queue = name, .concurrency = queue.limit});
    if (set) continue;
    options.log.log(Level::warning, "queue.limit", "the limit of a queue could not be set",
                    {{"queue", name}, {"error", set.error().text()}});
  }
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
  if (node) {
    node->on_loop([this] {
      server.reset();
      client.reset();
      signals.reset();
    });
  }
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

Service::Stopped Service::stop() {
  return parts_->stop();
}

void Service::hurry() {
  if (parts_->node) parts_->node->hurry();
}

}  // namespace holdfast::server
