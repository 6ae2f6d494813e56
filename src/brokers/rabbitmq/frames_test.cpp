#include "brokers/rabbitmq/frames.hpp"

#include <algorithm>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "brokers/rabbitmq/fields.hpp"

namespace holdfast::brokers::rabbitmq::frames_test {
namespace {

using ::testing::HasSubstr;

void feed(FrameReader& reader, std::string_view bytes) {
  const auto room = reader.room();
  ASSERT_GE(room.size(), bytes.size());
  std::memcpy(room.data(), bytes.data(), bytes.size());
  reader.filled(bytes.size());
}

std::string error_for(std::string_view bytes) {
  FrameReader reader;
  feed(reader, bytes);
  const auto frame = reader.next();
  return frame ? "none" : frame.error().message;
}

TEST(Frames, are_read_however_they_are_cut) {
  FrameWriter writer;
  const std::string body(300'000, 'b');
  ASSERT_TRUE(writer.publish(7,
                             {.ticket = 0,
                              .exchange = bytes_of(""),
                              .routing_key = bytes_of("q"),
                              .mandatory = 1,
                              .immediate = 0},
                             {}, body));
  writer.heartbeat();
  const std::string bytes(writer.unsent());
  for (const std::size_t step : {1UL, 7UL, 1000UL, 130'000UL}) {
    FrameReader reader;
    std::string types;
    std::size_t body_bytes = 0;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      feed(reader, std::string_view(bytes).substr(at, step));
      for (auto frame = reader.next(); frame && *frame; frame = reader.next()) {
        types += static_cast<char>('0' + (*frame)->type);
        if ((*frame)->type == AMQP_FRAME_BODY) body_bytes += (*frame)->payload.size();
        EXPECT_EQ((*frame)->channel, (*frame)->type == AMQP_FRAME_HEARTBEAT ? 0 : 7);
      }
    }
    EXPECT_EQ(types, "123338") << step;
    EXPECT_EQ(body_bytes, body.size());
  }
}

TEST(Frames, name_what_is_no_amqp) {
  EXPECT_THAT(error_for("HTTP/1.1 400 Bad Request"), HasSubstr("HTTP"));
  EXPECT_THAT(error_for("\x15\x03\x01"), HasSubstr("TLS"));
  EXPECT_THAT(error_for(std::string_view("AMQP\0\1\0\0", 8)), HasSubstr("0-9-1"));
  EXPECT_THAT(error_for("SSH-2.0-OpenSSH"), HasSubstr("no broker"));
  EXPECT_THAT(error_for(std::string_view("\1\0\1\xff\xff\xff\xff", 7)), HasSubstr("larger"));
  EXPECT_THAT(error_for(std::string_view("\1\0\1\0\0\0\1xx", 9)), HasSubstr("without its end"));
}

TEST(Frames, write_nothing_of_what_does_not_fit) {
  FrameWriter writer;
  amqp_basic_properties_t properties{};
  const ports::FieldTable fields = {{"large", ports::Field(std::string(kFrameMost, 'x'))}};
  TableForWire headers;
  ASSERT_TRUE(headers.add(fields));
  properties._flags = AMQP_BASIC_HEADERS_FLAG;
  properties.headers = headers.table();
  EXPECT_FALSE(writer.publish(1,
                              {.ticket = 0,
                               .exchange = bytes_of(""),
                               .routing_key = bytes_of("q"),
                               .mandatory = 1,
                               .immediate = 0},
                              properties, "body"));
  EXPECT_EQ(writer.unsent(), "");
}

// Tables within tables, as deep as a frame has room for.
std::string nested_content(std::size_t depth) {
  std::string table;
  const auto number = [](std::size_t size) {
    std::string text(4, '\0');
    for (int at = 3; at >= 0; --at, size >>= 8U)
      text[static_cast<std::size_t>(at)] = static_cast<char>(size);
    return text;
  };
  std::string tail;
  // From the inside outwards, without copying it all each time.
  std::size_t size = 0;
  std::vector<std::string> heads;
  for (std::size_t level = 0; level < depth; ++level) {
    heads.push_back(number(size));
    size += 4 + 2;  // its size, and in the next one an empty name and its type
  }
  for (std::size_t level = depth; level-- > 0;) {
    table += heads[level];
    if (level > 0) table += std::string("\0F", 2);
  }
  std::string content(14, '\0');
  content[1] = AMQP_BASIC_CLASS;
  content[12] = 0x20;  // headers
  return content + table;
}

TEST(Frames, survive_headers_that_are_nested_without_end) {
  for (const std::size_t depth : {std::size_t{10}, std::size_t{1000}, std::size_t{21'000}}) {
    MethodReader reader;
    const std::string bytes = nested_content(depth);
    ASSERT_LT(bytes.size(), kFrameMost);
    const auto content = reader.content(bytes);
    ASSERT_TRUE(content) << depth;
    ports::Message message;
    EXPECT_EQ(read_properties(*content->properties, message), depth <= kDeepestField) << depth;
  }
}

}  // namespace
}  // namespace holdfast::brokers::rabbitmq::frames_test
