#include "server/carrying.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include <holdfast/policies.hpp>

#include "server/broker_choice.hpp"

namespace holdfast::server {
namespace {

// R1, with the numbers of the configuration. What could not be sent, or found no queue, or one that
// does not take it now, is tried again; what the broker refused for good is not.
retry::Policy publish_policy(const config::Retry& publish, const Logger& log) {
  const auto may_work_later = [](const Error& error) {
    return error.code == ErrorCode::unavailable || error.code == ErrorCode::timeout ||
           error.code == ErrorCode::not_found || error.code == ErrorCode::exhausted;
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

BrokerSettings settings_for(const config::Queue& queue, const config::Aws& aws,
                            const std::function<void(const Error&)>& on_gave_up) {
  return {.url = std::string(queue.broker.text.reveal()),
          .client = "holdfast serve",
          .connect_attempts = queue.connect.attempts,
          .connect_wait = queue.connect.wait,
          .on_gave_up = on_gave_up,
          .ca_file = queue.broker_ca,
          .cert_file = queue.broker_cert,
          .key_file = queue.broker_key,
          .endpoint = std::string(queue.broker_endpoint.text.reveal()),
          .create = queue.broker_create,
          .visibility = queue.visibility,
          .max_receives = queue.max_receives,
          .aws = aws};
}

// SQS counts every delivery, and moves what was delivered too often to the dead letters: also what
// a killed server had at hand and not begun. So no more is at hand there than will soon be run.
std::size_t prefetch_of(const config::Queue& queue) {
  constexpr int kBatch = 10;
  const int soon = std::max(2 * queue.concurrency, kBatch);
  return static_cast<std::size_t>(queue.is_at_sqs() ? std::min(queue.prefetch, soon)
                                                    : queue.prefetch);
}

// Queues with the same of these share a broker and its connections.
using Shared = std::tuple<std::string, std::string, std::string, std::string, int, Duration,
                          std::string, bool, Duration, int>;
Shared shared_by(const BrokerSettings& settings, const BrokerPlace& place) {
  // At SQS every request says its queue, and the region is all of the URL that counts.
  const std::string at =
      settings.url.substr(0, place.queue.empty() ? settings.url.npos : settings.url.rfind('/'));
  return {at,
          settings.ca_file,
          settings.cert_file,
          settings.key_file,
          settings.connect_attempts,
          settings.connect_wait,
          settings.endpoint,
          settings.create,
          settings.visibility,
          settings.max_receives};
}

struct CarryingBroker {
  std::shared_ptr<ports::Broker> broker;
  std::shared_ptr<seeing::BrokerState> state;  // none: nobody looks
};

}  // namespace

Result<engine::Carriage> carriage_at(const std::string& url, const std::string& queue,
                                     ports::Loop& loop) {
  auto place = broker_place(url, false);
  if (!place) return std::unexpected(std::move(place).error());
  auto broker = open_broker(loop, {.url = url, .client = "holdfast bench"}, Logger());
  if (!broker) return std::unexpected(std::move(broker).error());
  return engine::Carriage{.queue = queue,
                          .broker = *std::move(broker),
                          .where = place->text,
                          .name = queue,
                          .dead_letter = dead_letter_name(place->kind, queue),
                          .prefetch = 2000,
                          .publish = publish_policy(config::Queue().publish, Logger())};
}

Result<std::vector<engine::Carriage>> carriages_of(
    const config::Config& config, ports::Loop& loop, const Logger& log,
    const std::function<void(const Error&)>& on_gave_up, BrokerMonitor* monitor) {
  std::map<Shared, CarryingBroker> brokers;
  std::vector<engine::Carriage> carriages;
  for (const auto& [name, queue] : config.queues) {
    if (!queue.broker.is_set()) continue;
    BrokerSettings settings = settings_for(queue, config.aws, on_gave_up);
    auto place = broker_place(settings.url, false);
    if (!place) return fail(place.error().code, "queue \"" + name + "\"", place.error().message);
    auto& [broker, state] = brokers[shared_by(settings, *place)];
    if (!broker) {
      if (monitor) settings.observer = state = monitor->observe(*place);
      auto opened = open_broker(loop, settings, log);
      if (!opened) return std::unexpected(std::move(opened).error());
      broker = *std::move(opened);
    }
    const std::string at = place->queue.empty() ? name : place->queue;
    carriages.push_back(
        {.queue = name,
         .broker = broker,
         .where = place->text,
         .name = at,
         .dead_letter =
             queue.dead_letter.empty() ? dead_letter_name(place->kind, at) : queue.dead_letter,
         .kind = queue.kind == config::QueueKind::quorum ? ports::QueueWish::Kind::quorum
                                                         : ports::QueueWish::Kind::classic,
         .prefetch = prefetch_of(queue),
         .confirmed = queue.answer == config::AnswerWhen::confirmed,
         .foreign_type = foreign_type_of(config, name, queue),
         .publish = publish_policy(queue.publish, log)});
    if (monitor) monitor->add(carriages.back(), state);
  }
  return carriages;
}

}  // namespace holdfast::server
