#include <cstdlib>

#include <gmock/gmock.h>

#include "brokers/sqs/sqs.hpp"
#include "conformance/brokers/broker_conformance.hpp"
#include "support/rabbitmq_process.hpp"

// N10: SQS as another broker. Run by tests/support/sqs.py, which says where fauxqs is.
namespace holdfast::conformance::sqs_conformance_test {
namespace {

BrokerKind sqs_kind(std::string name, std::string ending, bool is_fifo) {
  return {.name = std::move(name),
          .open =
              [](ports::Loop& loop, Logger log) {
                const char* const endpoint = std::getenv("HOLDFAST_SQS");
                EXPECT_TRUE(endpoint) << "HOLDFAST_SQS is not set: tests/support/sqs.py run";
                return brokers::sqs::open(
                    loop,
                    {.at = {.region = "us-east-1"},
                     .endpoint = endpoint ? endpoint : "",
                     .credentials = {.given = {.access_key = "id", .secret_key = "secret"}},
                     .create = true,
                     // A consumer that is closed waits for its polls.
                     .poll_wait = std::chrono::seconds(1)},
                    log);
              },
          .ending = std::move(ending),
          .keeps_order = is_fifo,
          .keeps_order_of_all = false,
          .large_bytes = 700'003,
          .delays = 5};
}

INSTANTIATE_TEST_SUITE_P(Sqs, BrokerConformance,
                         ::testing::Values(sqs_kind("SqsStandard", "", false),
                                           sqs_kind("SqsFifo", ".fifo", true)),
                         name_of_broker);

// What others write and read.
TEST(SqsOthers, carries_messages_as_awscli_writes_and_reads_them) {
  using ports::Field;
  const BrokerKind kind = sqs_kind("Sqs", "", false);
  BrokerWorld world(kind.open);
  const std::string queue = world.new_queue(kind.queues, "awscli");
  const std::string back = world.new_queue(kind.queues, "back");
  Message message{.body = "grüße {}", .headers = {}};
  message.type = "mail.send";
  message.headers = {{"MessageType", Field("order.new")},
                     {"count", Field(std::int64_t{7})},
                     {"raw", Field(Field::Value(Field::Bytes{std::string("\0\xff", 2)}))}};
  ASSERT_EQ(world.publish({.to = {.routing_key = queue}, .message = message}).fate,
            Fate::confirmed);
  testing::PythonProgram aws(
      {std::string(HOLDFAST_SOURCE_DIR) + "/tests/conformance/brokers/awscli_side.py",
       std::getenv("HOLDFAST_SQS"), queue, back});
  EXPECT_EQ(aws.line(), "as sent");
  EXPECT_EQ(aws.end(), 0);
  const auto got = world.take_out(back, 1);
  ASSERT_THAT(got, ::testing::SizeIs(1));
  EXPECT_EQ(got[0].message.body, "from awscli");
  EXPECT_TRUE(got[0].message.message_id.has_value());  // SQS's own
  EXPECT_TRUE(got[0].message.timestamp.has_value());
  EXPECT_EQ(
      got[0].message.headers,
      (ports::FieldTable{{"MessageType", Field("täxt")},
                         {"count", Field(std::int64_t{5})},
                         {"raw", Field(Field::Value(Field::Bytes{std::string("\0\xff", 2)}))}}));
}

// The broker itself gives up what was handed out too often: the way that R9 and C1.6 count.
TEST(SqsOthers, finds_in_the_dead_letter_queue_what_was_received_too_often) {
  const BrokerKind kind = sqs_kind("Sqs", "", false);
  BrokerWorld world(kind.open);
  const std::string queue = BrokerWorld::unique_name("dies");
  const std::string letters = queue + "-dlq";
  const auto opened = world.make_sure(
      {.queues = {{.name = queue, .dead_letter = ports::Address{.routing_key = letters}}}});
  ASSERT_TRUE(opened) << opened.error().text();
  EXPECT_EQ(opened->queues.at(0).found, ports::QueueFound::ready) << opened->queues.at(0).detail;
  ASSERT_EQ(world.publish(queue, "poison").fate, Fate::confirmed);
  Recorder recorder;
  const auto consumer = world.broker->consume({.queue = queue}, recorder);
  for (std::size_t time = 1; time <= 3; ++time) {
    ASSERT_TRUE(world.until([&] { return recorder.got.size() == time; }));
    const auto count = ports::number_of(recorder.got.back().message.headers, "x-delivery-count");
    EXPECT_EQ(count.value_or(0), static_cast<std::int64_t>(time) - 1);
    world.broker->hand_back(consumer, recorder.got.back().tag);
  }
  EXPECT_TRUE(world.has_ready(letters, 1));
  world.close(consumer);
  const auto dead = world.take_out(letters, 1);
  ASSERT_THAT(dead, ::testing::SizeIs(1));
  EXPECT_EQ(dead[0].message.body, "poison");
}

}  // namespace
}  // namespace holdfast::conformance::sqs_conformance_test
