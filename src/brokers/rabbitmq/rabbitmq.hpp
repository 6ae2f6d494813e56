#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/clock.hpp>
#include <holdfast/log.hpp>
#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

#include "ports/broker.hpp"
#include "ports/broker_observer.hpp"
#include "ports/loop.hpp"

namespace holdfast::brokers::rabbitmq {

struct Host {
  std::string name;
  std::uint16_t port = 5672;

  [[nodiscard]] std::string text() const;  // "mq:5672", "[::1]:5672"
  bool operator==(const Host&) const = default;
};

// Where a broker is, and who we are there.
struct Location {
  bool tls = false;
  std::string host;
  std::uint16_t port = 5672;
  std::string user = "guest";
  std::string password = "guest";
  bool names_user = false;  // else these two are what goes without saying
  std::string vhost = "/";
  std::string queue = {};  // of a URL that names one
  // Of the same broker: where to go on when the first cannot be connected to, or is lost.
  std::vector<Host> others = {};

  [[nodiscard]] std::vector<Host> hosts() const;  // all of them, the first one first
  // For people: without the password.
  [[nodiscard]] std::string text() const;
};

// amqp[s]://user:password@host:port,host:port/vhost, the vhost percent-encoded ("%2f" or nothing:
// "/"). With `names_queue` the last part is the queue: amqp://host/vhost/queue. Errors never repeat
// the URL, which has a password in it.
[[nodiscard]] Result<Location> parse_location(std::string_view url, bool names_queue = false);

struct Options {
  Location at;
  std::string ca_file = {};  // of amqps; empty: the system's
  // Of amqps: by which the broker knows us, and its key. Without a user in the URL it also says who
  // we are (EXTERNAL).
  std::string cert_file = {};
  std::string key_file = {};
  std::string client = "holdfast";  // as the management page shows the connection
  // Where the management API is, to be asked about policies with the same user; empty: where it
  // usually is (management.hpp).
  std::string management = {};
  // What people set to say where it is: "the option --management". For errors; may be empty.
  std::string management_setting = {};
  bool asks_management = true;
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
  std::shared_ptr<ports::BrokerObserver> observer = {};  // may be none
};

// Whether it is the certificate that says who we are.
[[nodiscard]] bool is_external(const Options& options) noexcept;
// Whether the files can be used. Fails with invalid_argument, and names the file.
[[nodiscard]] Result<void> check_files(const Options& options);

// What the port leaves open, and this broker does:
// - A message carries the header x-holdfast-seq, by which it is recognized if it is returned, until
//   its exchange and routing key have taken one. It is taken off what is received; other clients
//   see it.
// - Delays go through queues named `<queue>.retry.<ms>` (delay_queues.hpp). What is published with
// a
//   delay loses x-death and its companions, and none are added: who counts deaths does so before.
// - A broker that closes the channel does not say for which message. What may be refused so is sent
//   alone, and is `refused`; where several were under way, each is `unknown` (publish_line.hpp).
// - A message that the broker does not answer for a minute, or an order for half of one (12 and 6
//   times connect_timeout), ends the connection.
// - What was under way to a consumer when it was paused is handed back.
// - A consumer whose queue is missing, or that the broker ends, tries again by the same policy as
//   connecting; topologies are made sure of before.
//
// Connects when it is first asked for something. The loop and the log's sink must outlive it.
[[nodiscard]] std::unique_ptr<ports::Broker> open(ports::Loop& loop, Options options, Logger log);

}  // namespace holdfast::brokers::rabbitmq
