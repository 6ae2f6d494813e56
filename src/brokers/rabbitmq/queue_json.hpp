#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include <holdfast/result.hpp>

#include "ports/broker.hpp"

// What the management API says of queues, read from its answers.
namespace holdfast::brokers::rabbitmq {

// Nothing: it does not know the queue's policies yet, which takes it some seconds after a queue was
// declared.
[[nodiscard]] Result<std::optional<ports::QueueFacts>> read_queue(std::string_view json,
                                                                  int broker_version);

struct QueuePage {
  std::vector<ports::QueueStatus> queues = {};
  std::size_t pages = 1;  // that there are
};
[[nodiscard]] Result<QueuePage> read_queue_page(std::string_view json);

}  // namespace holdfast::brokers::rabbitmq
