#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

#include "ports/message.hpp"

// The seam to what carries messages: RabbitMQ, SQS. A broker keeps no records; it is asked to send,
// to hand out and to forget, and whoever asks is responsible for the order: publish, be confirmed,
// then acknowledge.
namespace holdfast::ports {

// Where a message goes. Without an exchange the routing key is the name of a queue.
struct Address {
  std::string exchange = {};
  std::string routing_key = {};

  auto operator<=>(const Address&) const = default;
};

// One queue that is to be there.
struct QueueWish {
  enum class Kind : std::uint8_t { classic, quorum };

  std::string name;
  Kind kind = Kind::classic;
  std::optional<Address> dead_letter = {};  // where the broker itself puts what it gives up
};

struct Topology {
  std::vector<QueueWish> queues;  // durable, all of them; each is made sure of by itself
};

// How a queue was found.
enum class QueueFound : std::uint8_t {
  ready,      // there as wished, made now or before
  otherwise,  // there, with other arguments: it is used as it is (R7)
};

struct Opened {
  struct One {
    std::string queue;
    QueueFound found = QueueFound::ready;
    std::string detail = {};  // what the broker said of one that is otherwise
  };
  std::vector<One> queues;
};

struct Outgoing {
  Address to;
  Message message;
  // Not to be delivered before so long: it waits in a queue of its own for that, made on demand.
  // Rounded up to what the broker does with few queues, at most by a tenth. Only to a queue
  // (without an exchange).
  Duration delay = {};
  QueueWish::Kind delay_kind = QueueWish::Kind::classic;  // of the queue that it waits in
};

// How a message ended that was to be published.
//
// `refused` with ErrorCode::exhausted may pass: a queue is full, or its leader is being elected.
enum class Fate : std::uint8_t {
  confirmed,  // it is in a queue, and durable if it is persistent
  returned,   // no queue takes it: it is nowhere
  refused,    // the broker said no (a full queue, an error of its own, a bad property): nowhere
  unsent,     // nothing was sent: no connection, or the broker takes no messages now
  unknown,    // sent, and the connection was lost before the answer: it may be there, or not
};

struct Sent {
  Fate fate = Fate::unknown;
  Error error = {};  // why, unless it is confirmed
};

// One delivery, by which it is acknowledged. Of a connection that is lost, all are void: what is
// said of them is ignored, since the broker delivers their messages again.
struct DeliveryTag {
  std::uint64_t line = 0;  // the channel it came by; none is used twice
  std::uint64_t number = 0;

  auto operator<=>(const DeliveryTag&) const = default;
};

struct Delivery {
  DeliveryTag tag;
  Message message;
  Address from;              // what it was published to
  bool redelivered = false;  // it may have been delivered before; not so: it has not
};

// Hears of one consumer. Called on the loop, never from within a call to the broker.
class Receiver {
 public:
  virtual ~Receiver() = default;

  // What has come since the last time, in the order of the queue.
  virtual void received(std::vector<Delivery> deliveries) = 0;
  // The connection or channel is gone: every tag so far is void. The broker connects again by its
  // policy, and consumes again.
  virtual void interrupted(const Error& why) = 0;
  // It consumes: for the first time, or again.
  virtual void consuming() = 0;
  // A message came that cannot be read, and so not be copied. It is held, as if by hold().
  virtual void unreadable(const std::string& /*why*/) {}
  // The broker refuses to let it consume: no permission, no such queue, an exclusive consumer. It
  // is tried again by the broker's policy, unless the consumer is closed.
  virtual void refused(const Error& /*why*/) {}
};

struct Intake {
  std::string queue;
  std::size_t prefetch = 256;  // most that are delivered and neither settled nor held
  // At so many bytes of these no more is taken from a broker that sends by itself; 0: no limit.
  std::uint64_t most_bytes = 0;
  // How long one question for messages may wait for some, where the broker is asked for them; one
  // that sends them by itself does not look at it.
  Duration wait = std::chrono::seconds(20);
};

using ConsumerId = std::uint64_t;

struct Depth {
  std::uint64_t ready = 0;  // messages that wait to be delivered
  std::uint64_t consumers = 0;
  // Not so: of a queue that counts returns, the broker says the same while it cannot reach it.
  bool is_sure = true;
};

// What the broker does with messages that are delivered and returned. A return is every end of a
// delivery but an acknowledgement: handed back, its channel closed, its connection lost.
struct QueueFacts {
  enum class Kind : std::uint8_t {
    unknown,  // it could not be found out
    counts,   // it counts returns, and may have a limit: a quorum queue
    stream,   // messages are not removed by acknowledging them
    plain,    // returns are not counted
  };
  Kind kind = Kind::unknown;
  // A message is dropped, or dead-lettered, when it is returned more often than this. Of a queue
  // that counts: nothing means no limit, or one that could not be found out.
  std::optional<std::int64_t> return_limit = {};
  bool limit_is_known = false;  // not so: there may be a lower one than `return_limit`
  std::string unknown_because = {};
  std::optional<Address> dead_letter = {};  // where such messages go
};

// One queue, as the broker lists it. What is not there is not known.
struct QueueStatus {
  enum class Kind : std::uint8_t { unknown, classic, quorum, stream, standard, fifo };

  std::string name;
  Kind kind = Kind::unknown;
  std::optional<std::uint64_t> ready = {};           // messages that wait to be delivered
  std::optional<std::uint64_t> unacknowledged = {};  // delivered, and not settled
  std::optional<std::uint64_t> consumers = {};
  std::optional<Address> dead_letter = {};
  // Deliveries or returns, whatever the broker counts, until a message is dropped or dead-lettered.
  std::optional<std::int64_t> delivery_limit = {};
  std::optional<double> taken_per_second = {};  // acknowledged, or taken without
  // What the first message says itself, where the broker looks at that.
  std::optional<WallTime> oldest_published = {};
  bool is_approximate = true;  // the numbers may be some seconds old, or estimates
};
[[nodiscard]] std::string_view to_string(QueueStatus::Kind kind) noexcept;

// One broker at one address. Callbacks come on the loop, exactly once, never from within the call;
// those of a broker that is destroyed are dropped. Threads: the loop's.
//
// Publishing and consuming have connections of their own, since a broker in need blocks those that
// publish. To publish connects where there is no connection, once: whoever publishes has a policy
// for it. A consumer connects by the broker's own policy, for as long as that lasts.
class Broker {
 public:
  virtual ~Broker() = default;

  // Makes sure of queues, now and after every time that the connection was lost.
  virtual void open(Topology topology, std::move_only_function<void(Result<Opened>)> then) = 0;

  // In the order they are asked, many under way at once: whoever asks bounds them. A message that
  // no queue takes is returned, never dropped.
  virtual void publish(Outgoing outgoing, std::move_only_function<void(Sent)> then) = 0;

  // Receives until it is closed. `receiver` must outlive that.
  [[nodiscard]] virtual ConsumerId consume(Intake intake, Receiver& receiver) = 0;
  // No more deliveries; what is not settled can still be.
  virtual void pause(ConsumerId consumer) = 0;
  virtual void resume(ConsumerId consumer) = 0;
  // Changes Intake::prefetch. What is delivered stays; a smaller one is reached as that is settled.
  virtual void set_prefetch(ConsumerId consumer, std::size_t prefetch) = 0;
  // No more deliveries, as pause() does, but what is on its way still comes to the receiver.
  // `then` is called when nothing can come any more, or the connection is lost. For good: only
  // settling and close() follow.
  virtual void drain(ConsumerId consumer, std::move_only_function<void()> then) = 0;
  // Hands everything back that is not settled. From the call on nothing comes to the receiver any
  // more. `then` is called when all that was said before has reached the broker, or its connection
  // is lost.
  virtual void close(ConsumerId consumer, std::move_only_function<void()> then) = 0;

  // Of one delivery, each once. Gathered: what is said between two turns of the loop goes out
  // together.
  virtual void acknowledge(ConsumerId consumer, DeliveryTag tag) = 0;
  // Back into its queue, for anybody.
  virtual void hand_back(ConsumerId consumer, DeliveryTag tag) = 0;
  // Kept from everybody until the consumer is closed, which hands it back, and no longer counted by
  // the prefetch: how messages are passed over without being seen again and again.
  virtual void hold(ConsumerId consumer, DeliveryTag tag) = 0;

  // not_found: there is no such queue.
  virtual void depth(std::string queue, std::move_only_function<void(Result<Depth>)> then) = 0;
  // not_found: there is no such queue.
  virtual void inspect(std::string queue,
                       std::move_only_function<void(Result<QueueFacts>)> then) = 0;
  // Whether it is there; an error: that could not be found out.
  virtual void find_exchange(std::string exchange,
                             std::move_only_function<void(Result<bool>)> then) = 0;

  // Those of this broker's virtual host or region whose name matches the pattern
  // (core/name_pattern), by name. Fails with exhausted if they are more than kMostListedQueues.
  virtual void list_queues(
      std::string pattern,
      std::move_only_function<void(Result<std::vector<QueueStatus>>)> then) = 0;
};
inline constexpr std::size_t kMostListedQueues = 10'000;

// Publishes a copy, and acknowledges the delivery once that is confirmed: how a message is moved
// without a moment in which it is nowhere. On any other fate the delivery is left as it is, for the
// caller to decide.
void move_on(Broker& broker, ConsumerId consumer, DeliveryTag tag, Outgoing copy,
             std::move_only_function<void(Sent)> then);

// The two moves that every carrier of tasks makes: to be delivered again after a wait, and to lie
// where people look.
void retry_later(Broker& broker, ConsumerId consumer, DeliveryTag tag, const std::string& queue,
                 Message message, Duration wait, std::move_only_function<void(Sent)> then);
void dead_letter(Broker& broker, ConsumerId consumer, DeliveryTag tag, const std::string& queue,
                 Message message, std::move_only_function<void(Sent)> then);

}  // namespace holdfast::ports
