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

constexpr const char* kQueue = "holdfast.bench";
constexpr const char* kType = "nothing";

double seconds_since(SteadyTime began) {
  return std::chrono::duration<double>(system_clock().now() - began).count();
}

// Counts down to nothing, unless somebody gives up.
class Remaining {
 public:
  explicit Remaining(std::size_t count) : left_(count), all_(count) {}

  void one_less() {
    // More may be done than were waited for.
    std::size_t left = left_.load();
    while (left > 0 && !left_.compare_exchange_weak(left, left - 1)) {
    }
    if (left != 1) return;
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }
  // The first error counts.
  void give_up(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = error;
    changed_.notify_all();
  }
  [[nodiscard]] bool given_up() {
    const std::lock_guard lock(mutex_);
    return error_.has_value();
  }
  [[nodiscard]] Result<void> wait(const Options& options) {
    std::unique_lock lock(mutex_);
    while (left_ > 0 && !error_) {
      changed_.wait_for(lock, std::chrono::milliseconds(100));
      if (options.progress) {
        options.progress(1 - static_cast<double>(left_) / static_cast<double>(all_));
      }
    }
    if (error_) return std::unexpected(*error_);
    return {};
  }

 private:
  std::atomic<std::size_t> left_;
  const std::size_t all_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Error> error_;
};

using Settled = std::function<void(const ports::TaskRecord&, const core::Transition&)>;

class TellsOfSettled final : public engine::Observer {
 public:
  explicit TellsOfSettled(Settled settled) : settled_(std::move(settled)) {}
  void moved(const engine::Moved& moved) noexcept override {
    if (settled_) settled_(moved.task, moved.transition);
  }

 private:
  const Settled settled_;
};

// A node that works on the tasks of the benchmark.
class Team {
 public:
  // `remaining` is given up if the store breaks, and must live longer.
  static Result<std::unique_ptr<Team>> start(const Options& options, HandlerResult how_it_ends,
                                             Settled settled, Remaining& remaining) {
    auto node = open(options.url, {});
    if (!node) return std::unexpected(std::move(node).error());
    auto team = std::make_unique<Team>(*std::move(node), options, std::move(settled));
    auto handler = std::make_shared<handlers::Function>(
        [how = std::move(how_it_ends)](Job&) { return how; }, team->pools_, system_clock());
    core::TaskPolicy policy;
    policy.attempts = 3;
    policy.wait = retry::fixed(Duration::zero());
    Node::Work work;
    work.types.emplace_back(kType,
                            engine::TypeOptions{.handler = std::move(handler), .policy = policy});
    work.queues.push_back({.name = kQueue, .concurrency = options.threads});
    if (options.carry) {
      Result<engine::Carriage> carriage;
      team->node_->on_loop([&] { carriage = options.carry(team->node_->loop(), kQueue); });
      if (!carriage) return std::unexpected(std::move(carriage).error());
      work.carried.push_back(*std::move(carriage));
    }
    work.observer = &team->observer_;
    work.on_broken = [&remaining](const Error& error) { remaining.give_up(error); };
    // The handler returns at once, so only a store that answers no more takes longer.
    work.grace = work.stop_grace = std::chrono::seconds(1);
    if (auto begun = team->node_->start_work(std::move(work)); !begun) {
      return std::unexpected(std::move(begun).error());
    }
    return team;
  }

  Team(std::shared_ptr<Node> node, const Options& options, Settled settled)
      : observer_(std::move(settled)), node_(std::move(node)) {
    pools_->common = std::make_shared<handlers::Pool>(
        "hf-handler", static_cast<int>(options.threads), node_->ground());
  }
  ~Team() {
    static_cast<void>(node_->stop_work());
    static_cast<void>(pools_->close());
  }

  [[nodiscard]] Node& node() { return *node_; }

 private:
  TellsOfSettled observer_;
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

// Fails if any of them was refused.
Result<void> submit(Node& node, std::vector<ports::NewTask> tasks) {
  const auto answer = node.submit(std::move(tasks));
  if (!answer) return std::unexpected(answer.error());
  for (const auto& one : *answer) {
    if (!one) return std::unexpected(one.error());
  }
  return {};
}

// Threads that submit. They end when all is submitted, or somebody has given up.
class Producers {
 public:
  // `next` submits what is next; false: there is nothing more.
  using Next = std::function<Result<bool>(const std::stop_token& stop)>;
  Producers(std::size_t count, Remaining& remaining, const Next& next) {
    for (std::size_t i = 0; i < count; ++i) {
      threads_.emplace_back([&remaining, next](const std::stop_token& stop) {
        while (!remaining.given_up()) {
          const auto more = next(stop);
          if (!more) return remaining.give_up(more.error());
          if (!*more) return;
        }
      });
    }
  }

 private:
  std::vector<std::jthread> threads_;
};

// Submits `count` tasks in batches and waits until all have ended. Gives how long each took, in s.
struct Took {
  double submitted = 0;
  double all = 0;
};
Result<Took> submit_all(Node& node, const Options& options, std::size_t count,
                        Remaining& remaining) {
  std::atomic<std::size_t> left = count;
  std::atomic<std::size_t> unanswered = count;
  std::atomic<double> submitted = 0;
  const SteadyTime began = system_clock().now();
  const Producers producers(options.producers, remaining, [&](const auto&) -> Result<bool> {
    std::size_t now = left.load();
    std::size_t share = 0;
    do {
      share = std::min(now, options.batch);
    } while (!left.compare_exchange_weak(now, now - share));
    if (share == 0) return false;
    const auto done = submit(node, new_tasks(share, options.payload_bytes));
    if (!done) return std::unexpected(done.error());
    if (unanswered.fetch_sub(share) == share) submitted = seconds_since(began);
    return true;
  });
  if (const auto ended = remaining.wait(options); !ended) return std::unexpected(ended.error());
  const double all = seconds_since(began);
  // The last can have ended before its submit was answered.
  return Took{.submitted = submitted > 0 ? submitted.load() : all, .all = all};
}

// One of the tasks that latency() submits: when it should have been, or 0 if it does not count.
std::vector<ports::NewTask> dated_task(std::int64_t due_ns, std::size_t payload_bytes) {
  auto tasks = new_tasks(1, std::max(payload_bytes, sizeof due_ns));
  std::memcpy(tasks[0].payload.data(), &due_ns, sizeof due_ns);
  return tasks;
}

// How long after it should have been submitted; nothing if it does not count.
std::optional<double> took_ms(const ports::TaskRecord& record) {
  std::int64_t due_ns = 0;
  std::memcpy(&due_ns, record.payload.data(), sizeof due_ns);
  if (due_ns == 0) return std::nullopt;
  const Duration took = system_clock().now().time_since_epoch() - Duration(due_ns);
  return std::chrono::duration<double, std::milli>(took).count();
}

// Enough of them that one which waits for its answer keeps no other from its time.
constexpr std::size_t kSteadyProducers = 16;

// What start() waits for, so that caches have filled: its memory is that of a worker at work.
constexpr std::size_t kWarm = 200'000;

}  // namespace

Result<Throughput> throughput(const Options& options) {
  Remaining remaining(options.tasks);
  auto team = Team::start(
      options, std::string(), [&](const auto&, const auto&) { remaining.one_less(); }, remaining);
  if (!team) return std::unexpected(std::move(team).error());
  const auto took = submit_all((*team)->node(), options, options.tasks, remaining);
  if (!took) return std::unexpected(took.error());
  const auto tasks = static_cast<double>(options.tasks);
  return Throughput{.enqueued_per_s = tasks / took->submitted, .done_per_s = tasks / took->all};
}

Result<double> failures(const Options& options) {
  Remaining remaining(options.failing);
  auto team = Team::start(
      options, std::unexpected(Failure{.message = "connection reset by peer"}),
      [&](const auto&, const core::Transition& transition) {
        if (transition.to == core::State::dead) remaining.one_less();
      },
      remaining);
  if (!team) return std::unexpected(std::move(team).error());
  const auto took = submit_all((*team)->node(), options, options.failing, remaining);
  if (!took) return std::unexpected(took.error());
  return static_cast<double>(options.failing) / took->all;
}

Result<Latency> latency(const Options& options) {
  const double wanted =
      std::chrono::duration<double>(options.steady).count() * static_cast<double>(options.rate);
  const std::size_t count = std::max<std::size_t>(static_cast<std::size_t>(wanted), 1);
  // As many as a tenth come before, to warm up, and do not count.
  const std::size_t warm_up = count / 10;
  std::vector<double> times_ms;
  times_ms.reserve(count);
  Remaining remaining(count + warm_up);
  auto team = Team::start(
      options, std::string(),
      [&](const ports::TaskRecord& record, const auto&) {
        if (const auto took = took_ms(record)) times_ms.push_back(*took);
        remaining.one_less();
      },
      remaining);
  if (!team) return std::unexpected(std::move(team).error());

  const SteadyTime began = system_clock().now();
  const Duration gap =
      std::chrono::nanoseconds(1'000'000'000 / std::max<std::size_t>(options.rate, 1));
  std::atomic<std::size_t> next = 0;
  double all = 0;
  {
    const Producers producers(
        kSteadyProducers, remaining, [&](const std::stop_token& stop) -> Result<bool> {
          const std::size_t i = next++;
          if (i >= count + warm_up) return false;
          const SteadyTime due = began + gap * static_cast<std::int64_t>(i);
          if (!system_clock().sleep_until(due, stop)) return false;
          const std::int64_t due_ns = i < warm_up ? 0 : due.time_since_epoch().count();
          const auto done = submit((*team)->node(), dated_task(due_ns, options.payload_bytes));
          if (!done) return std::unexpected(done.error());
          return true;
        });
    if (const auto ended = remaining.wait(options); !ended) return std::unexpected(ended.error());
    all = seconds_since(began);
  }
  team->reset();
  std::ranges::sort(times_ms);
  const auto at = [&](double part) {
    return times_ms[static_cast<std::size_t>(part * static_cast<double>(times_ms.size() - 1))];
  };
  return Latency{.p50_ms = at(0.5),
                 .p99_ms = at(0.99),
                 .most_ms = times_ms.back(),
                 .done_per_s = static_cast<double>(count + warm_up) / all};
}

Result<double> idle_mb(const Options& options) {
  Remaining nothing(0);
  auto team = Team::start(options, std::string(), {}, nothing);
  if (!team) return std::unexpected(std::move(team).error());
  return io::resident_mb();
}

Result<void> fill(const Options& options) {
  auto node = open(options.url, {});
  if (!node) return std::unexpected(std::move(node).error());
  for (std::size_t done = 0; done < options.waiting; done += options.batch) {
    const std::size_t share = std::min(options.batch, options.waiting - done);
    if (auto one = submit(**node, new_tasks(share, options.payload_bytes)); !one) return one;
    if (options.progress) {
      options.progress(static_cast<double>(done) / static_cast<double>(options.waiting));
    }
  }
  return {};
}

Result<Start> start(const Options& options) {
  Remaining remaining(std::min(options.waiting, kWarm));
  std::atomic<double> first = 0;
  const SteadyTime began = system_clock().now();
  auto team = Team::start(
      options, std::string(),
      [&](const auto&, const auto&) {
        if (first == 0) first = seconds_since(began);
        remaining.one_less();
      },
      remaining);
  if (!team) return std::unexpected(std::move(team).error());
  if (const auto ended = remaining.wait(options); !ended) return std::unexpected(ended.error());
  return Start{.seconds = first, .mb = io::most_resident_mb()};
}

}  // namespace holdfast::node::bench
