#include "io/sha256.hpp"

#include <new>

#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace holdfast::io {

void Sha256::Free::operator()(evp_md_ctx_st* context) const noexcept {
  EVP_MD_CTX_free(context);
}

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  if (!context_ || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1)
    throw std::bad_alloc();
}

void Sha256::update(std::string_view bytes) noexcept {
  EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size());
}

Sha256Digest Sha256::take() noexcept {
  Sha256Digest digest{};
  EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr);
  EVP_DigestInit_ex(context_.get(), nullptr, nullptr);
  return digest;
}

Sha256Digest sha256(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.take();
}

Sha256Digest hmac_sha256(std::string_view key, std::string_view bytes) {
  Sha256Digest digest{};
  unsigned int size = 0;
  const auto* const text = reinterpret_cast<const unsigned char*>(bytes.data());
  if (!HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), text, bytes.size(),
            digest.data(), &size))
    throw std::bad_alloc();
  return digest;
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace holdfast::io
