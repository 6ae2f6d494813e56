#include "server/task_worker.hpp"

#include <map>
#include <utility>

#include "io/http_client.hpp"
#include "io/signals.hpp"
#include "node/open_remote.hpp"
#include "server/carrying.hpp"
#include "server/hiring.hpp"
#include "server/opening.hpp"
#include "server/retention.hpp"

namespace holdfast::server {
namespace {

// Of a configuration, what is run here: its tasks with a command or a webhook, and their queues.
config::Config what_runs_here(config::Config config) {
  std::erase_if(config.tasks,
                [](const auto& task) { return task.second.run_by() == config::RunBy::pull; });
  std::map<std::string, config::Queue> queues;
  for (const auto& [name, task] : config.tasks) {
    const auto queue = config.queues.find(task.queue);
    queues[task.queue] = queue == config.queues.end() ? config::Queue() : queue->second;
  }
  config.queues = std::move(queues);
  return config;
}

}  // namespace

struct TaskWorker::Parts {
  Parts(config::Config its_config, Options its_options)
      : config(what_runs_here(std::move(its_config))), options(std::move(its_options)) {}

  [[nodiscard]] Result<void> start();
  [[nodiscard]] Result<void> join_server(node::Node::Work& work);
  [[nodiscard]] Result<void> join_store(node::Node::Work& work);
  [[nodiscard]] Result<void> set_up(node::Node::Work& work);  // on the loop
  [[nodiscard]] Result<void> hire(node::Node::Work& work);    // likewise
  void set_limits();
  Stopped stop();

  const config::Config config;
  Options options;
  std::shared_ptr<node::Node> node;
  std::shared_ptr<const io::AddressGuard> guard;
  std::optional<io::HttpClient> client;  // loop only, as is what follows
  std::shared_ptr<inputs::Landing> landing;
  std::unique_ptr<io::Signals> signals;
  bool working = false;
  std::optional<Stopped> stopped;
};

Result<void> TaskWorker::Parts::start() {
  if (config.queues.empty()) {
    return fail(ErrorCode::invalid_argument, "start worker",
                "the configuration has no [task] with a command or a webhook to run");
  }
  node::Node::Work work{.lease = config.engine.lease,
                        .grace = config.shutdown.grace,
                        .stop_grace = config.shutdown.stop_grace,
                        .log = options.log,
                        .on_broken = options.on_broken};
  for (const auto& [name, queue] : config.queues) {
    work.queues.push_back(
        {.name = name, .concurrency = static_cast<std::size_t>(queue.concurrency)});
  }
  if (auto joined = options.server ? join_server(work) : join_store(work); !joined) return joined;
  Result<void> set;
  node->on_loop([&] { set = set_up(work); });
  if (!set) return set;
  if (auto started = node->start_work(std::move(work)); !started) return started;
  working = true;
  if (!options.server) set_limits();
  return {};
}

Result<void> TaskWorker::Parts::join_server(node::Node::Work& work) {
  auto opened = node::open_remote(*options.server, options.log);
  if (!opened) return std::unexpected(std::move(opened).error());
  node = opened->node;
  if (auto checked = opened->check(options.log); !checked) return checked;
  work.claims_ahead = false;
  work.on_stopping = [lane = opened->lane] { lane->withdraw(); };
  return {};
}

// There may be no server at all: what one would do for these queues is done here.
Result<void> TaskWorker::Parts::join_store(node::Node::Work& work) {
  auto opened = open_patiently(options.store, options.log);
  if (!opened) return std::unexpected(std::move(opened).error());
  node = *std::move(opened);
  work.keep = keep_of(config.store);
  Retention retention = retention_of(config.store, node->loop(), options.log);
  work.spill = std::move(retention.spill);
  work.memo = std::move(retention.memo);
  for (const auto& [name, queue] : config.queues) {
    if (auto rule = dead_letters_of(name, queue)) work.dead_letters.push_back(*std::move(rule));
  }
  return {};
}

Result<void> TaskWorker::Parts::set_up(node::Node::Work& work) {
  signals = std::make_unique<io::Signals>(
      node->loop(),
      [this](int /*signal*/, int count) {
        if (count > 1) return node->hurry();
        if (options.on_signal) options.on_signal();
      },
      nullptr, io::Signals::Afterwards::ignored_once_heard);
  auto made = guard_of(config.webhook);
  if (!made) return std::unexpected(std::move(made).error());
  guard = *std::move(made);
  auto started = io::HttpClient::start(node->loop(), {.user_agent = config.webhook.user_agent});
  if (!started) return std::unexpected(std::move(started).error());
  client.emplace(*std::move(started));
  if (!options.server) {
    auto carried = carriages_of(config, node->loop(), options.log, options.on_broken);
    if (!carried) return std::unexpected(std::move(carried).error());
    work.carried = *std::move(carried);
  }
  return hire(work);
}

Result<void> TaskWorker::Parts::hire(node::Node::Work& work) {
  const HandlerGround ground{.loop = node->loop(),
                             .client = *client,
                             .guard = guard,
                             .stop_grace = config.shutdown.stop_grace,
                             .log = options.log,
                             .landing = [&]() -> Result<std::shared_ptr<inputs::Landing>> {
                               if (landing) return landing;
                               auto opened =
                                   inputs::Landing::open(node->loop(), config.inputs.folder);
                               if (opened) landing = *opened;
                               return opened;
                             }};
  for (const auto& [name, task] : config.tasks) {
    auto classifier = classifier_of(task);
    auto handler = make_handler(task, ground);
    const Error* error = !classifier ? &classifier.error() : !handler ? &handler.error() : nullptr;
    if (error) return fail(error->code, "task \"" + name + "\"", error->text());
    engine::TypeOptions how{.handler = *std::move(handler),
                            .policy = policy_of(task),
                            .classifier = *std::move(classifier),
                            .dependency = task.dependency};
    if (!options.server) {
      how.deadline = task.deadline;
      how.queue = task.queue;
    }
    work.types.emplace_back(name, std::move(how));
  }
  return {};
}

// Only those that the configuration has: another worker, or a server, may have set the others.
void TaskWorker::Parts::set_limits() {
  for (const auto& [name, queue] : config.queues) {
    ports::Configure limits{.queue = name};
    if (queue.limit > 0) limits.concurrency = queue.limit;
    if (queue.backlog > 0) limits.backlog = queue.backlog;
    if (!limits.concurrency && !limits.backlog) continue;
    if (const auto done = node->configure(std::move(limits)); !done) {
      options.log.log(Level::warning, "queue.limit", "the limits of a queue could not be set",
                      {{"queue", name}, {"error", done.error().text()}});
    }
  }
}

TaskWorker::Stopped TaskWorker::Parts::stop() {
  if (stopped) return *stopped;
  Stopped report;
  if (working) {
    const auto done = node->stop_work();
    if (done) {
      report = {.handed_back = done->handed_back, .cut_short = done->cut_short};
    } else {
      report.error = done.error();
    }
  }
  if (node) {
    node->on_loop([this] {
      client.reset();
      landing.reset();
      signals.reset();
    });
  }
  node.reset();
  stopped = report;
  return report;
}

Result<std::unique_ptr<TaskWorker>> TaskWorker::start(const config::Config& config,
                                                      Options options) {
  auto parts = std::make_unique<Parts>(config, std::move(options));
  if (auto started = parts->start(); !started) {
    static_cast<void>(parts->stop());
    return std::unexpected(std::move(started).error());
  }
  return std::make_unique<TaskWorker>(std::move(parts));
}

TaskWorker::TaskWorker(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

TaskWorker::~TaskWorker() {
  static_cast<void>(parts_->stop());
}

TaskWorker::Stopped TaskWorker::stop() {
  return parts_->stop();
}

}  // namespace holdfast::server
