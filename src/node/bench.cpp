#include "node/bench.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "handlers/function.hpp"
#include "io/resident_memory.hpp"
#include "node/registry.hpp"

namespace holdfast::node::bench {
namespace {

constexpr const char* kQueue = "bench";
constexpr const char* kType = "nothing";

double seconds_since(SteadyTime began) {
  return std::chrono::duration<double>(system_clock().now() - began).count();
}

// Counts down to nothing; whoever waits is woken then.
class Remaining {
 public:
  explicit Remaining(std::size_t count) : left_(count), all_(count) {}

  void one_less() {
    if (left_.fetch_sub(1) != 1) return;
    const std::lock_guard lock(mutex_);
    none_.notify_all();
  }
  void wait(const Options& options) {
    std::unique_lock lock(mutex_);
    while (left_ > 0) {
      none_.wait_for(lock, std::chrono::milliseconds(100));
      if (options.progress) {
        options.progress(1 - static_cast<double>(left_) / static_cast<double>(all_));
      }
    }
  }

 private:
  std::atomic<std::size_t> left_;
  const std::size_t all_;
  std::mutex mutex_;
  std::condition_variable none_;
};

using Settled = std::function<void(const ports::TaskRecord&, const core::Transition&)>;

// A node that works on the tasks of the benchmark.
class Team {
 public:
  static Result<std::unique_ptr<Team>> start(const Options& options, HandlerResult how_it_ends,
                                             Settled settled) {
    auto node = open(options.url, {});
    if (!node) return std::unexpected(std::move(node).error());
    auto team = std::make_unique<Team>(*std::move(node), options);
    auto handler = std::make_shared<handlers::Function>(
        [how = std::move(how_it_ends)](Job&) { return how; }, team->pools_, system_clock());
    core::TaskPolicy policy;
    policy.attempts = 3;
    policy.wait = retry::fixed(Duration::zero());
    Node::Work work;
    work.types.emplace_back(kType,
                            engine::TypeOptions{.handler = std::move(handler), .policy = policy});
    work.queues.push_back({.name = kQueue, .concurrency = options.threads});
    work.on_settled = std::move(settled);
    if (auto begun = team->node_->start_work(std::move(work)); !begun) {
      return std::unexpected(std::move(begun).error());
    }
    return team;
  }

  Team(std::shared_ptr<Node> node, const Options& options) : node_(std::move(node)) {
    pools_->common = std::make_shared<handlers::Pool>(
        "hf-handler", static_cast<int>(options.threads), node_->ground());
  }
  ~Team() {
    static_cast<void>(node_->stop_work());
    static_cast<void>(pools_->close());
  }

  [[nodiscard]] Node& node() { return *node_; }

 private:
  std::shared_ptr<Node> node_;
  std::shared_ptr<handlers::Pools> pools_ = std::make_shared<handlers::Pools>();
};

std::vector<ports::NewTask> new_tasks(std::size_t count, std::size_t payload_bytes) {
  ports::NewTask task;
  task.type = kType;
  task.queue = kQueue;
  task.payload.assign(payload_bytes, 'x');
  return std::vector<ports::NewTask>(count, task);
}

// What went wrong first, of several threads.
class FirstError {
 public:
  void note(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = error;
  }
  [[nodiscard]] std::optional<Error> get() {
    const std::lock_guard lock(mutex_);
    return error_;
  }

 private:
  std::mutex mutex_;
  std::optional<Error> error_;
};

// Every producer submits its share, in batches. Returns what went wrong, if anything did.
std::optional<Error> submit_all(Node& node, const Options& options, std::size_t count) {
  FirstError error;
  std::atomic<std::size_t> left = count;
  const auto produce = [&] {
    while (!error.get()) {
      std::size_t now = left.load();
      std::size_t share = 0;
      do {
        share = std::min(now, options.batch);
      } while (!left.compare_exchange_weak(now, now - share));
      if (share == 0) return;
      const auto answer = node.submit(new_tasks(share, options.payload_bytes));
      if (!answer) error.note(answer.error());
    }
  };
  {
    std::vector<std::jthread> producers;
    for (std::size_t i = 0; i < options.producers; ++i)
      producers.emplace_back(produce);
  }
  return error.get();
}

}  // namespace

Result<Throughput> throughput(const Options& options) {
  Remaining remaining(options.tasks);
  auto team =
      Team::start(options, std::string(), [&](const auto&, const auto&) { remaining.one_less(); });
  if (!team) return std::unexpected(std::move(team).error());
  const SteadyTime began = system_clock().now();
  if (auto error = submit_all((*team)->node(), options, options.tasks)) {
    return std::unexpected(*std::move(error));
  }
  const double enqueued = seconds_since(began);
  remaining.wait(options);
  const double done = seconds_since(began);
  const auto tasks = static_cast<double>(options.tasks);
  return Throughput{.enqueued_per_s = tasks / enqueued, .done_per_s = tasks / done};
}

Result<double> failures(const Options& options) {
  Remaining remaining(options.failing);
  auto team = Team::start(options, std::unexpected(Failure{.message = "connection reset by peer"}),
                          [&](const auto&, const core::Transition& transition) {
                            if (transition.to == core::State::dead) remaining.one_less();
                          });
  if (!team) return std::unexpected(std::move(team).error());
  const SteadyTime began = system_clock().now();
  if (auto error = submit_all((*team)->node(), options, options.failing)) {
    return std::unexpected(*std::move(error));
  }
  remaining.wait(options);
  return static_cast<double>(options.failing) / seconds_since(began);
}

Result<Latency> latency(const Options& options) {
  const auto count = static_cast<std::size_t>(
      std::chrono::duration<double>(options.steady).count() * static_cast<double>(options.rate));
  // The first tenth warms up, and does not count.
  const std::size_t warm_up = count / 10;
  std::vector<double> took_ms;
  took_ms.reserve(count);
  Remaining remaining(count + warm_up);
  auto team =
      Team::start(options, std::string(), [&](const ports::TaskRecord& record, const auto&) {
        std::int64_t due_ns = 0;
        std::memcpy(&due_ns, record.payload.data(), sizeof due_ns);
        if (due_ns > 0) {
          const Duration took = system_clock().now().time_since_epoch() - Duration(due_ns);
          took_ms.push_back(std::chrono::duration<double, std::milli>(took).count());
        }
        remaining.one_less();
      });
  if (!team) return std::unexpected(std::move(team).error());

  const SteadyTime began = system_clock().now();
  const Duration gap =
      std::chrono::nanoseconds(1'000'000'000 / std::max<std::size_t>(options.rate, 1));
  // Enough of them that one which waits for its answer keeps no other from its time.
  constexpr std::size_t kProducers = 16;
  FirstError error;
  std::atomic<std::size_t> next = 0;
  const auto produce = [&] {
    for (std::size_t i = next++; i < count + warm_up; i = next++) {
      const SteadyTime due = began + gap * static_cast<std::int64_t>(i);
      system_clock().sleep_until(due, {});
      auto tasks = new_tasks(1, std::max(options.payload_bytes, sizeof(std::int64_t)));
      const std::int64_t due_ns = i < warm_up ? 0 : due.time_since_epoch().count();
      std::memcpy(tasks[0].payload.data(), &due_ns, sizeof due_ns);
      const auto answer = (*team)->node().submit(std::move(tasks));
      if (!answer) return error.note(answer.error());
    }
  };
  {
    std::vector<std::jthread> producers;
    for (std::size_t i = 0; i < kProducers; ++i)
      producers.emplace_back(produce);
  }
  if (error.get()) return std::unexpected(*error.get());
  remaining.wait(options);
  const double all = seconds_since(began);
  team->reset();
  std::ranges::sort(took_ms);
  const auto at = [&](double part) {
    return took_ms[static_cast<std::size_t>(part * static_cast<double>(took_ms.size() - 1))];
  };
  return Latency{.p50_ms = at(0.5),
                 .p99_ms = at(0.99),
                 .most_ms = took_ms.back(),
                 .done_per_s = static_cast<double>(count + warm_up) / all};
}

Result<double> idle_mb(const Options& options) {
  auto team = Team::start(options, std::string(), {});
  if (!team) return std::unexpected(std::move(team).error());
  return io::resident_mb();
}

Result<void> fill(const Options& options) {
  auto node = open(options.url, {});
  if (!node) return std::unexpected(std::move(node).error());
  for (std::size_t done = 0; done < options.waiting; done += options.batch) {
    const std::size_t share = std::min(options.batch, options.waiting - done);
    const auto answer = (*node)->submit(new_tasks(share, options.payload_bytes));
    if (!answer) return std::unexpected(answer.error());
    if (options.progress) {
      options.progress(static_cast<double>(done) / static_cast<double>(options.waiting));
    }
  }
  return {};
}

Result<Start> start(const Options& options) {
  const SteadyTime began = system_clock().now();
  Remaining first(1);
  std::atomic<bool> seen = false;
  auto team = Team::start(options, std::string(), [&](const auto&, const auto&) {
    if (!seen.exchange(true)) first.one_less();
  });
  if (!team) return std::unexpected(std::move(team).error());
  first.wait({});
  return Start{.seconds = seconds_since(began), .mb = io::resident_mb()};
}

}  // namespace holdfast::node::bench
