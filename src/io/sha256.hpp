#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace holdfast::io {

using Sha256Digest = std::array<std::uint8_t, 32>;

// The SHA-256 of what comes bit by bit. Throws std::bad_alloc if OpenSSL has no memory.
class Sha256 {
 public:
  Sha256();
  void update(std::string_view bytes) noexcept;
  // Of all so far; then it begins anew.
  [[nodiscard]] Sha256Digest take() noexcept;

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const noexcept;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

[[nodiscard]] Sha256Digest sha256(std::string_view bytes);
[[nodiscard]] Sha256Digest hmac_sha256(std::string_view key, std::string_view bytes);

[[nodiscard]] std::string to_hex(std::span<const std::uint8_t> bytes);  // in lower case

}  // namespace holdfast::io
