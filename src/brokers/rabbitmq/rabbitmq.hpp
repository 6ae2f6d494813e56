#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <holdfast/clock.hpp>
#include <holdfast/log.hpp>
#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

#include "ports/broker.hpp"
#include "ports/loop.hpp"

namespace holdfast::brokers::rabbitmq {

// Where a broker is, and who we are there.
struct Location {
  bool tls = false;
  std::string host;
  std::uint16_t port = 5672;
  std::string user = "guest";
  std::string password = "guest";
  std::string vhost = "/";
  std::string queue = {};  // of a URL that names one

  // For people: without the password.
  [[nodiscard]] std::string text() const;
};

// amqp[s]://user:password@host:port/vhost, the vhost percent-encoded ("%2f" or nothing: "/"). With
// `names_queue` the last part is the queue: amqp://host/vhost/queue. Errors never repeat the URL,
// which has a password in it.
[[nodiscard]] Result<Location> parse_location(std::string_view url, bool names_queue = false);

struct Options {
  Location at;
  std::string ca_file = {};         // of amqps; empty: the system's
  std::string client = "holdfast";  // as the management page shows the connection
  Duration heartbeat = std::chrono::seconds(10);
  Duration connect_timeout = std::chrono::seconds(5);
  // For how long messages are taken that the broker, in need of memory or disk, does not: then they
  // are unsent.
  Duration blocked_patience = std::chrono::seconds(30);
  // R8: how consumers connect, and connect again.
  int connect_attempts = 90;
  Duration connect_wait = std::chrono::seconds(10);
  // The last attempt to connect has failed: consumers get nothing any more. On the loop.
  std::function<void(const Error&)> on_gave_up = {};
};

// Connects when it is first asked for something. The loop and the log's sink must outlive it.
[[nodiscard]] std::unique_ptr<ports::Broker> open(ports::Loop& loop, Options options, Logger log);

}  // namespace holdfast::brokers::rabbitmq
