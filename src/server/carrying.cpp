#include "server/carrying.hpp"

#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include <holdfast/policies.hpp>

#include "brokers/rabbitmq/rabbitmq.hpp"

namespace holdfast::server {
namespace {

// R1, with the numbers of the configuration. What could not be sent, or found no queue, is tried
// again; what the broker refused is not.
retry::Policy publish_policy(const config::Retry& publish, const Logger& log) {
  const auto may_work_later = [](const Error& error) {
    return error.code == ErrorCode::unavailable || error.code == ErrorCode::timeout ||
           error.code == ErrorCode::not_found;
  };
  return policies::publish(log, retry::Policy().retry_if(may_work_later))
      .stop(retry::attempts(publish.attempts))
      .wait(retry::exponential({.first = publish.first, .factor = 2, .cap = publish.cap}));
}

// A message that does not say what it is, in a queue of one type, is of that type.
std::string foreign_type_of(const config::Config& config, const std::string& name,
                            const config::Queue& queue) {
  if (!queue.foreign_type.empty()) return queue.foreign_type;
  std::string only;
  for (const auto& [type, task] : config.tasks) {
    if (task.queue != name) continue;
    if (!only.empty()) return "unknown";
    only = type;
  }
  return only.empty() ? "unknown" : only;
}

}  // namespace

Result<engine::Carriage> carriage_at(const std::string& url, const std::string& queue,
                                     ports::Loop& loop) {
  auto at = brokers::rabbitmq::parse_location(url);
  if (!at) return std::unexpected(std::move(at).error());
  const std::string where = at->text();
  return engine::Carriage{.queue = queue,
                          .broker = brokers::rabbitmq::open(
                              loop, {.at = *std::move(at), .client = "holdfast bench"}, Logger()),
                          .where = where,
                          .dead_letter = queue + ".dlq",
                          .prefetch = 2000,
                          .publish = publish_policy(config::Queue().publish, Logger())};
}

Result<std::vector<engine::Carriage>> carriages_of(
    const config::Config& config, ports::Loop& loop, const Logger& log,
    const std::function<void(const Error&)>& on_gave_up) {
  using Connecting = std::tuple<std::string, std::string, int, Duration>;
  std::map<Connecting, std::shared_ptr<ports::Broker>> brokers;
  std::vector<engine::Carriage> carriages;
  for (const auto& [name, queue] : config.queues) {
    if (!queue.broker.is_set()) continue;
    auto at = brokers::rabbitmq::parse_location(queue.broker.text.reveal());
    if (!at) return fail(at.error().code, "queue \"" + name + "\"", at.error().message);
    std::shared_ptr<ports::Broker>& broker =
        brokers[{std::string(queue.broker.text.reveal()), queue.broker_ca, queue.connect.attempts,
                 queue.connect.wait}];
    const std::string where = at->text();
    if (!broker) {
      broker = brokers::rabbitmq::open(loop,
                                       {.at = *std::move(at),
                                        .ca_file = queue.broker_ca,
                                        .client = "holdfast serve",
                                        .connect_attempts = queue.connect.attempts,
                                        .connect_wait = queue.connect.wait,
                                        .on_gave_up = on_gave_up},
                                       log);
    }
    carriages.push_back(
        {.queue = name,
         .broker = broker,
         .where = where,
         .dead_letter = queue.dead_letter.empty() ? name + ".dlq" : queue.dead_letter,
         .kind = queue.kind == config::QueueKind::quorum ? ports::QueueWish::Kind::quorum
                                                         : ports::QueueWish::Kind::classic,
         .prefetch = static_cast<std::size_t>(queue.prefetch),
         .confirmed = queue.answer == config::AnswerWhen::confirmed,
         .foreign_type = foreign_type_of(config, name, queue),
         .publish = publish_policy(queue.publish, log)});
  }
  return carriages;
}

}  // namespace holdfast::server
