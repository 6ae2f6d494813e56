#pragma once

#include <memory>
#include <string>

#include <holdfast/retry.hpp>

#include "ports/broker.hpp"

namespace holdfast::engine {

// How one queue is carried by a broker.
struct Carriage {
  std::string queue = {};
  std::shared_ptr<ports::Broker> broker = {};
  std::string where = {};        // the broker, for people
  std::string name = {};         // of the queue there
  std::string dead_letter = {};  // the queue where dead letters go
  ports::QueueWish::Kind kind = ports::QueueWish::Kind::classic;
  std::size_t prefetch = 256;  // deliveries at hand, those of running tasks among them
  // Whether who hands in a task waits until the broker has confirmed it (R1); if not, it is
  // answered when it is recorded.
  bool confirmed = true;
  std::string foreign_type = "unknown";  // of a message that does not say
  retry::Policy publish = {};
  // What was recorded and could not be published is tried again so often.
  Duration sweep_every = std::chrono::seconds(15);
};

}  // namespace holdfast::engine
