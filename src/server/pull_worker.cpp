#include "server/pull_worker.hpp"

#include <map>
#include <optional>
#include <utility>

#include "io/http_client.hpp"
#include "io/signals.hpp"
#include "node/open_remote.hpp"
#include "server/hiring.hpp"

namespace holdfast::server {
namespace {

// Queues of what is run here, each with how many at once.
std::vector<engine::QueueOptions> queues_of(const config::Config& config) {
  std::map<std::string, std::size_t> found;
  for (const auto& [name, task] : config.tasks) {
    if (task.run_by() == config::RunBy::pull) continue;
    const auto queue = config.queues.find(task.queue);
    found[task.queue] = queue == config.queues.end()
                            ? engine::QueueOptions().concurrency
                            : static_cast<std::size_t>(queue->second.concurrency);
  }
  std::vector<engine::QueueOptions> queues;
  for (const auto& [name, concurrency] : found)
    queues.push_back({.name = name, .concurrency = concurrency});
  return queues;
}

}  // namespace

struct PullWorker::Parts {
  [[nodiscard]] Result<void> start(const config::Config& config, Options options);
  [[nodiscard]] Result<void> set_up(const config::Config& config, Options& options,
                                    node::Node::Work& work);  // on the loop
  Stopped stop();

  node::RemoteNode remote;
  std::shared_ptr<const io::AddressGuard> guard;
  std::optional<io::HttpClient> client;  // loop only, as is what follows
  std::shared_ptr<inputs::Landing> landing;
  std::unique_ptr<io::Signals> signals;
  bool working = false;
  std::optional<Stopped> stopped;
};

Result<void> PullWorker::Parts::start(const config::Config& config, Options options) {
  node::Node::Work work{.queues = queues_of(config),
                        .lease = config.engine.lease,
                        .grace = config.shutdown.grace,
                        .stop_grace = config.shutdown.stop_grace,
                        .claims_ahead = false,
                        .log = options.log};
  if (work.queues.empty()) {
    return fail(ErrorCode::invalid_argument, "start worker",
                "the configuration has no [task] with a command or a webhook to run");
  }
  auto opened = node::open_remote(options.server, options.log);
  if (!opened) return std::unexpected(std::move(opened).error());
  remote = *std::move(opened);
  if (auto checked = remote.check(options.log); !checked) return checked;
  Result<void> set;
  remote.node->on_loop([&] { set = set_up(config, options, work); });
  if (!set) return set;
  work.on_stopping = [lane = remote.lane] { lane->withdraw(); };
  if (auto started = remote.node->start_work(std::move(work)); !started) return started;
  working = true;
  return {};
}

Result<void> PullWorker::Parts::set_up(const config::Config& config, Options& options,
                                       node::Node::Work& work) {
  signals = std::make_unique<io::Signals>(
      remote.node->loop(),
      [this, on_signal = std::move(options.on_signal)](int /*signal*/, int count) {
        if (count > 1) return remote.node->hurry();
        if (on_signal) on_signal();
      });
  auto made = guard_of(config.webhook);
  if (!made) return std::unexpected(std::move(made).error());
  guard = *std::move(made);
  auto started =
      io::HttpClient::start(remote.node->loop(), {.user_agent = config.webhook.user_agent});
  if (!started) return std::unexpected(std::move(started).error());
  client.emplace(*std::move(started));
  const HandlerGround ground{.loop = remote.node->loop(),
                             .client = *client,
                             .guard = guard,
                             .stop_grace = config.shutdown.stop_grace,
                             .log = options.log,
                             .landing = [&]() -> Result<std::shared_ptr<inputs::Landing>> {
                               if (landing) return landing;
                               auto opened =
                                   inputs::Landing::open(remote.node->loop(), config.inputs.folder);
                               if (opened) landing = *opened;
                               return opened;
                             }};
  for (const auto& [name, task] : config.tasks) {
    if (task.run_by() == config::RunBy::pull) continue;
    auto classifier = classifier_of(task);
    auto handler = make_handler(task, ground);
    const Error* error = !classifier ? &classifier.error() : !handler ? &handler.error() : nullptr;
    if (error) return fail(error->code, "task \"" + name + "\"", error->text());
    work.types.emplace_back(name, engine::TypeOptions{.handler = *std::move(handler),
                                                      .policy = policy_of(task),
                                                      .classifier = *std::move(classifier),
                                                      .dependency = task.dependency});
  }
  return {};
}

PullWorker::Stopped PullWorker::Parts::stop() {
  if (stopped) return *stopped;
  Stopped report;
  if (working) {
    const auto done = remote.node->stop_work();
    if (done) {
      report = {.handed_back = done->handed_back, .cut_short = done->cut_short};
    } else {
      report.error = done.error();
    }
  }
  if (remote.node) {
    remote.node->on_loop([this] {
      client.reset();
      landing.reset();
      signals.reset();
    });
  }
  remote = {};
  stopped = report;
  return report;
}

Result<std::unique_ptr<PullWorker>> PullWorker::start(const config::Config& config,
                                                      Options options) {
  auto parts = std::make_unique<Parts>();
  if (auto started = parts->start(config, std::move(options)); !started) {
    static_cast<void>(parts->stop());
    return std::unexpected(std::move(started).error());
  }
  return std::make_unique<PullWorker>(std::move(parts));
}

PullWorker::PullWorker(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

PullWorker::~PullWorker() {
  static_cast<void>(parts_->stop());
}

PullWorker::Stopped PullWorker::stop() {
  return parts_->stop();
}

}  // namespace holdfast::server
