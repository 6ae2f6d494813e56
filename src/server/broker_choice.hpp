#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/log.hpp>
#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

#include "config/config.hpp"
#include "ports/broker.hpp"
#include "ports/broker_observer.hpp"
#include "ports/loop.hpp"

// The one place that knows which brokers there are: everybody else has a URL, and gets a Broker.
namespace holdfast::server {

// Where the URL of a broker leads. Fails with invalid_argument; the message does not repeat the
// URL, which may have a password in it.
struct BrokerPlace {
  enum class Kind : std::uint8_t { rabbitmq, sqs };
  Kind kind = Kind::rabbitmq;
  std::string queue = {};   // that it names; empty: none
  std::string user = {};    // that we are there
  bool names_user = false;  // else that is what goes without saying
  std::string text = {};    // for people: "amqp://user@host:5672/%2f/app.dlq"
  std::string broker = {};  // the same without user and queue: the broker alone, to be compared
  std::string key = {};     // the same with its queue: by this the journal knows it again
  std::string name = {};    // the broker for people: "RabbitMQ at host:5672"
  std::string vhost = {};   // RabbitMQ
  std::vector<std::string> hosts = {};  // RabbitMQ: "host:5672", each by one of its names
};
// Whether both are the same virtual host or region, as far as their URLs tell: one host in common
// is enough.
[[nodiscard]] bool is_same_broker(const BrokerPlace& one, const BrokerPlace& other);
// `names_queue`: its last part is a queue, and must be there.
[[nodiscard]] Result<BrokerPlace> broker_place(const std::string& url, bool names_queue);

// How a queue at that broker is called where its dead letters go, unless somebody says otherwise.
[[nodiscard]] std::string dead_letter_name(BrokerPlace::Kind kind, const std::string& queue);

struct BrokerSettings {
  std::string url = {};
  bool names_queue = false;  // it ends with one
  std::string client = "holdfast";
  // How consumers connect, and connect again; beyond that, `on_gave_up` is called, on the loop.
  int connect_attempts = 90;
  Duration connect_wait = std::chrono::seconds(10);
  std::function<void(const Error&)> on_gave_up = {};
  std::shared_ptr<ports::BrokerObserver> observer = {};  // may be none
  // RabbitMQ.
  std::string ca_file = {};
  std::string cert_file = {};  // by which the broker knows us, and its key
  std::string key_file = {};
  std::string management = {};          // URL of its API; empty: where it usually is
  std::string management_setting = {};  // for errors: what people set to say where it is
  bool asks_management = true;
  std::optional<Duration> blocked_patience = {};
  // SQS.
  std::string endpoint = {};  // empty: AWS_ENDPOINT_URL_SQS, AWS_ENDPOINT_URL, or AWS itself
  bool create = false;
  Duration visibility = std::chrono::seconds(30);
  int max_receives = 3;
  // One poll for messages. To end takes as long: what a poll that is cut had would be away for a
  // while.
  Duration poll_wait = std::chrono::seconds(20);
  config::Aws aws = {};
};

// On the loop, which must outlive it.
[[nodiscard]] Result<std::unique_ptr<ports::Broker>> open_broker(ports::Loop& loop,
                                                                 const BrokerSettings& settings,
                                                                 const Logger& log);

}  // namespace holdfast::server
