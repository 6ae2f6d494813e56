#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

#include "ports/broker.hpp"
#include "ports/message.hpp"

// Messages that are not to be delivered yet wait in a queue for just that long:
// `<queue>.retry.<ms>`, durable, from which the broker itself puts them back by the default
// exchange when their time is over. One queue for each wait, since a message expires only at the
// head of its queue (trap 6); a wait is rounded up to two digits, so that there are few.
//
// Classic ones dead-letter at most once (trap 5): a broker that is killed just while it puts a
// message back may lose it, which is why whoever delays what must not be lost keeps a record of it.
// Those of a quorum queue, `<queue>.retry.q<ms>`, are quorum queues and dead-letter at least once;
// but one that is a second old comes back empty when RabbitMQ 3.10 is killed (rabbitmq-server
// #15725), so the record is needed all the same.
//
// A delay leaves no trace: its death in the delay queue would stand in x-death, and what an earlier
// life has left there could make the broker take the next death for a cycle and drop the message
// (trap 7). So the adapter removes x-death and its companions from what it publishes with a delay,
// and from what comes back out of a delay queue. Whoever counts deaths does so before.
namespace holdfast::brokers::rabbitmq {

struct DelayQueue {
  std::string name;
  std::string target;
  std::int64_t wait_ms = 0;
  std::int64_t expires_ms = 0;
  ports::QueueWish::Kind kind = ports::QueueWish::Kind::classic;

  [[nodiscard]] ports::FieldTable arguments() const;
};

// Rounded up to two significant digits, 100 ms at least. invalid_argument: longer than RabbitMQ
// waits, or the name of the queue is too long for it.
[[nodiscard]] Result<DelayQueue> delay_queue(
    const std::string& target, Duration wait,
    ports::QueueWish::Kind kind = ports::QueueWish::Kind::classic);

// Which of them are known to be there, and for long enough.
//
// The broker removes a queue that nobody has declared for `expires_ms`, with all that is in it. So
// one is declared again before use whenever that is longer ago than a fraction of what is left of
// it beyond the wait: what is published then dies in the queue long before the queue does.
class DelayQueues {
 public:
  [[nodiscard]] bool is_fresh(const DelayQueue& queue, SteadyTime now) const;
  void declared(const DelayQueue& queue, SteadyTime at) { declared_[queue.name] = at; }
  void forget(const std::string& name) { declared_.erase(name); }
  void forget_all() { declared_.clear(); }

 private:
  std::unordered_map<std::string, SteadyTime> declared_;
};

void remove_deaths(ports::Message& message);
// Of a message that came to `queue` out of one of its delay queues.
void remove_trace_of_delay(std::string_view queue, ports::Message& message);

}  // namespace holdfast::brokers::rabbitmq
