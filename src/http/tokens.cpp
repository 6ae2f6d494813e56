#include "http/tokens.hpp"

#include <openssl/crypto.h>
#include <openssl/sha.h>

namespace holdfast::http {

Sha256 sha256(std::string_view text) {
  Sha256 hash{};
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes are bytes.
  ::SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), hash.data());
  return hash;
}

std::optional<Caller> Tokens::caller_of(const Sha256& hash) const {
  const Entry* found = nullptr;
  for (const Entry& entry : entries_) {
    if (::CRYPTO_memcmp(entry.hash.data(), hash.data(), hash.size()) == 0) found = &entry;
  }
  if (!found) return std::nullopt;
  return Caller{.name = found->name, .role = found->role};
}

}  // namespace holdfast::http
