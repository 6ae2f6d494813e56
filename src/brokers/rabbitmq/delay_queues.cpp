#include "brokers/rabbitmq/delay_queues.hpp"

#include <algorithm>

namespace holdfast::brokers::rabbitmq {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kInfix = ".retry.";
constexpr std::int64_t kLeast_ms = 100;
// For how long an unused one stays beyond its wait.
constexpr std::int64_t kBeyond_ms = 60LL * 60 * 1000;
constexpr std::int64_t kMost_ms = 20LL * 24 * 60 * 60 * 1000;  // twice that still is 32 bits
constexpr std::size_t kLongestName = 255;

constexpr std::string_view kDeathHeaders[] = {"x-death",
                                              "x-first-death-exchange",
                                              "x-first-death-queue",
                                              "x-first-death-reason",
                                              "x-last-death-exchange",
                                              "x-last-death-queue",
                                              "x-last-death-reason"};

std::int64_t rounded_up(std::int64_t ms) {
  ms = std::max(ms, kLeast_ms);
  std::int64_t unit = 1;
  while (ms / unit >= 100)
    unit *= 10;
  return (ms + unit - 1) / unit * unit;
}

}  // namespace

ports::FieldTable DelayQueue::arguments() const {
  ports::FieldTable all = {{"x-message-ttl", wait_ms},
                           {"x-expires", expires_ms},
                           {"x-dead-letter-exchange", ""},
                           {"x-dead-letter-routing-key", target}};
  if (kind == ports::QueueWish::Kind::quorum) {
    all.emplace_back("x-queue-type", "quorum");
    all.emplace_back("x-dead-letter-strategy", "at-least-once");
    all.emplace_back("x-overflow", "reject-publish");
  }
  return all;
}

Result<DelayQueue> delay_queue(const std::string& target, Duration wait,
                               ports::QueueWish::Kind kind) {
  const auto asked_ms = std::chrono::ceil<milliseconds>(wait).count();
  if (asked_ms > kMost_ms) {
    return fail(ErrorCode::invalid_argument, "publish", "RabbitMQ delays nothing beyond 20 days");
  }
  DelayQueue queue;
  queue.target = target;
  queue.wait_ms = rounded_up(asked_ms);
  queue.expires_ms = 2 * queue.wait_ms + kBeyond_ms;
  queue.kind = kind;
  queue.name = target + std::string(kInfix);
  if (kind == ports::QueueWish::Kind::quorum) queue.name += 'q';
  queue.name += std::to_string(queue.wait_ms);
  if (queue.name.size() > kLongestName) {
    return fail(ErrorCode::invalid_argument, "publish",
                "the name of the queue is too long for one beside it: " + queue.name);
  }
  return queue;
}

bool DelayQueues::is_fresh(const DelayQueue& queue, SteadyTime now) const {
  const auto found = declared_.find(queue.name);
  if (found == declared_.end()) return false;
  return now - found->second < milliseconds((queue.expires_ms - queue.wait_ms) / 4);
}

void remove_deaths(ports::Message& message) {
  std::erase_if(message.headers, [](const auto& header) {
    return std::ranges::find(kDeathHeaders, header.first) != std::end(kDeathHeaders);
  });
}

void remove_trace_of_delay(std::string_view queue, ports::Message& message) {
  const auto first = ports::text_of(message.headers, "x-first-death-queue");
  if (first && first->starts_with(queue) && first->substr(queue.size()).starts_with(kInfix)) {
    remove_deaths(message);
  }
}

}  // namespace holdfast::brokers::rabbitmq
