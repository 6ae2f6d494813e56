#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/time.hpp>

#include "ports/message.hpp"

namespace holdfast::brokers::sqs {

// One message as it was received.
struct Arrival {
  std::string id;  // SQS's
  std::string receipt;
  ports::Message message;
  std::optional<WallTime> due = {};  // not to be delivered before
  bool is_redelivered = false;
  bool is_damaged = false;  // not what was sent
};

// All of an answer to ReceiveMessage. Pure.
//
// - How often SQS has handed it out before is the header x-delivery-count, if it has. Of a message
//   that a FIFO queue could not delay one time less: it was put off by whoever got it too early.
// - What SQS itself has moved to a dead-letter queue has the header x-death that RabbitMQ would
//   have given it: delivery_limit, and from which queue.
// - A message of another client has SQS's id for it and the time it was sent, if it has none of its
//   own.
[[nodiscard]] std::vector<Arrival> arrivals(std::string_view answer, std::string_view queue);

}  // namespace holdfast::brokers::sqs
