#include "stores/redis/script.hpp"

#include <array>
#include <new>
#include <utility>

#include <openssl/evp.h>

namespace holdfast::stores::redis {
namespace {

// Redis names scripts by SHA-1. Nothing is kept secret with it.
std::string sha1_hex(std::string_view text) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr) != 1)
    throw std::bad_alloc();
  std::string hex;
  hex.reserve(std::size_t{size} * 2);
  for (unsigned int at = 0; at < size; ++at) {
    hex += kDigits[digest[at] >> 4U];
    hex += kDigits[digest[at] & 15U];
  }
  return hex;
}

}  // namespace

Script::Script(std::string_view name, std::string text)
    : name_(name), text_(std::move(text)), sha_(sha1_hex(text_)) {}

}  // namespace holdfast::stores::redis
