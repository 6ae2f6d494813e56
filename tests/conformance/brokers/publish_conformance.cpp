#include <algorithm>

#include <gmock/gmock.h>

#include "conformance/brokers/broker_conformance.hpp"

// Topologies, publishing, delays, counting.
namespace holdfast::conformance {
namespace {

using ports::QueueFound;
using ::testing::Each;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Outgoing to(const std::string& queue, std::string body) {
  return {.to = {.routing_key = queue},
          .message = {.body = std::move(body), .headers = {}, .delivery_mode = 2}};
}

TEST_P(BrokerConformance, makes_queues_and_finds_them_again) {
  const std::string name = unique_name("made");
  const std::string letters = unique_name("letters");
  const ports::Topology wish{
      .queues = {{.name = letters, .kind = GetParam().queues},
                 {.name = name,
                  .kind = GetParam().queues,
                  .dead_letter = ports::Address{.exchange = "", .routing_key = letters}}}};
  for (int round = 0; round < 2; ++round) {
    const auto opened = world.make_sure(wish);
    ASSERT_TRUE(opened) << opened.error().text();
    ASSERT_THAT(opened->queues, SizeIs(2));
    EXPECT_THAT(opened->queues, Each(Field(&ports::Opened::One::found, QueueFound::ready)));
  }
  EXPECT_EQ(world.depth(name)->ready, 0U);
}

// R7
TEST_P(BrokerConformance, uses_a_queue_that_is_otherwise_and_says_so) {
  const std::string taken = new_queue("taken");
  const std::string other = unique_name("other");
  const auto opened = world.make_sure(
      {.queues = {{.name = taken,
                   .kind = GetParam().queues,
                   .dead_letter = ports::Address{.exchange = "", .routing_key = "elsewhere"}},
                  {.name = other, .kind = GetParam().queues}}});
  ASSERT_TRUE(opened) << opened.error().text();
  ASSERT_THAT(opened->queues, SizeIs(2));
  EXPECT_EQ(opened->queues[0].queue, taken);
  EXPECT_EQ(opened->queues[0].found, QueueFound::otherwise);
  EXPECT_FALSE(opened->queues[0].detail.empty());
  EXPECT_EQ(opened->queues[1].found, QueueFound::ready);
  EXPECT_EQ(world.publish(taken, "works").fate, Fate::confirmed);
  EXPECT_EQ(world.publish(other, "works").fate, Fate::confirmed);
}

TEST_P(BrokerConformance, carries_messages_as_they_are) {
  const std::string queue = new_queue();
  const Message message = full_message();
  ASSERT_EQ(world.publish({.to = {.routing_key = queue}, .message = message}).fate,
            Fate::confirmed);
  const auto got = world.take_out(queue, 1);
  ASSERT_THAT(got, SizeIs(1));
  EXPECT_EQ(got[0].message, message);
  EXPECT_EQ(got[0].from, (ports::Address{.exchange = "", .routing_key = queue}));
  EXPECT_FALSE(got[0].redelivered);
}

TEST_P(BrokerConformance, carries_nothing_and_much) {
  const std::string queue = new_queue();
  std::string large(GetParam().large_bytes, 'x');
  for (std::size_t at = 0; at < large.size(); at += 997)
    large[at] = static_cast<char>(at);
  EXPECT_EQ(world.publish(queue, "").fate, Fate::confirmed);
  EXPECT_EQ(world.publish(queue, large).fate, Fate::confirmed);
  const auto got = world.take_out(queue, 2);
  ASSERT_THAT(got, SizeIs(2));
  const std::size_t first = got[0].message.body.empty() ? 0 : 1;
  if (GetParam().keeps_order) EXPECT_EQ(first, 0U);
  EXPECT_EQ(got[first].message.body, "");
  EXPECT_EQ(got[1 - first].message.body, large);
}

TEST_P(BrokerConformance, returns_what_no_queue_takes) {
  const Sent sent = world.publish(unique_name("nowhere"), "lost?");
  EXPECT_EQ(sent.fate, Fate::returned);
  EXPECT_EQ(sent.error.code, ErrorCode::not_found) << sent.error.text();
}

// Trap 3: each return belongs to its own message.
TEST_P(BrokerConformance, tells_each_of_many_its_own_fate) {
  const std::string queue = new_queue();
  const std::string nowhere = unique_name("nowhere");
  std::vector<Outgoing> all;
  for (int n = 0; n < 300; ++n)
    all.push_back(to(n % 3 == 1 ? nowhere : queue, std::to_string(n)));
  const auto sent = world.publish_all(std::move(all));
  for (int n = 0; n < 300; ++n) {
    EXPECT_EQ(sent[static_cast<std::size_t>(n)].fate, n % 3 == 1 ? Fate::returned : Fate::confirmed)
        << n;
  }
  const auto got = world.take_out(queue, 200);
  ASSERT_THAT(got, SizeIs(200));
  for (const Delivery& delivery : got)
    EXPECT_NE(std::stoi(delivery.message.body) % 3, 1);
}

TEST_P(BrokerConformance, keeps_the_order_of_what_is_published) {
  const std::string queue = new_queue();
  std::vector<Outgoing> all;
  for (int n = 0; n < 1000; ++n)
    all.push_back(to(queue, std::to_string(n)));
  EXPECT_THAT(world.publish_all(std::move(all)), Each(Field(&Sent::fate, Fate::confirmed)));
  const auto got = world.take_out(queue, 1000);
  std::vector<int> numbers;
  for (const Delivery& delivery : got)
    numbers.push_back(std::stoi(delivery.message.body));
  if (!GetParam().keeps_order) std::ranges::sort(numbers);
  for (int n = 0; n < 1000; ++n)
    EXPECT_EQ(numbers.at(static_cast<std::size_t>(n)), n);
}

TEST_P(BrokerConformance, counts_what_is_ready) {
  const std::string queue = new_queue();
  EXPECT_EQ(world.depth(queue)->ready, 0U);
  for (int n = 0; n < 3; ++n)
    EXPECT_EQ(world.publish(queue, "one").fate, Fate::confirmed);
  EXPECT_TRUE(world.has_ready(queue, 3));
  const auto missing = world.depth(unique_name("missing"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_EQ(world.depth(queue)->ready, 3U);  // and asking for what is not there harms nobody
}

TEST_P(BrokerConformance, delivers_no_earlier_than_a_delay_says) {
  const std::string queue = new_queue();
  Recorder recorder;
  const auto consumer = broker().consume({.queue = queue}, recorder);
  const auto before = system_clock().now();
  Message sent = full_message();
  sent.expiration.reset();
  ASSERT_EQ(world.publish({.to = {.routing_key = queue}, .message = sent, .delay = 700ms}).fate,
            Fate::confirmed);
  ASSERT_EQ(world.publish(queue, "at once").fate, Fate::confirmed);
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 2; }));
  EXPECT_GE(system_clock().now() - before, 700ms);
  EXPECT_EQ(recorder.got[0].message.body, "at once");
  // A delay leaves no trace but the order of headers, which says nothing.
  std::ranges::sort(sent.headers, {}, [](const auto& header) { return header.first; });
  Message& got = recorder.got[1].message;
  std::ranges::sort(got.headers, {}, [](const auto& header) { return header.first; });
  EXPECT_EQ(got, sent);
  world.close(consumer);
}

// Trap 7: a message that goes round and round is not taken for a cycle.
TEST_P(BrokerConformance, delays_the_same_message_as_often_as_asked) {
  const std::string queue = new_queue();
  Recorder recorder;
  const auto consumer = broker().consume({.queue = queue, .prefetch = 1}, recorder);
  Message message{.body = "round", .headers = {}, .delivery_mode = 2};
  message.headers.emplace_back("kept", "yes");
  ASSERT_EQ(world.publish({.to = {.routing_key = queue}, .message = message}).fate,
            Fate::confirmed);
  const auto rounds = static_cast<std::size_t>(GetParam().delays);
  for (std::size_t round = 1; round <= rounds; ++round) {
    ASSERT_TRUE(world.until([&] { return recorder.got.size() == round; })) << "round " << round;
    EXPECT_EQ(recorder.got.back().message, message);
    std::optional<Sent> sent;
    ports::retry_later(broker(), consumer, recorder.got.back().tag, queue,
                       recorder.got.back().message, 100ms, [&](Sent told) { sent = told; });
    ASSERT_TRUE(world.until([&] { return sent.has_value(); }));
    ASSERT_EQ(sent->fate, Fate::confirmed) << sent->error.text();
  }
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == rounds + 1; }));
  world.close(consumer);
}

TEST_P(BrokerConformance, delays_nothing_towards_nowhere) {
  const Sent nowhere = world.publish({.to = {.routing_key = unique_name("nowhere")},
                                      .message = {.body = "", .headers = {}},
                                      .delay = 1s});
  EXPECT_EQ(nowhere.fate, Fate::returned) << nowhere.error.text();
  const Sent exchange = world.publish({.to = {.exchange = "amq.direct", .routing_key = "x"},
                                       .message = {.body = "", .headers = {}},
                                       .delay = 1s});
  EXPECT_EQ(exchange.fate, Fate::refused);
  EXPECT_EQ(exchange.error.code, ErrorCode::invalid_argument);
}

TEST_P(BrokerConformance, drops_the_callbacks_of_a_broker_that_is_gone) {
  const std::string queue = new_queue();
  int called = 0;
  for (int n = 0; n < 100; ++n) {
    broker().publish(to(queue, "one"), [&](const Sent&) { ++called; });
  }
  broker().depth(queue, [&](const auto&) { ++called; });
  world.broker.reset();
  world.loop.run_for(100ms);
  EXPECT_EQ(called, 0);
}

// From within one of its own callbacks, too.
TEST_P(BrokerConformance, can_be_ended_by_what_it_tells) {
  const std::string queue = new_queue();
  int called = 0;
  for (int n = 0; n < 10; ++n) {
    broker().publish(to(queue, "one"), [&](const Sent&) {
      ++called;
      world.broker.reset();
    });
  }
  ASSERT_TRUE(world.until([&] { return called > 0; }));
  world.loop.run_for(50ms);
  EXPECT_EQ(called, 1);
}

}  // namespace
}  // namespace holdfast::conformance
