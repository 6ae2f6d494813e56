#include "cli/text_columns.hpp"

#include <gtest/gtest.h>

namespace holdfast::cli::text_columns_test {
namespace {

TEST(TextColumns, groups_thousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1'000), "1,000");
  EXPECT_EQ(grouped(1'234'567), "1,234,567");
}

TEST(TextColumns, counts_what_a_terminal_shows) {
  EXPECT_EQ(columns_of("mail"), 4U);
  EXPECT_EQ(columns_of("größe"), 5U);
  EXPECT_EQ(columns_of("世界"), 4U);
  EXPECT_EQ(columns_of("e\u0301"), 1U);
  EXPECT_EQ(columns_of("\xff\xfe"), 2U);
  EXPECT_EQ(columns_of("█▏…"), 3U);
}

TEST(TextColumns, cuts_between_characters) {
  EXPECT_EQ(cut("mail", 4), "mail");
  EXPECT_EQ(cut("mails", 4), "mai…");
  EXPECT_EQ(cut("größe", 3), "gr…");
  EXPECT_EQ(cut("世界平和", 8), "世界平和");
  EXPECT_EQ(cut("世界平和", 7), "世界平…");
  EXPECT_EQ(cut("世界平和", 6), "世界…") << "a wide one does not fit beside the dots";
  EXPECT_EQ(cut("mail", 0), "");
  EXPECT_EQ(cut("e\u0301e\u0301", 2), "e\u0301e\u0301");
}

}  // namespace
}  // namespace holdfast::cli::text_columns_test
