#include "io/address_guard.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "core/json_text.hpp"

namespace holdfast::io {
namespace {

constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr std::array<std::uint8_t, 12> kNat64{0, 0x64, 0xff, 0x9b};

struct SpecialRange {
  std::string_view range;
  AddressKind kind;
};

// What the registries of IANA set apart from the addresses that anybody may be reached at.
constexpr SpecialRange kSpecial[] = {
    {"0.0.0.0/8", AddressKind::unspecified},
    {"10.0.0.0/8", AddressKind::private_network},
    {"100.64.0.0/10", AddressKind::shared},
    {"127.0.0.0/8", AddressKind::loopback},
    {"169.254.0.0/16", AddressKind::link_local},
    {"172.16.0.0/12", AddressKind::private_network},
    {"192.0.0.0/24", AddressKind::reserved},
    {"192.0.2.0/24", AddressKind::reserved},
    {"192.88.99.0/24", AddressKind::reserved},
    {"192.168.0.0/16", AddressKind::private_network},
    {"198.18.0.0/15", AddressKind::reserved},
    {"198.51.100.0/24", AddressKind::reserved},
    {"203.0.113.0/24", AddressKind::reserved},
    {"224.0.0.0/4", AddressKind::multicast},
    {"240.0.0.0/4", AddressKind::reserved},
    {"::/128", AddressKind::unspecified},
    {"::1/128", AddressKind::loopback},
    {"fc00::/7", AddressKind::private_network},
    {"fec0::/10", AddressKind::private_network},
    {"fe80::/10", AddressKind::link_local},
    {"ff00::/8", AddressKind::multicast},
    {"2001::/23", AddressKind::reserved},  // Teredo among them, which hides any IPv4 address
    {"2001:db8::/32", AddressKind::reserved},
    {"3fff::/20", AddressKind::reserved},
};

struct ParsedSpecial {
  AddressRange range;
  AddressKind kind;
};

const std::vector<ParsedSpecial>& special_ranges() {
  static const std::vector<ParsedSpecial> parsed = [] {
    std::vector<ParsedSpecial> all;
    for (const SpecialRange& special : kSpecial)
      all.push_back({AddressRange::parse(special.range).value(), special.kind});
    return all;
  }();
  return parsed;
}

bool begins_with(std::span<const std::uint8_t> bytes,
                 std::span<const std::uint8_t> prefix) noexcept {
  return std::ranges::equal(bytes.first(prefix.size()), prefix);
}

}  // namespace

IpAddress IpAddress::v4(std::span<const std::uint8_t, 4> bytes) noexcept {
  IpAddress address;
  address.is_v4_ = true;
  std::ranges::copy(bytes, address.bytes_.begin());
  return address;
}

IpAddress IpAddress::v6(std::span<const std::uint8_t, 16> bytes) noexcept {
  if (begins_with(bytes, kMapped)) return v4(bytes.last<4>());
  IpAddress address;
  std::ranges::copy(bytes, address.bytes_.begin());
  return address;
}

std::optional<IpAddress> IpAddress::parse(std::string_view text) noexcept {
  std::array<char, INET6_ADDRSTRLEN> terminated{};
  if (text.size() >= terminated.size() || text.contains('\0')) return std::nullopt;
  text.copy(terminated.data(), text.size());
  std::array<std::uint8_t, 16> bytes{};
  if (::inet_pton(AF_INET6, terminated.data(), bytes.data()) == 1) return v6(bytes);
  if (::inet_pton(AF_INET, terminated.data(), bytes.data()) != 1) return std::nullopt;
  return v4(std::span<const std::uint8_t, 16>(bytes).first<4>());
}

std::optional<IpAddress> IpAddress::of(const sockaddr& address) noexcept {
  std::array<std::uint8_t, 16> bytes{};
  if (address.sa_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &address, sizeof in);
    std::memcpy(bytes.data(), &in.sin_addr, 4);
    return v4(std::span<const std::uint8_t, 16>(bytes).first<4>());
  }
  if (address.sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 in{};
  std::memcpy(&in, &address, sizeof in);
  std::memcpy(bytes.data(), &in.sin6_addr, bytes.size());
  return v6(bytes);
}

std::string IpAddress::text() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(is_v4_ ? AF_INET : AF_INET6, bytes_.data(), text.data(), text.size());
  return text.data();
}

std::optional<AddressRange> AddressRange::parse(std::string_view text) noexcept {
  const auto slash = text.find('/');
  const auto first = IpAddress::parse(text.substr(0, slash));
  if (!first) return std::nullopt;
  const int most = first->is_v4() ? 32 : 128;
  AddressRange range;
  range.first_ = *first;
  range.prefix_bits_ = most;
  if (slash == text.npos) return range;
  const std::string_view bits = text.substr(slash + 1);
  const auto read = std::from_chars(bits.data(), bits.data() + bits.size(), range.prefix_bits_);
  if (read.ec != std::errc{} || read.ptr != bits.data() + bits.size()) return std::nullopt;
  if (range.prefix_bits_ < 0 || range.prefix_bits_ > most) return std::nullopt;
  for (int bit = range.prefix_bits_; bit < most; ++bit) {
    if (range.first_.bytes_[static_cast<std::size_t>(bit / 8)] & (0x80 >> bit % 8))
      return std::nullopt;
  }
  return range;
}

bool AddressRange::contains(const IpAddress& address) const noexcept {
  if (address.is_v4() != first_.is_v4()) return false;
  const auto whole = static_cast<std::size_t>(prefix_bits_ / 8);
  const std::span<const std::uint8_t> first(first_.bytes_);
  if (!begins_with(address.bytes(), first.first(whole))) return false;
  const int rest = prefix_bits_ % 8;
  return rest == 0 || ((address.bytes()[whole] ^ first[whole]) >> (8 - rest)) == 0;
}

// The IPv4 address that a gateway or a tunnel would make of it.
std::optional<IpAddress> embedded_v4(const IpAddress& address) noexcept {
  if (address.is_v4()) return std::nullopt;
  const std::span<const std::uint8_t, 16> bytes(address.bytes_);
  if (begins_with(bytes, kNat64)) return IpAddress::v4(bytes.last<4>());
  if (bytes[0] == 0x20 && bytes[1] == 0x02) return IpAddress::v4(bytes.subspan<2, 4>());  // 6to4
  const bool is_isatap =
      (bytes[8] & ~0x02) == 0 && bytes[9] == 0 && bytes[10] == 0x5e && bytes[11] == 0xfe;
  if (is_isatap) return IpAddress::v4(bytes.last<4>());
  return std::nullopt;
}

std::string_view to_string(AddressKind kind) noexcept {
  switch (kind) {
    case AddressKind::loopback: return "loopback";
    case AddressKind::private_network: return "private";
    case AddressKind::link_local: return "link-local";
    case AddressKind::shared: return "shared";
    case AddressKind::multicast: return "multicast";
    case AddressKind::unspecified: return "unspecified";
    case AddressKind::translated: return "translated to one that is not public";
    case AddressKind::reserved: return "reserved";
  }
  return "unknown";
}

std::optional<AddressKind> kind_of(const IpAddress& address) noexcept {
  for (const ParsedSpecial& special : special_ranges()) {
    if (special.range.contains(address)) return special.kind;
  }
  if (address.is_v4()) return std::nullopt;
  const auto inner = embedded_v4(address);
  if (inner && kind_of(*inner)) return AddressKind::translated;
  if (inner && begins_with(address.bytes(), kNat64)) return std::nullopt;
  // Of IPv6, only 2000::/3 is given out.
  if ((address.bytes()[0] & 0xe0) != 0x20) return AddressKind::reserved;
  return std::nullopt;
}

Result<AddressGuard> AddressGuard::make(std::span<const std::string> allowed) {
  AddressGuard guard;
  for (const std::string& entry : allowed) {
    if (entry == "loopback") {
      guard.allows_loopback_ = true;
    } else if (entry == "private") {
      guard.allows_private_ = true;
    } else if (const auto range = AddressRange::parse(entry)) {
      guard.ranges_.push_back(*range);
    } else {
      return fail(
          ErrorCode::invalid_argument, "allow addresses",
          quoted(entry) +
              " is neither an address nor a range such as 10.1.0.0/16 (no bits set past the "
              "prefix), nor \"loopback\" or \"private\"");
    }
  }
  return guard;
}

std::optional<AddressKind> AddressGuard::refuses(const IpAddress& address) const noexcept {
  const auto kind = kind_of(address);
  if (!kind) return std::nullopt;
  if (*kind == AddressKind::loopback && allows_loopback_) return std::nullopt;
  if (*kind == AddressKind::private_network && allows_private_) return std::nullopt;
  const auto has_it = [&](const AddressRange& range) { return range.contains(address); };
  return std::ranges::any_of(ranges_, has_it) ? std::nullopt : kind;
}

}  // namespace holdfast::io
