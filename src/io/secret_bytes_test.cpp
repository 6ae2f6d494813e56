#include "io/secret_bytes.hpp"

#include <set>

#include <gtest/gtest.h>

namespace holdfast::io::secret_bytes_test {
namespace {

TEST(SecretBytes, are_others_each_time) {
  std::set<SecretBytes> seen;
  for (int i = 0; i < 100; ++i)
    EXPECT_TRUE(seen.insert(secret_bytes()).second);
}

}  // namespace
}  // namespace holdfast::io::secret_bytes_test
