#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "config/secret.hpp"

namespace holdfast::config {

// An address on the web. Its query, and all after the host if it came from env: or file:, may be a
// secret (many services have webhooks that are known to their owner only), so the whole is one.
struct Url {
  Secret text = {};        // the URL to call; its source is empty if it stood in the file
  std::string host = {};   // in lower case, without the brackets of IPv6
  std::string shown = {};  // for people and logs: what may be a secret is ***

  [[nodiscard]] bool is_set() const noexcept { return text.is_set(); }

  bool operator==(const Url&) const = default;
};

// One that nothing is secret of, and that is no address on the web: sqlite:holdfast.db.
[[nodiscard]] Url plain_url(const std::string& text);

// redis://, rediss://, redis+sentinel:// or rediss+sentinel://, with a user and a password if need
// be, which nobody is shown. The error quotes nothing of it. What is behind the path is for the
// store to look at.
[[nodiscard]] bool is_redis_url(std::string_view text);
[[nodiscard]] std::expected<Url, std::string> parse_redis_url(std::string_view text,
                                                              std::string source);

// What the URL of a broker ends with.
enum class BrokerPart : std::uint8_t { host, queue };

// amqp://… or amqps://… or sqs://region/queue, the first two with a user and a password if need be,
// which nobody is shown. The error quotes nothing of it.
[[nodiscard]] std::expected<Url, std::string> parse_broker_url(std::string_view text,
                                                               std::string source, BrokerPart part);

// http://… or https://… with a host; without a user, a password or a fragment. `source` is "" for a
// URL from the file itself. The error says what is wrong, and quotes nothing of a secret URL.
[[nodiscard]] std::expected<Url, std::string> parse_url(std::string_view text, std::string source);

}  // namespace holdfast::config
