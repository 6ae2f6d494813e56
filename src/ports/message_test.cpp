#include "ports/message.hpp"

#include <gtest/gtest.h>

namespace holdfast::ports::message_test {
namespace {

FieldTable death(const char* queue, const char* reason, std::int64_t count) {
  return {{"count", count},
          {"reason", reason},
          {"queue", queue},
          {"time", Field::Value(Field::Time{1700000000})},
          {"exchange", "jobs"},
          {"routing-keys", Field::Value(FieldArray{Field("scan.file"), Field("copy")})}};
}

TEST(Message, FieldsAreFoundSetAndRemoved) {
  FieldTable table{{"a", "1"}, {"b", Field::Value(std::int8_t{-3})}};
  EXPECT_EQ(text_of(table, "a"), "1");
  EXPECT_EQ(number_of(table, "a"), std::nullopt);
  EXPECT_EQ(number_of(table, "b"), -3);
  EXPECT_EQ(find_field(table, "c"), nullptr);
  set_field(table, "a", std::int64_t{7});
  set_field(table, "c", "new");
  EXPECT_EQ(number_of(table, "a"), 7);
  EXPECT_EQ(table.back().first, "c");
  remove_field(table, "a");
  EXPECT_EQ(table.size(), 2U);
}

TEST(Message, NumbersThatDoNotFitAreNone) {
  const FieldTable table{{"big", Field::Value(std::numeric_limits<std::uint64_t>::max())},
                         {"flag", Field::Value(true)}};
  EXPECT_EQ(number_of(table, "big"), std::nullopt);
  EXPECT_EQ(number_of(table, "flag"), std::nullopt);
}

TEST(Message, R9_V6_DeathsAreRead) {
  const Message message{.body = "x",
                        .headers = {{"x-death", Field::Value(FieldArray{
                                                    Field(Field::Value(death("q", "rejected", 2))),
                                                    Field("not a death"),
                                                    Field(Field::Value(death("w", "expired", 1))),
                                                })}}};
  const auto deaths = deaths_of(message);
  ASSERT_EQ(deaths.size(), 2U);
  EXPECT_EQ(deaths[0].queue, "q");
  EXPECT_EQ(deaths[0].reason, "rejected");
  EXPECT_EQ(deaths[0].count, 2);
  EXPECT_EQ(deaths[0].exchange, "jobs");
  EXPECT_EQ(deaths[0].routing_keys, (std::vector<std::string>{"scan.file", "copy"}));
  EXPECT_EQ(deaths[0].time, 1700000000U);
  EXPECT_EQ(deaths[1].queue, "w");
}

TEST(Message, AStrangeXDeathIsNone) {
  EXPECT_TRUE(deaths_of({.body = "", .headers = {{"x-death", "text"}}}).empty());
  EXPECT_TRUE(deaths_of({.body = "", .headers = {}}).empty());
}

}  // namespace
}  // namespace holdfast::ports::message_test
