#include "cli/text_columns.hpp"

#include <gtest/gtest.h>

namespace holdfast::cli {
namespace {

TEST(TextColumns, groups_thousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1'000), "1,000");
  EXPECT_EQ(grouped(1'234'567), "1,234,567");
}

}  // namespace
}  // namespace holdfast::cli
