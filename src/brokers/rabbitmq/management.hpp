#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/result.hpp>

#include "brokers/rabbitmq/rabbitmq.hpp"
#include "io/http_client.hpp"
#include "ports/broker.hpp"
#include "ports/loop.hpp"

namespace holdfast::brokers::rabbitmq {

// Where the management API of that broker usually is: the same host, port 15672, or 15671 with TLS.
[[nodiscard]] std::string usual_management_url(const Location& at);

// Where the API is, and who asks: the user of its URL, or else that of the broker.
struct ManagementApi {
  std::string url = {};  // without user and password
  std::string user = {};
  std::string password = {};
};
[[nodiscard]] ManagementApi management_api(const Options& options);

// What the API says of a queue, read from its answer. Nothing: it does not know its policies yet,
// which takes it some seconds after a queue was declared.
[[nodiscard]] Result<std::optional<ports::QueueFacts>> read_queue(std::string_view json,
                                                                  int broker_version);

// Asks the management API of a broker about queues. Threads: the loop's.
class Management {
 public:
  using Then = std::move_only_function<void(Result<ports::QueueFacts>)>;

  Management(ports::Loop& loop, const Options& options);
  ~Management();
  Management(const Management&) = delete;
  Management& operator=(const Management&) = delete;

  // `broker_version`: its first number; 0: not known.
  void queue(const std::string& name, int broker_version, Then then);

 private:
  struct Asking;
  void ask(std::shared_ptr<Asking> asking);
  void answered(const std::shared_ptr<Asking>& asking, const io::HttpResult& result);

  ports::Loop& loop_;
  const Options& options_;
  const ManagementApi api_;
  std::vector<std::unique_ptr<ports::Loop::Timer>> again_;  // a few for each queue
  Result<io::HttpClient> client_;
};

}  // namespace holdfast::brokers::rabbitmq
