#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <holdfast/result.hpp>

#include "brokers/rabbitmq/queue_json.hpp"
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
// The same at each host of the broker, unless the options say where it is.
[[nodiscard]] std::vector<ManagementApi> management_apis(const Options& options);

// Asks the management API of a broker about queues. Threads: the loop's.
class Management {
 public:
  using Then = std::move_only_function<void(Result<ports::QueueFacts>)>;
  using ListThen = std::move_only_function<void(Result<std::vector<ports::QueueStatus>>)>;

  Management(ports::Loop& loop, const Options& options);
  ~Management();
  Management(const Management&) = delete;
  Management& operator=(const Management&) = delete;

  // `broker_version`: its first number; 0: not known.
  void queue(const std::string& name, int broker_version, Then then);
  // Page by page. A queue that is made or deleted meanwhile may be missing, but none is there
  // twice.
  void list(const std::string& pattern, ListThen then);

 private:
  struct Asking;
  struct Listing;
  using Answered = std::move_only_function<void(const io::HttpResult&)>;

  struct Get;
  [[nodiscard]] const ManagementApi& api() const { return apis_[at_]; }
  [[nodiscard]] std::string queues_path() const;
  // From the API that has answered last, and if there is no connection from each of the others.
  void get(std::string path, Duration timeout, Answered then);
  void attempt(std::shared_ptr<Get> get);
  [[nodiscard]] std::string refusal(const io::HttpResponse& answer) const;
  void ask(const std::shared_ptr<Asking>& asking);
  void answered(const std::shared_ptr<Asking>& asking, const io::HttpResult& result);
  void ask_page(std::shared_ptr<Listing> listing);
  void page_came(const std::shared_ptr<Listing>& listing, const io::HttpResult& result);

  ports::Loop& loop_;
  const Options& options_;
  const std::vector<ManagementApi> apis_;
  std::size_t at_ = 0;
  std::vector<std::unique_ptr<ports::Loop::Timer>> again_;  // a few for each queue
  const std::shared_ptr<int> life_ = std::make_shared<int>();
  Result<io::HttpClient> client_;
};

}  // namespace holdfast::brokers::rabbitmq
