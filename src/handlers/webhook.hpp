#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <holdfast/clock.hpp>
#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

#include "handlers/webhook_signature.hpp"
#include "io/address_guard.hpp"
#include "io/http_client.hpp"
#include "ports/handler.hpp"

namespace holdfast::handlers {

struct WebhookOptions {
  std::string url = {};
  // To sign with. Several: a signature by each, so that receivers can go from one to the next.
  std::vector<std::string> secrets = {};
  std::vector<io::HttpHeader> headers = {};  // beside ours
  std::string content_type = {};  // empty: application/json or application/octet-stream, as it is
  std::shared_ptr<const io::AddressGuard> guard = {};  // none: public addresses only
  std::size_t most_result_bytes = std::size_t{1} << 20;
  std::size_t kept_error_bytes = 1000;  // of an answer that says no
  Duration timeout = {};                // zero: that of the task alone
  Duration connect_timeout = std::chrono::seconds(10);
};

// Posts the payload of each attempt to a URL.
//
// The request has the headers of standardwebhooks.com: webhook-id (the task's id, the same for
// every attempt), webhook-timestamp and, with a secret, webhook-signature; also Holdfast-Task-Type
// (bytes other than visible ASCII as %XX), Holdfast-Attempt and Holdfast-Token; and traceparent, if
// the task has a trace. A status of 2xx is
// success, and the body of the answer, as far as it fits, the result. Any other is a failure with
// this status, the beginning of the answer, and the wait of its Retry-After. Redirects are not
// followed. What else goes wrong is a failure in words that the presets of the classifier know;
// what failures of a webhook mean by themselves is said by webhook_rules.hpp.
//
// Nothing waits in the handler, so it likes no backlog: all that it is given is on its way.
//
// Threads: start() the loop's. The client must outlive the handler, and run on the same loop.
class Webhook final : public ports::Handler {
 public:
  // Fails with invalid_argument for a bad URL, secret or header; the message shows no secret.
  [[nodiscard]] static Result<Webhook> make(io::HttpClient& client, WebhookOptions options,
                                            const Clock& clock);

  void start(std::shared_ptr<ports::Run> run) noexcept override;

  // For the breaker: what all webhooks to the same server have in common.
  [[nodiscard]] const std::string& host() const noexcept { return host_; }

 private:
  class Running;

  Webhook(io::HttpClient& client, WebhookOptions options, std::string host,
          std::vector<WebhookSigner> signers, const Clock& clock);
  [[nodiscard]] io::HttpRequest request_for(const std::shared_ptr<ports::Run>& run) const;

  io::HttpClient* client_;
  WebhookOptions options_;
  std::string host_;
  std::vector<WebhookSigner> signers_;
  const Clock* clock_;
};

// What an answer, or the lack of one, means for the attempt.
[[nodiscard]] core::Outcome outcome_of(io::HttpResult result, WallTime now,
                                       std::size_t kept_error_bytes);

}  // namespace holdfast::handlers
