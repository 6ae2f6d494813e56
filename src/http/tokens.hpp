#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.hpp"

namespace holdfast::http {

using Sha256 = std::array<std::uint8_t, 32>;

[[nodiscard]] Sha256 sha256(std::string_view text);

// Who may come in. Only hashes are kept, and a token is compared with all of them in the same time,
// whichever it is.
class Tokens {
 public:
  struct Entry {
    std::string name;
    Role role = Role::submit;
    Sha256 hash{};
  };

  Tokens() = default;
  explicit Tokens(std::vector<Entry> entries) : entries_(std::move(entries)) {}

  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  // Nothing: nobody has this token.
  [[nodiscard]] std::optional<Caller> caller_of(std::string_view token) const {
    return caller_of(sha256(token));
  }
  [[nodiscard]] std::optional<Caller> caller_of(const Sha256& hash) const;

 private:
  std::vector<Entry> entries_;
};

}  // namespace holdfast::http
