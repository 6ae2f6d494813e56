// What <holdfast/worker.hpp> promises, over a node of this process, or one that pulls from a
// server.
#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <holdfast/worker.hpp>

#include "core/json_text.hpp"
#include "handlers/async_function.hpp"
#include "handlers/function.hpp"
#include "io/signals.hpp"
#include "node/open_remote.hpp"
#include "node/registry.hpp"

namespace holdfast {
namespace {

constexpr int kExitClean = 0;
constexpr int kExitFailed = 1;
constexpr int kExitHandedBack = 3;
// That a queue has under way at once: each but the first is for a quarter of its places, or more.
constexpr std::size_t kMostClaims = 5;

using AnyHandler = std::variant<detail::BlockingHandler, detail::AsyncHandler>;

struct TypeEntry {
  std::string name;
  AnyHandler handler;
  HandlerOptions options;
};

[[nodiscard]] std::unexpected<Error> refuse(std::string message) {
  return fail(ErrorCode::invalid_argument, "start worker", std::move(message));
}

// Nothing, or what is wrong: "type "t": attempts is 0: …".
[[nodiscard]] std::string mistake_in(const HandlerOptions& options) {
  if (options.attempts < 1) return fmt::format("attempts is {}: at least 1", options.attempts);
  if (options.crashes < 1) return fmt::format("crashes is {}: at least 1", options.crashes);
  if (options.replays < 0) return "replays is negative: zero is none at all";
  if (options.timeout < Duration::zero()) return "timeout is negative: zero is none at all";
  return {};
}

[[nodiscard]] Result<void> check(const Worker::Options& options,
                                 const std::vector<TypeEntry>& types) {
  if (types.empty()) return refuse("it has no handler: call on() for each type of task");
  if (options.queues.empty()) return refuse("it has no queue, so it would never run a task");
  if (options.threads < 0) return refuse("threads is negative");
  if (options.coroutines < 1) return refuse("coroutines is less than 1");
  if (options.lease <= Duration::zero()) return refuse("lease is not positive");
  if (options.grace < Duration::zero()) return refuse("grace is negative");
  if (options.stop_grace < Duration::zero()) return refuse("stop_grace is negative");
  for (std::size_t at = 0; at < types.size(); ++at) {
    if (types[at].name.empty()) return refuse("the type of a handler is empty");
    if (const std::string mistake = mistake_in(types[at].options); !mistake.empty()) {
      return refuse(fmt::format("type {}: {}", holdfast::quoted(types[at].name), mistake));
    }
    for (std::size_t before = 0; before < at; ++before) {
      if (types[before].name == types[at].name) {
        return refuse(fmt::format("type {} has two handlers", holdfast::quoted(types[at].name)));
      }
    }
  }
  for (std::size_t at = 0; at < options.queues.size(); ++at) {
    const Worker::Queue& queue = options.queues[at];
    if (queue.name.empty()) return refuse("the name of a queue is empty");
    if (queue.concurrency < 0) {
      return refuse(
          fmt::format("concurrency of queue {} is negative", holdfast::quoted(queue.name)));
    }
    for (std::size_t before = 0; before < at; ++before) {
      if (options.queues[before].name == queue.name) {
        return refuse(fmt::format("queue {} comes twice", holdfast::quoted(queue.name)));
      }
    }
  }
  return {};
}

[[nodiscard]] core::TaskPolicy to_policy(const HandlerOptions& options) {
  return {.attempts = options.attempts,
          .crashes = options.crashes,
          .replays = options.replays,
          .wait = options.wait,
          .timeout = options.timeout};
}

[[nodiscard]] std::shared_ptr<const Classifier> to_classifier(const HandlerOptions& options) {
  if (options.classifier) return std::make_shared<Classifier>(*options.classifier);
  static const auto all =
      std::make_shared<const Classifier>(Classifier::make(presets::all()).value_or(Classifier()));
  return all;
}

[[nodiscard]] int exit_code(const Worker::Stopped& stopped) {
  if (stopped.error) return kExitFailed;
  return stopped.cut_short > 0 ? kExitHandedBack : kExitClean;
}

}  // namespace

class Worker::Team {
 public:
  Team(std::string url, Options options) : url_(std::move(url)), options_(std::move(options)) {}
  ~Team() { static_cast<void>(stop()); }

  void add(std::string type, AnyHandler handler, HandlerOptions options) {
    types_.push_back({std::move(type), std::move(handler), std::move(options)});
  }
  std::shared_ptr<void>& coroutine_context() { return coroutine_context_; }

  // `opened` is called when the store is open, and before the first task is run.
  using Opened = std::function<void(const std::shared_ptr<node::Node>&)>;
  [[nodiscard]] Result<void> start(const Opened& opened = {});
  [[nodiscard]] int run();
  Stopped stop();
  void request_stop();
  void hurry();

 private:
  enum class Phase : std::uint8_t { idle, starting, working, stopping, stopped };

  [[nodiscard]] Result<std::shared_ptr<node::Node>> open_and_work(const Opened& opened);
  [[nodiscard]] Result<std::shared_ptr<node::Node>> pull_and_work(const Opened& opened);
  [[nodiscard]] node::Node::Work hire(const std::shared_ptr<const void>& ground);
  [[nodiscard]] Stopped dismiss();
  [[nodiscard]] std::shared_ptr<node::Node> working_node();

  const std::string url_;
  const Options options_;

  // Before start() and after stop(): who owns the worker. Between them: constant.
  std::vector<TypeEntry> types_;
  std::shared_ptr<void> coroutine_context_;
  std::shared_ptr<handlers::Pools> pools_;
  std::shared_ptr<handlers::AllTurns> turns_;
  std::vector<std::shared_ptr<ports::Handler>> handlers_;

  std::mutex mutex_;
  std::condition_variable changed_;
  Phase phase_ = Phase::idle;
  std::shared_ptr<node::Node> node_;  // while it works, or stops
  bool stop_requested_ = false;
  bool hurried_ = false;
  std::optional<Error> broken_;
  Stopped report_;
};

// The handlers at their places, and what the engine is told of them.
node::Node::Work Worker::Team::hire(const std::shared_ptr<const void>& ground) {
  const int cores = static_cast<int>(std::max(std::thread::hardware_concurrency(), 1U));
  const int threads = options_.threads > 0 ? options_.threads : cores;
  pools_ = std::make_shared<handlers::Pools>();
  pools_->common = std::make_shared<handlers::Pool>("hf-handler", threads, ground);
  turns_ = std::make_shared<handlers::AllTurns>();
  turns_->common = std::make_shared<handlers::Turns>(static_cast<std::size_t>(options_.coroutines));

  node::Node::Work work{.lease = options_.lease,
                        .grace = options_.grace,
                        .stop_grace = options_.stop_grace,
                        .log = options_.log};
  const bool has_coroutines = coroutine_context_ != nullptr;
  for (const Queue& queue : options_.queues) {
    int most = threads + (has_coroutines ? options_.coroutines : 0);
    if (queue.concurrency > 0) {
      most = queue.concurrency;
      pools_->of_queue[queue.name] =
          std::make_shared<handlers::Pool>("hf-" + queue.name, most, ground);
      turns_->of_queue[queue.name] =
          std::make_shared<handlers::Turns>(static_cast<std::size_t>(most));
    }
    work.queues.push_back({.name = queue.name, .concurrency = static_cast<std::size_t>(most)});
  }
  for (TypeEntry& type : types_) {
    std::shared_ptr<ports::Handler> handler;
    if (auto* blocking = std::get_if<detail::BlockingHandler>(&type.handler)) {
      handler = std::make_shared<handlers::Function>(std::move(*blocking), pools_, system_clock());
    } else {
      handler = std::make_shared<handlers::AsyncFunction>(
          std::get<detail::AsyncHandler>(std::move(type.handler)), turns_, system_clock(), ground);
    }
    handlers_.push_back(handler);
    work.types.emplace_back(type.name,
                            engine::TypeOptions{.handler = std::move(handler),
                                                .policy = to_policy(type.options),
                                                .classifier = to_classifier(type.options),
                                                .dependency = type.options.dependency});
  }
  work.on_broken = [this](const Error& error) {
    {
      const std::lock_guard lock(mutex_);
      broken_ = error;
      stop_requested_ = true;
      changed_.notify_all();
    }
    if (options_.on_broken) options_.on_broken(error);
  };
  return work;
}

Result<void> Worker::Team::start(const Opened& opened) {
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::idle) {
      return fail(ErrorCode::conflict, "start worker", "it has worked already: make another one");
    }
    phase_ = Phase::starting;
  }
  auto node = open_and_work(opened);
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
  if (!node) {
    // Once its handlers are hired, they are gone with what was refused.
    phase_ = pools_ ? Phase::stopped : Phase::idle;
    return std::unexpected(std::move(node).error());
  }
  node_ = *std::move(node);
  phase_ = Phase::working;
  if (hurried_) node_->hurry();
  return {};
}

Result<std::shared_ptr<node::Node>> Worker::Team::open_and_work(const Opened& opened) {
  if (auto checked = check(options_, types_); !checked) return std::unexpected(checked.error());
  if (node::is_remote(url_)) return pull_and_work(opened);
  auto node = node::open(url_, options_.log);
  if (!node) return node;
  if (opened) opened(*node);
  if (auto started = (*node)->start_work(hire((*node)->ground())); !started) {
    return std::unexpected(std::move(started).error());
  }
  return node;
}

Result<std::shared_ptr<node::Node>> Worker::Team::pull_and_work(const Opened& opened) {
  auto remote = node::open_remote({.url = url_,
                                   .token = options_.token,
                                   .ca_file = options_.ca_file,
                                   .token_in_the_clear = options_.token_in_the_clear,
                                   .polls = kMostClaims * options_.queues.size()},
                                  options_.log);
  if (!remote) return std::unexpected(std::move(remote).error());
  if (auto checked = remote->check(options_.log); !checked) {
    return std::unexpected(std::move(checked).error());
  }
  if (opened) opened(remote->node);
  node::Node::Work work = hire(remote->node->ground());
  work.claims_ahead = false;
  work.on_stopping = [lane = remote->lane] { lane->withdraw(); };
  if (auto started = remote->node->start_work(std::move(work)); !started) {
    return std::unexpected(std::move(started).error());
  }
  return remote->node;
}

std::shared_ptr<node::Node> Worker::Team::working_node() {
  const std::lock_guard lock(mutex_);
  return node_;
}

int Worker::Team::run() {
  // Heard from before the first task until after the last: a signal that finds nobody would end the
  // process at once.
  std::shared_ptr<node::Node> node;
  std::unique_ptr<io::Signals> signals;
  const auto listen = [&](const std::shared_ptr<node::Node>& opened) {
    node = opened;
    node->on_loop([&] {
      signals = std::make_unique<io::Signals>(
          node->loop(), [this](int, int count) { count == 1 ? request_stop() : hurry(); });
    });
  };
  const auto started = start(listen);
  int code = kExitFailed;
  if (started) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stop_requested_ || phase_ == Phase::stopped; });
    lock.unlock();
    code = exit_code(stop());
  } else {
    options_.log.log(Level::critical, "worker.refused", "the worker cannot start",
                     {{"url", node::shown_url(url_)}, {"error", started.error().text()}});
  }
  if (node) node->on_loop([&] { signals.reset(); });
  return code;
}

Worker::Stopped Worker::Team::stop() {
  {
    std::unique_lock lock(mutex_);
    if (phase_ == Phase::idle) return {};
    stop_requested_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return phase_ != Phase::starting && phase_ != Phase::stopping; });
    if (phase_ != Phase::working) return report_;
    phase_ = Phase::stopping;
  }
  const Stopped report = dismiss();
  const std::lock_guard lock(mutex_);
  report_ = report;
  if (broken_) report_.error = broken_;
  phase_ = Phase::stopped;
  changed_.notify_all();
  return report_;
}

Worker::Stopped Worker::Team::dismiss() {
  const std::shared_ptr<node::Node> node = working_node();
  const auto answer = node->stop_work();
  const engine::ShutdownReport done = answer.value_or(engine::ShutdownReport());
  Stopped report{
      .handed_back = done.handed_back, .cut_short = done.cut_short, .left_behind = done.abandoned};
  if (!answer) report.error = answer.error();
  if (done.unsettled > 0) {
    report.error = Error{ErrorCode::unavailable, "stop worker",
                         fmt::format("the store could not be told of {} tasks; the next worker "
                                     "finds them",
                                     done.unsettled)};
  }
  static_cast<void>(pools_->close());
  turns_->close();
  handlers_.clear();  // and with them what their functions have captured
  types_.clear();
  coroutine_context_.reset();
  const std::lock_guard lock(mutex_);
  node_.reset();
  return report;
}

void Worker::Team::request_stop() {
  const std::lock_guard lock(mutex_);
  stop_requested_ = true;
  changed_.notify_all();
}

void Worker::Team::hurry() {
  const std::lock_guard lock(mutex_);
  if (!stop_requested_) return;
  hurried_ = true;
  if (node_) node_->hurry();
}

Worker::Worker(std::string url, Options options)
    : team_(std::make_unique<Team>(std::move(url), std::move(options))) {}
Worker::Worker(Worker&& other) noexcept = default;
Worker& Worker::operator=(Worker&& other) noexcept = default;
Worker::~Worker() = default;

void Worker::add(std::string type, detail::BlockingHandler handler, HandlerOptions options) {
  team_->add(std::move(type), std::move(handler), std::move(options));
}

void Worker::add(std::string type, detail::AsyncHandler handler, HandlerOptions options) {
  team_->add(std::move(type), std::move(handler), std::move(options));
}

std::shared_ptr<void>& Worker::coroutine_context() {
  return team_->coroutine_context();
}

int Worker::run() {
  return team_->run();
}

Result<void> Worker::start() {
  return team_->start();
}

Worker::Stopped Worker::stop() {
  return team_->stop();
}

void Worker::request_stop() {
  team_->request_stop();
}

void Worker::hurry() {
  team_->hurry();
}

}  // namespace holdfast
