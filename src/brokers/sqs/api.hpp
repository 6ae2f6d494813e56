#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/clock.hpp>
#include <holdfast/log.hpp>
#include <holdfast/result.hpp>
#include <holdfast/retry.hpp>

#include "brokers/sqs/sqs.hpp"
#include "brokers/sqs/trouble.hpp"
#include "io/aws_credentials.hpp"
#include "io/http_client.hpp"
#include "ports/loop.hpp"

namespace holdfast::brokers::sqs {

// In one request of a kind that has several, such as SendMessageBatch.
inline constexpr std::size_t kMostBatchEntries = 10;

// The JSON object that was answered.
using Answer = std::expected<std::string, Trouble>;

struct Request {
  std::string operation;  // "ReceiveMessage"
  std::string body;       // a JSON object
  Duration timeout;
  bool is_tried_again = true;  // by request_policy; else its trouble is told at once
};

// The request as it is sent to `endpoint`. Pure.
[[nodiscard]] io::HttpRequest signed_request(std::string_view endpoint, std::string_view region,
                                             const Request& request,
                                             const io::AwsCredentials& credentials, WallTime now);

// Asks SQS, as who we are. Credentials that are called expired are fetched anew, once for each
// request.
//
// Threads: the loop's. Callbacks come on it, never from within the call; it must be over, or never
// run again, when this is destroyed.
class Api {
 public:
  using Then = std::move_only_function<void(Answer)>;

  // All must outlive it.
  Api(ports::Loop& loop, const Options& options, Clock& clock, const Logger& log);

  void call(Request request, Then then);
  // Called when SQS can be used for the first time or again (no trouble), and when it cannot any
  // more; not while that stays as it is.
  void on_change(std::function<void(const std::optional<Trouble>&)> told) {
    on_change_ = std::move(told);
  }

  // Runs `work` at that time.
  void at(SteadyTime when, ports::Loop::Work work);

  [[nodiscard]] Clock& clock() const noexcept { return clock_; }
  [[nodiscard]] const Options& options() const noexcept { return options_; }
  [[nodiscard]] const Logger& log() const noexcept { return log_; }
  [[nodiscard]] ports::Loop& loop() const noexcept { return loop_; }

 private:
  struct Call;

  void attempt(std::shared_ptr<Call> call);
  void send(std::shared_ptr<Call> call, const io::AwsCredentials& credentials);
  void failed(std::shared_ptr<Call> call, Trouble trouble);
  void note(const std::optional<Trouble>& trouble);

  ports::Loop& loop_;
  const Options& options_;
  Clock& clock_;
  const Logger log_;
  const std::string endpoint_;
  const retry::Policy policy_;
  std::shared_ptr<const io::AddressGuard> guard_;
  std::uint64_t last_timer_ = 0;
  std::map<std::uint64_t, std::unique_ptr<ports::Loop::Timer>> timers_;
  Result<io::HttpClient> client_;
  std::optional<io::AwsCredentialsProvider> credentials_;
  std::function<void(const std::optional<Trouble>&)> on_change_;
  std::optional<bool> usable_;  // nothing: nobody knows yet
};

}  // namespace holdfast::brokers::sqs
