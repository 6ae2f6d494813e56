#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/result.hpp>

struct sockaddr;

namespace holdfast::io {

// An address of IPv4 or IPv6. One of IPv4 that is written as IPv6 (::ffff:10.0.0.1) is the IPv4
// address: that is where the system connects to.
class IpAddress {
 public:
  // As inet_pton(3) reads it; a name or a short form ("127.1") is none.
  [[nodiscard]] static std::optional<IpAddress> parse(std::string_view text) noexcept;
  // None for other families. `address` must be as long as its family says.
  [[nodiscard]] static std::optional<IpAddress> of(const sockaddr& address) noexcept;

  [[nodiscard]] bool is_v4() const noexcept { return is_v4_; }
  [[nodiscard]] std::span<const std::uint8_t> bytes() const noexcept {
    return {bytes_.data(), is_v4_ ? std::size_t{4} : bytes_.size()};
  }
  [[nodiscard]] std::string text() const;

  bool operator==(const IpAddress&) const = default;

 private:
  friend class AddressRange;
  static IpAddress v4(std::span<const std::uint8_t, 4> bytes) noexcept;
  static IpAddress v6(std::span<const std::uint8_t, 16> bytes) noexcept;
  friend std::optional<IpAddress> embedded_v4(const IpAddress& address) noexcept;

  std::array<std::uint8_t, 16> bytes_{};
  bool is_v4_ = false;
};

// Addresses whose first bits are the same: "10.0.0.0/8".
class AddressRange {
 public:
  // A range, or one address. Nothing if it is neither, or if bits are set past the prefix.
  [[nodiscard]] static std::optional<AddressRange> parse(std::string_view text) noexcept;
  [[nodiscard]] bool contains(const IpAddress& address) const noexcept;

 private:
  IpAddress first_;
  int prefix_bits_ = 0;
};

// Why an address is not one of the public internet.
enum class AddressKind : std::uint8_t {
  loopback,
  private_network,  // RFC 1918, unique local
  link_local,       // where clouds keep the credentials of a machine: 169.254.169.254
  shared,           // of a carrier's translation: 100.64.0.0/10
  multicast,
  unspecified,  // connects to this machine
  translated,   // an IPv6 form that leads to an IPv4 address which is not public
  reserved,     // documentation, benchmarks, tunnels, not assigned
};

[[nodiscard]] std::string_view to_string(AddressKind kind) noexcept;

// Nothing: it is public.
[[nodiscard]] std::optional<AddressKind> kind_of(const IpAddress& address) noexcept;

// Which addresses we connect to on behalf of users. A URL that a user may choose must not reach
// what only this machine can: so an address that is not public is refused, unless it is allowed.
// Ask about the address that is connected to, not about the host of a URL: a name may lead to
// another address each time it is looked up.
class AddressGuard {
 public:
  AddressGuard() = default;  // allows what is public

  // Also what `allowed` lists: ranges ("10.1.0.0/16"), addresses, and the words "loopback" and
  // "private". Fails with invalid_argument for anything else, which it names.
  [[nodiscard]] static Result<AddressGuard> make(std::span<const std::string> allowed);

  // Why not. Nothing: it is allowed.
  [[nodiscard]] std::optional<AddressKind> refuses(const IpAddress& address) const noexcept;

 private:
  std::vector<AddressRange> ranges_;
  bool allows_loopback_ = false;
  bool allows_private_ = false;
};

}  // namespace holdfast::io
