#include "ports/broker.hpp"

#include <utility>

namespace holdfast::ports {

std::string_view to_string(QueueStatus::Kind kind) noexcept {
  switch (kind) {
    case QueueStatus::Kind::unknown: break;
    case QueueStatus::Kind::classic: return "classic";
    case QueueStatus::Kind::quorum: return "quorum";
    case QueueStatus::Kind::stream: return "stream";
    case QueueStatus::Kind::standard: return "standard";
    case QueueStatus::Kind::fifo: return "fifo";
  }
  return "unknown";
}

void move_on(Broker& broker, ConsumerId consumer, DeliveryTag tag, Outgoing copy,
             std::move_only_function<void(Sent)> then) {
  broker.publish(std::move(copy),
                 [&broker, consumer, tag, then = std::move(then)](Sent sent) mutable {
                   if (sent.fate == Fate::confirmed) broker.acknowledge(consumer, tag);
                   then(std::move(sent));
                 });
}

void retry_later(Broker& broker, ConsumerId consumer, DeliveryTag tag, const std::string& queue,
                 Message message, Duration wait, std::move_only_function<void(Sent)> then) {
  move_on(broker, consumer, tag,
          {.to = {.routing_key = queue}, .message = std::move(message), .delay = wait},
          std::move(then));
}

void dead_letter(Broker& broker, ConsumerId consumer, DeliveryTag tag, const std::string& queue,
                 Message message, std::move_only_function<void(Sent)> then) {
  move_on(broker, consumer, tag, {.to = {.routing_key = queue}, .message = std::move(message)},
          std::move(then));
}

}  // namespace holdfast::ports
