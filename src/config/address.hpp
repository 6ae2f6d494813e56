#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

// Addresses as configuration names them. Where something is wrong, the error says what and how to
// write it.
namespace holdfast::config {

// Where a server listens.
struct Listen {
  std::string address = "127.0.0.1";  // IPv4 or IPv6, as inet_pton reads it
  std::uint16_t port = 8080;          // 0: any that is free

  [[nodiscard]] bool is_loopback() const;  // only this machine can reach it
  [[nodiscard]] std::string text() const;  // "127.0.0.1:8080", "[::1]:8080"

  bool operator==(const Listen&) const = default;
};

// "127.0.0.1:8080", "[::1]:8080", "localhost:8080" (which is 127.0.0.1).
[[nodiscard]] std::expected<Listen, std::string> parse_listen(std::string_view text);

// Addresses that begin with the same bits.
struct Network {
  std::string address = {};  // the first of them, as inet_ntop writes it
  int prefix = 0;            // how many bits

  [[nodiscard]] std::string text() const;  // "10.0.0.0/8"

  bool operator==(const Network&) const = default;
};

// "10.0.0.0/8", "fd00::/8", "10.1.2.3" (only that one), or "loopback": 127.0.0.0/8 and ::1.
[[nodiscard]] std::expected<std::vector<Network>, std::string> parse_network(std::string_view text);

}  // namespace holdfast::config
