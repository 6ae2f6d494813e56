#include "config/address.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>

#include <arpa/inet.h>
#include <fmt/format.h>

#include "core/json_text.hpp"

namespace holdfast::config {
namespace {

// An address as its bytes: 4 of them, or 16.
struct Bytes {
  std::array<std::uint8_t, 16> all{};
  std::size_t count = 0;

  [[nodiscard]] int family() const { return count == 4 ? AF_INET : AF_INET6; }
  [[nodiscard]] std::string text() const {
    std::array<char, INET6_ADDRSTRLEN> buffer{};
    return ::inet_ntop(family(), all.data(), buffer.data(), buffer.size());
  }
};

std::optional<Bytes> parse_bytes(std::string_view text) {
  const std::string whole(text);
  if (whole.find('\0') != std::string::npos) return std::nullopt;  // inet_pton would stop there
  Bytes bytes;
  if (::inet_pton(AF_INET, whole.c_str(), bytes.all.data()) == 1) {
    bytes.count = 4;
  } else if (::inet_pton(AF_INET6, whole.c_str(), bytes.all.data()) == 1) {
    bytes.count = 16;
  }
  return bytes.count != 0 ? std::optional(bytes) : std::nullopt;
}

template <class Number>
std::optional<Number> parse_number(std::string_view text, Number most) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number > most) return {};
  return text.front() == '-' ? std::nullopt : std::optional(number);
}

// Clears what comes after the first `prefix` bits.
Bytes first_of(Bytes bytes, int prefix) {
  for (std::size_t i = 0; i < bytes.count; ++i) {
    const int kept = std::clamp(prefix - static_cast<int>(i) * 8, 0, 8);
    bytes.all[i] &= static_cast<std::uint8_t>(0xff << (8 - kept));
  }
  return bytes;
}

}  // namespace

bool Listen::is_loopback() const {
  const auto bytes = parse_bytes(address);
  if (!bytes) return false;
  if (bytes->count == 4) return bytes->all[0] == 127;
  const std::span<const std::uint8_t, 16> all(bytes->all);
  static constexpr std::array<std::uint8_t, 13> kMapped = {0, 0, 0, 0,    0,    0,  0,
                                                           0, 0, 0, 0xff, 0xff, 127};
  const auto is_zero = [](std::uint8_t byte) { return byte == 0; };
  return std::ranges::equal(all.first<13>(), kMapped) ||
         (std::ranges::all_of(all.first<15>(), is_zero) && all[15] == 1);
}

std::string Listen::text() const {
  const bool brackets = address.find(':') != std::string::npos;
  return brackets ? fmt::format("[{}]:{}", address, port) : fmt::format("{}:{}", address, port);
}

std::expected<Listen, std::string> parse_listen(std::string_view text) {
  const auto refuse = [&](std::string_view what) {
    return std::unexpected(fmt::format("{}: {}", quoted(text), what));
  };
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos || text.ends_with(']')) {
    return refuse("a port is missing: write 127.0.0.1:8080");
  }
  std::string_view host = text.substr(0, colon);
  const std::string_view port_text = text.substr(colon + 1);
  const auto port =
      port_text.empty() ? std::nullopt : parse_number<std::uint32_t>(port_text, 65535);
  if (!port) return refuse("the port is a number from 0 to 65535");
  if (host.empty() || host == "*") {
    return refuse(fmt::format("for all addresses, write 0.0.0.0:{} or [::]:{}", *port, *port));
  }
  if (host == "localhost") host = "127.0.0.1";
  const bool brackets = host.starts_with('[') && host.ends_with(']');
  if (brackets) host = host.substr(1, host.size() - 2);
  const auto bytes = parse_bytes(host);
  if (bytes && bytes->count == 16 && !brackets) {
    return refuse(fmt::format("an IPv6 address stands in brackets: [{}]:{}", host, *port));
  }
  if (!bytes && !brackets && parse_bytes(text)) {
    return refuse(
        fmt::format("an IPv6 address stands in brackets, and a port is missing: [{}]:8080", text));
  }
  if (!bytes || (brackets && bytes->count == 4)) {
    return refuse("this must be an address of this machine and a port: 127.0.0.1:8080, [::1]:8080");
  }
  return Listen{.address = bytes->text(), .port = static_cast<std::uint16_t>(*port)};
}

std::string Network::text() const {
  return fmt::format("{}/{}", address, prefix);
}

std::expected<std::vector<Network>, std::string> parse_network(std::string_view text) {
  if (text == "loopback") return std::vector<Network>{{"127.0.0.0", 8}, {"::1", 128}};
  const std::size_t slash = text.find('/');
  const auto bytes = parse_bytes(text.substr(0, slash));
  if (!bytes) {
    return std::unexpected(fmt::format(
        "{} is no network: write 10.0.0.0/8, fd00::/8, 10.1.2.3 or loopback", quoted(text)));
  }
  const int most = static_cast<int>(bytes->count) * 8;
  int prefix = most;
  if (slash != text.npos) {
    const std::string_view digits = text.substr(slash + 1);
    const auto given = digits.empty() ? std::nullopt : parse_number<int>(digits, most);
    if (!given) {
      return std::unexpected(
          fmt::format("{}: after the slash stands a number from 0 to {}", quoted(text), most));
    }
    prefix = *given;
  }
  const Network network{first_of(*bytes, prefix).text(), prefix};
  if (network.address != bytes->text()) {
    return std::unexpected(
        fmt::format("{}: bits are set beyond the first {}: write {} for the network, or {} for the "
                    "one address",
                    quoted(text), prefix, network.text(), bytes->text()));
  }
  return std::vector<Network>{network};
}

}  // namespace holdfast::config
