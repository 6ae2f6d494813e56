#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ports/broker.hpp"

namespace holdfast::recovery {

// One message on its way to one target: the start of a SHA-256 of all that it is: body, properties,
// every header with its deaths, and where it goes. Two messages that agree in all of that, the
// message id among it, are one message sent twice.
struct Identity {
  std::array<std::uint8_t, 16> bytes{};

  auto operator<=>(const Identity&) const = default;
};

struct IdentityHash {
  [[nodiscard]] std::size_t operator()(const Identity& identity) const noexcept;
};

// What the broker counts by itself between two deliveries is left out.
[[nodiscard]] Identity identity_of(const ports::Message& message, const ports::Address& to);

[[nodiscard]] std::string to_text(const Identity& identity);  // 32 hexadecimal digits
[[nodiscard]] std::optional<Identity> parse_identity(std::string_view text);

// The last copies that were made, so that a message is known again whose acknowledgement was lost.
// No more of those can be lost than the broker hands out ahead: the window; what is older is
// forgotten, at the price of a second copy.
class Memory {
 public:
  enum class Copy : std::uint8_t {
    confirmed,  // it is there
    unknown,    // it may be there
    none,       // it was delivered, and nothing was sent
  };

  struct Known {
    Copy copy = Copy::unknown;
    std::uint64_t life = 0;  // of the connection that the original came by
    bool ambiguous = false;  // two of them came by one connection: what is said of one is not
                             // said of the other
  };

  explicit Memory(std::size_t most) : most_(most) {}

  void note(const Identity& identity, Known known);
  // It was delivered, for the first time that we know of or once more.
  void seen(const Identity& identity, std::uint64_t life);
  void forget(const Identity& identity);
  [[nodiscard]] std::optional<Known> find(const Identity& identity) const;
  [[nodiscard]] std::size_t size() const noexcept { return known_.size(); }

 private:
  const std::size_t most_;
  std::unordered_map<Identity, Known, IdentityHash> known_;
  std::deque<Identity> order_;
};

}  // namespace holdfast::recovery
