#include "handlers/webhook_signature.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <span>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

namespace holdfast::handlers {
namespace {

constexpr std::string_view kPrefix = "whsec_";
constexpr std::size_t kSha256Bytes = 32;

const unsigned char* bytes_of(std::string_view text) noexcept {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string to_base64(std::span<const unsigned char> bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // and a NUL, which EVP writes
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

// Empty: it is no base64.
std::string from_base64(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/';
  };
  const std::size_t letters = std::min(text.find('='), text.size());
  const std::size_t padding = text.size() - letters;
  if (text.size() % 4 != 0 || padding > 2) return {};
  if (text.find_first_not_of('=', letters) != text.npos) return {};
  if (!std::ranges::all_of(text.substr(0, letters), is_letter)) return {};
  std::string bytes(text.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()), bytes_of(text),
                                   static_cast<int>(text.size()));
  if (size < 0) return {};
  bytes.resize(static_cast<std::size_t>(size) - padding);  // EVP counts the padding as zeroes
  return bytes;
}

}  // namespace

void WebhookSigner::Free::operator()(evp_mac_ctx_st* context) const noexcept {
  EVP_MAC_CTX_free(context);
}

Result<WebhookSigner> WebhookSigner::make(std::string_view secret) {
  std::string key(secret);
  if (secret.starts_with(kPrefix)) key = from_base64(secret.substr(kPrefix.size()));
  if (key.empty()) {
    return fail(ErrorCode::invalid_argument, "read webhook secret",
                secret.empty() ? "it is empty" : "what follows \"whsec_\" is not base64");
  }
  EVP_MAC* const mac = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
  if (!mac) return fail(ErrorCode::unavailable, "sign webhook", "OpenSSL has no HMAC");
  Context keyed(EVP_MAC_CTX_new(mac));
  EVP_MAC_free(mac);  // the context keeps it
  std::array<char, 7> digest{"SHA256"};
  const std::array<OSSL_PARAM, 2> parameters{
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0),
      OSSL_PARAM_construct_end()};
  const bool is_ready =
      keyed && EVP_MAC_init(keyed.get(), bytes_of(key), key.size(), parameters.data()) == 1;
  OPENSSL_cleanse(key.data(), key.size());
  if (!is_ready) return fail(ErrorCode::unavailable, "sign webhook", "OpenSSL has no SHA-256");
  return WebhookSigner(std::move(keyed));
}

std::string WebhookSigner::sign(std::string_view id, std::string_view timestamp,
                                std::string_view body) const {
  const Context context(EVP_MAC_CTX_dup(keyed_.get()));
  if (!context) throw std::bad_alloc();
  for (const std::string_view part :
       {id, std::string_view("."), timestamp, std::string_view("."), body})
    EVP_MAC_update(context.get(), bytes_of(part), part.size());
  std::array<unsigned char, kSha256Bytes> digest{};
  std::size_t size = 0;
  EVP_MAC_final(context.get(), digest.data(), &size, digest.size());
  return "v1," + to_base64(digest);
}

}  // namespace holdfast::handlers
