#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include <holdfast/clock.hpp>
#include <holdfast/log.hpp>
#include <holdfast/result.hpp>
#include <holdfast/retry.hpp>

#include "core/task.hpp"
#include "core/uuid.hpp"
#include "handlers/webhook_signature.hpp"
#include "io/address_guard.hpp"
#include "io/http_client.hpp"
#include "ports/loop.hpp"

namespace holdfast::server {

// Posts messages to one webhook: in their order, one at a time, signed as standardwebhooks.com has
// it, each again and again until it is taken or hope is lost. Nobody waits for it; what cannot be
// sent is logged, and when too much waits the oldest goes.
//
// Threads: the loop's. The client and the loop must outlive it.
class AlertSender {
 public:
  static constexpr std::size_t kMostWaiting = 100;

  struct Options {
    std::string url = {};
    std::string secret = {};  // empty: not signed
    std::shared_ptr<const io::AddressGuard> guard = {};
    retry::Wait wait =
        retry::exponential({.first = std::chrono::seconds(1), .cap = std::chrono::minutes(1)});
    int attempts = 10;
  };
  // Fails with invalid_argument for a bad secret; the message does not show it.
  [[nodiscard]] static Result<std::unique_ptr<AlertSender>> make(io::HttpClient& client,
                                                                 ports::Loop& loop, Options options,
                                                                 Logger log);

  void send(std::string json);

  struct Parts;
  explicit AlertSender(std::shared_ptr<Parts> parts);  // see make()
  ~AlertSender();
  AlertSender(const AlertSender&) = delete;
  AlertSender& operator=(const AlertSender&) = delete;

 private:
  const std::shared_ptr<Parts> parts_;
};

}  // namespace holdfast::server
