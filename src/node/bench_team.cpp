#include "node/bench_team.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace holdfast::node::bench {
namespace {

constexpr const char* kType = "nothing";

}  // namespace

Result<std::unique_ptr<Team>> Team::start(const Options& options, HandlerResult how_it_ends,
                                          Hooks hooks) {
  auto node = open(options.url, {});
  if (!node) return std::unexpected(std::move(node).error());
  auto team = std::make_unique<Team>(*std::move(node), options, std::move(hooks));
  auto handler = std::make_shared<handlers::Function>(
      [how = std::move(how_it_ends)](Job&) { return how; }, team->pools_, system_clock());
  core::TaskPolicy policy;
  policy.attempts = 3;
  policy.wait = retry::fixed(Duration::zero());
  Node::Work work;
  work.types.emplace_back(kType,
                          engine::TypeOptions{.handler = std::move(handler), .policy = policy});
  work.queues.push_back({.name = kQueue, .concurrency = options.at_once()});
  if (options.carry) {
    Result<engine::Carriage> carriage;
    team->node_->on_loop([&] { carriage = options.carry(team->node_->loop(), kQueue); });
    if (!carriage) return std::unexpected(std::move(carriage).error());
    work.carried.push_back(*std::move(carriage));
  }
  work.observer = &team->observer_;
  work.on_broken = [&observer = team->observer_](const Error& error) { observer.broken(error); };
  // The handler returns at once, so only a store that answers no more takes longer.
  work.grace = work.stop_grace = std::chrono::seconds(1);
  if (auto begun = team->node_->start_work(std::move(work)); !begun) {
    return std::unexpected(std::move(begun).error());
  }
  return team;
}

Team::Team(std::shared_ptr<Node> node, const Options& options, Hooks hooks)
    : observer_(std::move(hooks)), node_(std::move(node)) {
  pools_->common = std::make_shared<handlers::Pool>("hf-handler", static_cast<int>(options.threads),
                                                    node_->ground());
}

Team::~Team() {
  static_cast<void>(node_->stop_work());
  static_cast<void>(pools_->close());
}

std::vector<ports::NewTask> new_tasks(std::size_t count, std::size_t payload_bytes) {
  ports::NewTask task;
  task.type = kType;
  task.queue = kQueue;
  task.payload.assign(payload_bytes, 'x');
  return std::vector<ports::NewTask>(count, task);
}

Result<void> submit(Node& node, std::vector<ports::NewTask> tasks) {
  const auto answer = node.submit(std::move(tasks));
  if (!answer) return std::unexpected(answer.error());
  for (const auto& one : *answer) {
    if (!one) return std::unexpected(one.error());
  }
  return {};
}

std::vector<ports::NewTask> dated_task(std::int64_t due_ns, std::size_t payload_bytes) {
  auto tasks = new_tasks(1, std::max(payload_bytes, sizeof due_ns));
  std::memcpy(tasks[0].payload.data(), &due_ns, sizeof due_ns);
  return tasks;
}

std::optional<double> took_ms(const ports::TaskRecord& record) {
  std::int64_t due_ns = 0;
  std::memcpy(&due_ns, record.payload.data(), sizeof due_ns);
  if (due_ns == 0) return std::nullopt;
  const Duration took = system_clock().now().time_since_epoch() - Duration(due_ns);
  return std::chrono::duration<double, std::milli>(took).count();
}

Latency latency_of(std::vector<double> times_ms, double done_per_s) {
  std::ranges::sort(times_ms);
  const auto at = [&](double part) {
    return times_ms[static_cast<std::size_t>(part * static_cast<double>(times_ms.size() - 1))];
  };
  return Latency{
      .p50_ms = at(0.5), .p99_ms = at(0.99), .most_ms = times_ms.back(), .done_per_s = done_per_s};
}

Producers::Producers(std::size_t count, const Hooks& hooks, const Next& next) {
  for (std::size_t i = 0; i < count; ++i) {
    threads_.emplace_back([hooks, next](const std::stop_token& stop) {
      while (!hooks.given_up()) {
        const auto more = next(stop);
        if (!more) return hooks.give_up(more.error());
        if (!*more) return;
      }
    });
  }
}

void Producers::join() {
  for (std::jthread& thread : threads_)
    thread.join();
}

}  // namespace holdfast::node::bench
