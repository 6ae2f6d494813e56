#include "recovery/backup.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "support/recovery_world.hpp"

namespace holdfast::recovery::backup_test {
namespace {

using ports::Field;
using ports::FieldArray;
using ports::FieldTable;

template <class Value>
Field of(Value value) {
  return Field(Field::Value(std::move(value)));
}

ports::Delivery with_everything() {
  ports::Message message = testing::dead("4711");
  message.body = std::string("\x00\xff\x80 any bytes\n", 14);
  message.content_type = "text/plain";
  message.content_encoding = "utf-8";
  message.priority = 9;
  message.correlation_id = "c\xff";
  message.reply_to = "";
  message.expiration = "60000";
  message.timestamp = 1'893'450'000;
  message.type = "t\"\\\u2028";
  message.user_id = "guest";
  message.app_id = "a";
  message.cluster_id = "k";
  message.headers.emplace_back("null", Field());
  message.headers.emplace_back("yes", of(true));
  message.headers.emplace_back("i8", of(std::int8_t{-128}));
  message.headers.emplace_back("u8", of(std::uint8_t{255}));
  message.headers.emplace_back("i16", of(std::int16_t{-32768}));
  message.headers.emplace_back("u16", of(std::uint16_t{65535}));
  message.headers.emplace_back("i32", of(std::numeric_limits<std::int32_t>::min()));
  message.headers.emplace_back("u32", of(std::numeric_limits<std::uint32_t>::max()));
  message.headers.emplace_back("i64", of(std::numeric_limits<std::int64_t>::min()));
  message.headers.emplace_back("u64", of(std::numeric_limits<std::uint64_t>::max()));
  message.headers.emplace_back("big", of(std::int64_t{9'007'199'254'740'993}));
  message.headers.emplace_back("f32", of(0.1F));
  message.headers.emplace_back("f64", of(-0.1));
  message.headers.emplace_back("infinite", of(std::numeric_limits<double>::infinity()));
  message.headers.emplace_back("price", of(Field::Decimal{.places = 2, .digits = 1250}));
  message.headers.emplace_back("bytes", of(Field::Bytes{std::string("\x00\x01\xfe", 3)}));
  message.headers.emplace_back("time", of(Field::Time{1'893'450'000}));
  message.headers.emplace_back("latin", Field(std::string("caf\xe9")));
  message.headers.emplace_back("na\xffme", Field("x"));
  message.headers.emplace_back("x", Field("twice"));
  message.headers.emplace_back("x", Field("the same name"));
  message.headers.emplace_back(
      "nested", of(FieldArray{of(FieldTable{{"in", of(FieldArray{})}, {"", of(FieldTable{})}})}));
  return {.tag = {1, 1},
          .message = std::move(message),
          .from = {.exchange = "jobs", .routing_key = "scan"},
          .redelivered = true};
}

std::string line_of(const ports::Delivery& delivery) {
  std::string line;
  append_backup_message(line, delivery, "app.dlq", "run 1");
  EXPECT_TRUE(line.ends_with("\n"));
  line.pop_back();
  EXPECT_FALSE(line.contains('\n'));
  return line;
}

TEST(Backup, has_all_of_a_message) {
  const ports::Delivery delivery = with_everything();
  const auto line = parse_backup_line(line_of(delivery));
  ASSERT_TRUE(line) << line.error();
  EXPECT_EQ(line->delivery.message, delivery.message);
  EXPECT_EQ(line->delivery.from, delivery.from);
  EXPECT_TRUE(line->delivery.redelivered);
  EXPECT_EQ(line->queue, "app.dlq");
  EXPECT_EQ(line->run, "");
}

TEST(Backup, has_what_is_not_a_number) {
  ports::Delivery delivery{.tag = {}, .message = {}, .from = {}};
  delivery.message.headers.emplace_back("nan", of(std::numeric_limits<double>::quiet_NaN()));
  const auto line = parse_backup_line(line_of(delivery));
  ASSERT_TRUE(line);
  EXPECT_TRUE(std::isnan(std::get<double>(line->delivery.message.headers.at(0).second.value)));
}

TEST(Backup, headers_as_deep_as_a_broker_has_them) {
  Field field("x");
  for (int level = 0; level < 500; ++level)
    field = of(FieldTable{{"a", std::move(field)}});
  const ports::Delivery delivery{
      .tag = {}, .message = {.body = "", .headers = {{"deep", field}}}, .from = {}};
  const auto line = parse_backup_line(line_of(delivery));
  ASSERT_TRUE(line) << line.error();
  EXPECT_EQ(line->delivery.message, delivery.message);
}

TEST(Backup, a_run_begins_with_a_line_of_its_own) {
  std::string text;
  append_backup_begin(text, WallTime(std::chrono::seconds(1'893'456'000)), "run 1", "amqp://x/q");
  EXPECT_TRUE(text.starts_with(
      R"({"holdfast_backup":1,"run":"run 1","time":"2030-01-01T00:00:00.000000Z","from":"amqp://x/q","sum":")"));
  text.pop_back();
  const auto line = parse_backup_line(text);
  ASSERT_TRUE(line) << line.error();
  EXPECT_EQ(line->run, "run 1");
  EXPECT_TRUE(may_begin_backup(text));
  EXPECT_TRUE(may_begin_backup(text.substr(0, 40)));
  EXPECT_FALSE(may_begin_backup("{"));
  EXPECT_FALSE(may_begin_backup(R"({"holdfast_backup":1,"my precious":"note"})"));
  EXPECT_FALSE(may_begin_backup("{\"time\":"));
}

TEST(Backup, any_other_byte_is_noticed) {
  const std::string line = line_of(with_everything());
  for (std::size_t at = 0; at < line.size(); ++at) {
    std::string other = line;
    other[at] = static_cast<char>(other[at] ^ 1);
    EXPECT_FALSE(parse_backup_line(other)) << at;
    EXPECT_FALSE(parse_backup_line(std::string_view(line).substr(0, at))) << at;
  }
}

}  // namespace
}  // namespace holdfast::recovery::backup_test
