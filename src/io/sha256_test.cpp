#include "io/sha256.hpp"

#include <gtest/gtest.h>

namespace holdfast::io::sha256_test {
namespace {

TEST(Sha256, is_that_of_FIPS_180) {
  EXPECT_EQ(to_hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(to_hex(sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, takes_bits_and_begins_anew) {
  Sha256 hash;
  hash.update("a");
  hash.update("");
  hash.update("bc");
  EXPECT_EQ(hash.take(), sha256("abc"));
  hash.update("abc");
  EXPECT_EQ(hash.take(), sha256("abc"));
}

TEST(Sha256, signs_as_RFC_4231_has_it) {
  EXPECT_EQ(to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

}  // namespace
}  // namespace holdfast::io::sha256_test
