#include "server/broker_choice.hpp"

#include <string_view>
#include <utility>

#include "brokers/rabbitmq/rabbitmq.hpp"

namespace holdfast::server {
namespace {

namespace rabbitmq = brokers::rabbitmq;

Result<BrokerPlace> rabbitmq_place(const std::string& url, bool names_queue) {
  auto location = rabbitmq::parse_location(url, names_queue);
  if (!location) return std::unexpected(std::move(location).error());
  if (names_queue && location->queue.empty()) {
    return fail(ErrorCode::invalid_argument, "broker",
                "the URL names no queue: it is the last part, amqp://host/vhost/queue, and the "
                "vhost / is written %2f");
  }
  return BrokerPlace{.kind = BrokerPlace::Kind::rabbitmq,
                     .queue = location->queue,
                     .user = location->user,
                     .text = location->text()};
}

Result<std::unique_ptr<ports::Broker>> open_rabbitmq(ports::Loop& loop,
                                                     const BrokerSettings& settings,
                                                     const Logger& log) {
  // With or without a queue at its end: the rest is read alike.
  auto at = rabbitmq::parse_location(settings.url, settings.names_queue);
  if (!at) return std::unexpected(std::move(at).error());
  rabbitmq::Options options{.at = *std::move(at),
                            .ca_file = settings.ca_file,
                            .client = settings.client,
                            .connect_attempts = settings.connect_attempts,
                            .connect_wait = settings.connect_wait,
                            .on_gave_up = settings.on_gave_up};
  if (settings.blocked_patience) options.blocked_patience = *settings.blocked_patience;
  return rabbitmq::open(loop, std::move(options), log);
}

}  // namespace

Result<BrokerPlace> broker_place(const std::string& url, bool names_queue) {
  return rabbitmq_place(url, names_queue);
}

std::string dead_letter_name(BrokerPlace::Kind kind, const std::string& queue) {
  if (kind == BrokerPlace::Kind::rabbitmq) return queue + ".dlq";
  constexpr std::string_view kFifo = ".fifo";  // the dead letters of such a queue need one, too
  if (!queue.ends_with(kFifo)) return queue + "-dlq";
  return queue.substr(0, queue.size() - kFifo.size()) + "-dlq" + std::string(kFifo);
}

Result<std::unique_ptr<ports::Broker>> open_broker(ports::Loop& loop,
                                                   const BrokerSettings& settings,
                                                   const Logger& log) {
  return open_rabbitmq(loop, settings, log);
}

}  // namespace holdfast::server
