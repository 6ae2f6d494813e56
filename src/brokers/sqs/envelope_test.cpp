#include "brokers/sqs/envelope.hpp"

#include <limits>

#include <gmock/gmock.h>

#include "brokers/sqs/sqs.hpp"
#include "brokers/sqs/text.hpp"

namespace holdfast::brokers::sqs::envelope_test {
namespace {

using ports::Field;
using ports::Message;
using Value = Field::Value;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::Not;
using ::testing::SizeIs;

Message message_of(std::string body) {
  return {.body = std::move(body), .headers = {}};
}

Envelope sealed(const Message& message) {
  auto envelope = seal(message, false, std::nullopt);
  EXPECT_TRUE(envelope) << envelope.error().text();
  return envelope.value_or(Envelope());
}

void expect_round_trip(const Message& message) {
  const Envelope envelope = sealed(message);
  EXPECT_TRUE(is_message_text(envelope.body));
  EXPECT_FALSE(envelope.body.empty());
  EXPECT_THAT(envelope.attributes, SizeIs(Le(10U)));
  for (const Attribute& attribute : envelope.attributes) {
    EXPECT_TRUE(is_attribute_name(attribute.name));
    EXPECT_FALSE(attribute.value.empty());
    if (!attribute.type.starts_with("Binary")) EXPECT_TRUE(is_message_text(attribute.value));
  }
  const Unsealed back = unseal(envelope);
  EXPECT_TRUE(back.is_ours);
  EXPECT_EQ(back.message, message);
  EXPECT_FALSE(back.due);
}

// Every type, more of them than there are attributes, and texts that SQS would change.
Message everything() {
  Message message = message_of("täxt\twith\nlines");
  message.content_type = "application/json";
  message.content_encoding = "identity";
  message.delivery_mode = 2;
  message.priority = 3;
  message.correlation_id = std::string("with \0 in it", 12);
  message.reply_to = "";
  message.expiration = "3600000";
  message.message_id = "message-1";
  message.timestamp = 1'700'000'000;
  message.type = "mail.send";
  message.user_id = "\xff\xfe";
  message.app_id = "shop";
  message.cluster_id = "cluster";
  message.headers = {
      {"nothing", Field()},
      {"yes", Field(Value(true))},
      {"int8", Field(Value(std::int8_t{-8}))},
      {"uint8", Field(Value(std::uint8_t{200}))},
      {"uint64", Field(Value(std::numeric_limits<std::uint64_t>::max()))},
      {"int64", Field(Value(std::numeric_limits<std::int64_t>::min()))},
      {"float", Field(Value(1.5F))},
      {"double", Field(Value(-0.1))},
      {"whole double", Field(Value(3.0))},
      {"infinite", Field(Value(std::numeric_limits<double>::infinity()))},
      {"decimal", Field(Value(Field::Decimal{2, 12345}))},
      {"", Field("empty name")},
      {"empty", Field("")},
      {"AWS.like", Field("theirs")},
      {"bell", Field("\a")},
      {"no-utf8", Field("\xc3")},
      {"bytes", Field(Value(Field::Bytes{std::string("\0\xff", 2)}))},
      {"no-bytes", Field(Value(Field::Bytes{}))},
      {"time", Field(Value(Field::Time{1'700'000'001}))},
      {"twice", Field("one")},
      {"twice", Field("two")},
      {"holdfast", Field("ours by name")},
      {"array",
       Field(Value(ports::FieldArray{Field("\x01"), Field(Value(std::int32_t{2})), Field()}))},
      {"table", Field(Value(ports::FieldTable{
                    {"inner", Field(Value(ports::FieldTable{{"deep", Field("down")}}))}}))}};
  return message;
}

TEST(SqsEnvelope, brings_everything_back_as_it_was) {
  expect_round_trip(everything());
  expect_round_trip(message_of(""));
  expect_round_trip(message_of("(empty)"));
  expect_round_trip(message_of(std::string("\0\x01\xff", 3)));
  expect_round_trip(message_of("\xef\xbf\xbe"));  // U+FFFE
  expect_round_trip(message_of("emoji \xf0\x9f\x9a\x80"));
  Message one = message_of("x");
  for (const auto& header : everything().headers) {
    one.headers = {header};
    expect_round_trip(one);
  }
}

TEST(SqsEnvelope, leaves_texts_as_others_read_them) {
  Message message = message_of("{\"order\": 5}");
  message.headers = {{"MessageType", Field("order.new")}, {"priority", Field(std::int64_t{7})}};
  const Envelope envelope = sealed(message);
  EXPECT_EQ(envelope.body, "{\"order\": 5}");
  EXPECT_THAT(envelope.attributes, Contains(Attribute{"MessageType", "String", "order.new"}));
  EXPECT_THAT(envelope.attributes, Contains(Attribute{"priority", "Number", "7"}));
}

TEST(SqsEnvelope, keeps_places_for_what_others_look_at) {
  Message message = message_of("x");
  for (int n = 0; n < 5; ++n)
    message.headers.emplace_back("x-holdfast-" + std::to_string(n), Field("ours"));
  for (int n = 0; n < 9; ++n)
    message.headers.emplace_back("theirs-" + std::to_string(n), Field("theirs"));
  const Envelope envelope = sealed(message);
  for (int n = 0; n < 9; ++n)
    EXPECT_THAT(envelope.attributes,
                Contains(Attribute{"theirs-" + std::to_string(n), "String", "theirs"}));
  expect_round_trip(message);
}

TEST(SqsEnvelope, takes_what_other_clients_send) {
  const Unsealed got = unseal({.body = "hello",
                               .attributes = {{"MessageType", "String", "order.new"},
                                              {"tries", "Number", "3"},
                                              {"rate", "Number", "1.5"},
                                              {"long", "Number", "12345678901234567890123"},
                                              {"own", "String.json", "{}"},
                                              {"raw", "Binary.png", "\x89"}}});
  EXPECT_FALSE(got.is_ours);
  EXPECT_EQ(got.message.body, "hello");
  EXPECT_EQ(got.message.headers, (ports::FieldTable{{"MessageType", Field("order.new")},
                                                    {"tries", Field(std::int64_t{3})},
                                                    {"rate", Field(Value(1.5))},
                                                    {"long", Field("12345678901234567890123")},
                                                    {"own", Field("{}")},
                                                    {"raw", Field(Value(Field::Bytes{"\x89"}))}}));
  // And sends them on as they came.
  const Envelope again = sealed(got.message);
  EXPECT_THAT(again.attributes, Contains(Attribute{"tries", "Number", "3"}));
  EXPECT_THAT(again.attributes, Contains(Attribute{"rate", "Number", "1.5"}));
}

TEST(SqsEnvelope, loses_nothing_to_an_attribute_that_is_not_ours) {
  for (const char* const planted :
       {"no json", "[]", R"({"body":"rot13"})", R"({"body":"base64"})", R"({"headers":[["a"]]})",
        R"({"headers":[["a","int8","300"]]})", R"({"due":"soon"})"}) {
    const Unsealed got = unseal({.body = "b ody", .attributes = {{"holdfast", "String", planted}}});
    EXPECT_FALSE(got.is_ours) << planted;
    EXPECT_EQ(got.message.body, "b ody");
    EXPECT_EQ(got.message.headers, (ports::FieldTable{{"holdfast", Field(planted)}}));
  }
}

TEST(SqsEnvelope, keeps_what_others_have_added) {
  Envelope envelope = sealed(message_of("x"));
  envelope.attributes.push_back({"added", "String", "later"});
  EXPECT_EQ(unseal(envelope).message.headers, (ports::FieldTable{{"added", Field("later")}}));
}

TEST(SqsEnvelope, tells_when_a_message_is_due) {
  const WallTime due{std::chrono::milliseconds(1'700'000'000'123)};
  const auto envelope = seal(message_of("later"), false, due);
  ASSERT_TRUE(envelope);
  EXPECT_EQ(unseal(*envelope).due, due);
  EXPECT_EQ(unseal(*envelope).message, message_of("later"));
}

TEST(SqsEnvelope, leaves_out_what_tells_of_a_delivery) {
  Message message = message_of("x");
  message.headers = {{"x-delivery-count", Field(std::int64_t{2})},
                     {std::string(kGroupHeader), "a"}};
  EXPECT_EQ(unseal(sealed(message)).message.headers,
            (ports::FieldTable{{std::string(kGroupHeader), Field("a")}}));
  EXPECT_THAT(unseal(seal(message, true, std::nullopt).value()).message.headers, IsEmpty());
}

TEST(SqsEnvelope, refuses_names_that_no_attribute_can_have) {
  Message message = message_of("x");
  message.headers = {{"bad\x01name", Field("x")}};
  EXPECT_EQ(seal(message, false, std::nullopt).error().code, ErrorCode::invalid_argument);
  message.headers = {{"outer", Field(Value(ports::FieldTable{{"\xff", Field()}}))}};
  EXPECT_EQ(seal(message, false, std::nullopt).error().code, ErrorCode::invalid_argument);
}

TEST(SqsEnvelope, chooses_a_group) {
  Message message = message_of("x");
  EXPECT_EQ(group_of(message), kDefaultGroup);
  message.message_id = "task-1";
  EXPECT_EQ(group_of(message), "task-1");
  message.headers = {{std::string(kGroupHeader), Field("orders")}};
  EXPECT_EQ(group_of(message), "orders");
  message.headers = {{std::string(kGroupHeader), Field(std::string(200, 'x'))}};
  EXPECT_THAT(group_of(message), SizeIs(64));
}

TEST(SqsText, knows_what_is_carried) {
  EXPECT_TRUE(is_message_text("plain \t\r\n täxt \xf0\x9f\x9a\x80"));
  for (const std::string& bad : {std::string("\0", 1), std::string("\x1f"), std::string("\xff"),
                                 std::string("\xef\xbf\xbf"), std::string("\xed\xa0\x80")})
    EXPECT_FALSE(is_message_text(bad));
  EXPECT_EQ(md5_hex("hello"), "5d41402abc4b2a76b9719d911017c592");
  EXPECT_TRUE(is_attribute_name("a.b-c_1"));
  for (const char* const bad : {"", ".a", "a.", "a..b", "AWS.x", "amazon.x", "a b", "ä"})
    EXPECT_FALSE(is_attribute_name(bad)) << bad;
}

}  // namespace
}  // namespace holdfast::brokers::sqs::envelope_test
