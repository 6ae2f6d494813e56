#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <holdfast/clock.hpp>
#include <holdfast/log.hpp>
#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

#include "io/aws_credentials.hpp"
#include "ports/broker.hpp"
#include "ports/broker_observer.hpp"
#include "ports/loop.hpp"

namespace holdfast::brokers::sqs {

// Where queues are.
struct Location {
  std::string region;
  std::string queue = {};  // of a URL that names one

  // "sqs://eu-central-1/jobs"
  [[nodiscard]] std::string text() const;
};

// sqs://region or sqs://region/queue.
[[nodiscard]] Result<Location> parse_location(std::string_view url);

// Letters, digits, - and _, at most 80; of a FIFO queue ".fifo" at the end. What cannot be a queue
// is told without asking.
[[nodiscard]] bool is_queue_name(std::string_view name) noexcept;
[[nodiscard]] bool is_fifo(std::string_view queue) noexcept;
// What a queue's dead-letter queue is called where nobody says so: jobs-dlq, jobs-dlq.fifo.
[[nodiscard]] std::string dead_letter_name(std::string_view queue);

// In which group of a FIFO queue a message is. Without it: the message's id, or kDefaultGroup.
inline constexpr std::string_view kGroupHeader = "x-holdfast-group";
inline constexpr std::string_view kDefaultGroup = "holdfast";

struct Options {
  Location at;
  std::string endpoint = {};        // empty: https://sqs.REGION.amazonaws.com
  std::string ca_file = {};         // of https; empty: the system's
  io::AwsSources credentials = {};  // where to look for them
  std::string client = "holdfast";  // as the user agent
  // For how long a message is kept from others at a time. It is extended at half time for as long
  // as a message is neither settled nor handed back.
  Duration visibility_timeout = std::chrono::seconds(30);
  // Queues that are not there are made, with a dead-letter queue; others are never changed.
  bool create = false;
  int most_receives = 3;  // maxReceiveCount of what is made, and what is found
  // How long one poll waits for a message, from 1 s to 20 s. A consumer that is closed waits up to
  // two seconds for its polls; what they bring is handed back.
  Duration poll_wait = std::chrono::seconds(20);
  int polls = 4;    // most at once, for each consumer; fewer while little comes
  int batches = 8;  // of messages to send, most at once for each queue
  std::size_t most_message_bytes = std::size_t{1} << 20;  // of one, and of a batch
  Duration connect_timeout = std::chrono::seconds(5);
  Duration request_timeout = std::chrono::seconds(15);
  int request_attempts = 6;  // at what is throttled, or fails for reasons of the server's own
  // R8: how consumers go on when they cannot receive.
  int connect_attempts = 90;
  Duration connect_wait = std::chrono::seconds(10);
  // The last attempt has failed: a consumer gets nothing any more. On the loop.
  std::function<void(const Error&)> on_gave_up = {};
  std::shared_ptr<ports::BrokerObserver> observer = {};  // may be none
};

// What the port leaves open, and this broker does (docs/sqs.md has all of it):
// - There are no exchanges: what is published to one is refused.
// - A delay is whole seconds, rounded up.
// - A message carries the attribute `holdfast`, in which is what SQS has no place for; other
//   clients see it. What has none is of another client: its attributes are its headers.
// - Deliveries stay valid while SQS cannot be reached, as long as their visibility timeout lasts.
//   One whose timeout has run out is not told: if its message comes again it gets the new receipt,
//   and if it is acknowledged before that, deleting it is tried all the same.
// - A receiver is interrupted when its queue has vanished. Then all its deliveries are void.
// - Throttling and errors of the server are tried again by a policy, for some seconds; what cannot
//   be connected to is not: whoever publishes has a policy for that.
//
// Asks for nothing before it is asked. The loop and the log's sink must outlive it. Its destructor
// blocks for some seconds at most, until what was said has reached SQS.
[[nodiscard]] std::unique_ptr<ports::Broker> open(ports::Loop& loop, Options options, Logger log);

}  // namespace holdfast::brokers::sqs
