#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <holdfast/result.hpp>

struct evp_mac_ctx_st;

namespace holdfast::handlers {

// Signs webhooks as standardwebhooks.com has it, so that the receiver can tell that we sent it, and
// when. Threads: any.
class WebhookSigner {
 public:
  // `secret`: "whsec_" and base64, or the bytes of the key themselves. Fails with invalid_argument
  // for a secret that is empty or whose base64 is none; the message does not show it.
  [[nodiscard]] static Result<WebhookSigner> make(std::string_view secret);

  // "v1," and the signature of id, time (seconds since 1970) and body.
  [[nodiscard]] std::string sign(std::string_view id, std::string_view timestamp,
                                 std::string_view body) const;

 private:
  struct Free {
    void operator()(evp_mac_ctx_st* context) const noexcept;
  };
  using Context = std::unique_ptr<evp_mac_ctx_st, Free>;

  explicit WebhookSigner(Context keyed) : keyed_(std::move(keyed)) {}

  Context keyed_;  // copied for each signature
};

}  // namespace holdfast::handlers
