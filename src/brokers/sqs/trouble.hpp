#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/clock.hpp>
#include <holdfast/failure.hpp>
#include <holdfast/log.hpp>
#include <holdfast/result.hpp>
#include <holdfast/retry.hpp>
#include <holdfast/time.hpp>

#include "io/http_client.hpp"
#include "ports/broker.hpp"

namespace holdfast::brokers::sqs {

struct Options;

// How something ended that was asked of SQS, and did not succeed.
struct Trouble {
  enum class Kind : std::uint8_t {
    unsent,     // nobody was reached
    unknown,    // it was sent, and no answer came
    refused,    // no: what was asked is wrong, or not allowed
    no_queue,   // no: there is no such queue
    throttled,  // not now
    server,     // an error of the server's own: it may be done, or not
  };
  Kind kind = Kind::unknown;
  std::string code = {};  // SQS's own word for it: "QueueDoesNotExist"
  std::string message = {};
  std::optional<int> http_status = {};
  std::optional<Duration> retry_after = {};

  [[nodiscard]] bool may_be_done() const noexcept {
    return kind == Kind::unknown || kind == Kind::server;
  }
  // SQS cannot be used, whatever it is asked: it cannot be reached, or does not know us.
  [[nodiscard]] bool is_of_broker() const noexcept;
  // Whoever we are is not, or no longer, known there.
  [[nodiscard]] bool is_of_credentials() const noexcept;
  [[nodiscard]] std::string text() const;  // "QueueDoesNotExist: The specified queue …"
  [[nodiscard]] Error error(std::string operation) const;
};
[[nodiscard]] Failure to_failure(const Trouble& trouble);

// What an answer says that is not HTTP 200, or why there is none.
[[nodiscard]] Trouble trouble_of(const io::HttpResponse& answer, WallTime now);
[[nodiscard]] Trouble trouble_of(const io::HttpError& error);

// One entry of a batch; without trouble it is done.
struct EntryResult {
  std::optional<Trouble> trouble = {};
  std::string body_md5 = {};
};
// The results of entries whose ids are "0" to "count - 1". One that the answer does not tell of is
// unknown.
[[nodiscard]] std::vector<EntryResult> entry_results(std::string_view answer, std::size_t count);

// `earlier`: an attempt before may have been carried out.
[[nodiscard]] ports::Sent sent_of(const Trouble& trouble, bool earlier);

// What is throttled, or fails for reasons of the server's own: for some seconds, with jitter, and
// after no less than it asks for.
[[nodiscard]] retry::Policy request_policy(const Options& options, Clock& clock);
// What must get there: also when nobody can be reached.
[[nodiscard]] retry::Policy order_policy(const Options& options, Clock& clock);
// With a record for each retry, and for success after some.
[[nodiscard]] retry::Policy logged(const retry::Policy& policy, const Options& options,
                                   const Logger& log);
// One record for all that is tried again together.
void log_again(const Options& options, const Clock& clock, const Logger& log,
               std::string_view operation, const Trouble& trouble, SteadyTime when);
// R8: how a consumer goes on. Each attempt that failed is one record; so is success after them,
// and giving up.
[[nodiscard]] retry::Policy receive_policy(const Options& options, const std::string& queue,
                                           Clock& clock, const Logger& log);

// Attempts at one thing under a policy, which must outlive it.
class Tries {
 public:
  explicit Tries(const retry::Policy& policy) : policy_(&policy) {}

  // When to try again; nothing: it gave up.
  [[nodiscard]] std::optional<SteadyTime> failed(const Trouble& trouble);
  void succeeded();

 private:
  const retry::Policy* policy_;
  std::optional<retry::Run> run_;
};

}  // namespace holdfast::brokers::sqs
