#include "stores/redis/sha1.hpp"

#include <array>
#include <cstdio>
#include <string>

#include <gtest/gtest.h>
#include <openssl/evp.h>

namespace holdfast::stores::redis::sha1_test {
namespace {

TEST(Sha1, is_that_of_the_standard) {
  EXPECT_EQ(sha1_hex(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(sha1_hex("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(sha1_hex(std::string(1'000'000, 'a')), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

TEST(Sha1, is_that_of_openssl_whatever_the_length) {
  std::string text;
  for (int size = 0; size < 300; ++size) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int bytes = 0;
    ASSERT_EQ(EVP_Digest(text.data(), text.size(), digest.data(), &bytes, EVP_sha1(), nullptr), 1);
    std::string hex;
    for (unsigned int at = 0; at < bytes; ++at) {
      std::array<char, 3> pair{};
      std::snprintf(pair.data(), pair.size(), "%02x", digest[at]);
      hex += pair.data();
    }
    EXPECT_EQ(sha1_hex(text), hex) << size;
    text += static_cast<char>(size * 7);
  }
}

}  // namespace
}  // namespace holdfast::stores::redis::sha1_test
