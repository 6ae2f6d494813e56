#include "node/bench.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "io/resident_memory.hpp"
#include "node/bench_team.hpp"

namespace holdfast::node::bench {
namespace {

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

Producers::Hooks giving_up(Remaining& remaining) {
  return {.given_up = [&remaining] { return remaining.given_up(); },
          .give_up = [&remaining](const Error& error) { remaining.give_up(error); }};
}

// `remaining` is given up if the store breaks, and must live longer.
Result<std::unique_ptr<Team>> start_team(
    const Options& options, HandlerResult how_it_ends,
    std::function<void(const ports::TaskRecord&, const core::Transition&)> settled,
    Remaining& remaining) {
  return Team::start(options, std::move(how_it_ends),
                     {.settled = std::move(settled),
                      .broken = [&remaining](const Error& error) { remaining.give_up(error); }});
}

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
  const Producers producers(
      options.producers, giving_up(remaining), [&](const auto&) -> Result<bool> {
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

// What start() waits for, so that caches have filled: its memory is that of a worker at work.
constexpr std::size_t kWarm = 200'000;

}  // namespace

Result<Throughput> throughput(const Options& options) {
  Remaining remaining(options.tasks);
  auto team = start_team(
      options, std::string(), [&](const auto&, const auto&) { remaining.one_less(); }, remaining);
  if (!team) return std::unexpected(std::move(team).error());
  const auto took = submit_all((*team)->node(), options, options.tasks, remaining);
  if (!took) return std::unexpected(took.error());
  const auto tasks = static_cast<double>(options.tasks);
  return Throughput{.enqueued_per_s = tasks / took->submitted, .done_per_s = tasks / took->all};
}

Result<double> failures(const Options& options) {
  Remaining remaining(options.failing);
  auto team = start_team(
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
  auto team = start_team(
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
        kSteadyProducers, giving_up(remaining), [&](const std::stop_token& stop) -> Result<bool> {
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
  return latency_of(std::move(times_ms), static_cast<double>(count + warm_up) / all);
}

Result<double> idle_mb(const Options& options) {
  Remaining nothing(0);
  auto team = start_team(options, std::string(), {}, nothing);
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
  auto team = start_team(
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
