#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <holdfast/result.hpp>

#include "ports/broker.hpp"
#include "ports/loop.hpp"

namespace holdfast::brokers::rabbitmq {

// What the threads of a broker have for the loop.
struct Answer {
  std::move_only_function<void(ports::Sent)> then;
  ports::Sent sent;
};
struct Received {
  ports::ConsumerId consumer = 0;
  std::vector<ports::Delivery> deliveries;
};
struct Interrupted {
  ports::ConsumerId consumer = 0;
  Error why;
};
struct Consuming {
  ports::ConsumerId consumer = 0;
};
struct Unreadable {
  ports::ConsumerId consumer = 0;
  std::string why;
};
struct Refused {
  ports::ConsumerId consumer = 0;
  Error why;
};
struct Closed {
  ports::ConsumerId consumer = 0;
};
struct Call {
  std::move_only_function<void()> work;
};
using Event =
    std::variant<Answer, Received, Interrupted, Consuming, Refused, Unreadable, Closed, Call>;

// Events on their way to the loop: one wake-up for all that has gathered. What is left when the
// broker is gone is dropped.
class Mail : public std::enable_shared_from_this<Mail> {
 public:
  using Take = std::function<void(Event)>;

  Mail(ports::Loop& loop, Take take) : loop_(loop), take_(std::move(take)) {}

  // Empties `events`. Threads: any.
  void send(std::vector<Event>& events);

  // Nothing is taken any more. Threads: the loop's.
  void close() { take_ = nullptr; }

 private:
  void deliver();

  ports::Loop& loop_;
  Take take_;  // the loop's
  std::mutex mutex_;
  std::vector<Event> waiting_;
};

}  // namespace holdfast::brokers::rabbitmq
