#include <algorithm>

#include <gmock/gmock.h>

#include "conformance/brokers/broker_conformance.hpp"

// Receiving and settling.
namespace holdfast::conformance {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// As it was published, or in any order where the broker keeps none.
std::vector<std::string> in_order(std::vector<std::string> bodies, const BrokerKind& kind) {
  if (!kind.keeps_order_of_all)
    std::ranges::sort(bodies, {}, [](const std::string& body) { return std::stoi(body); });
  return bodies;
}

class Filled {
 public:
  Filled(BrokerWorld& world, const std::string& queue, int count) {
    std::vector<Outgoing> all;
    for (int n = 0; n < count; ++n) {
      Message message{.body = std::to_string(n), .headers = {}, .delivery_mode = 2};
      // Of a FIFO queue each is a group of its own, and none waits for another.
      message.message_id = BrokerWorld::unique_name("message");
      all.push_back({.to = {.routing_key = queue}, .message = std::move(message)});
    }
    for (const Sent& sent : world.publish_all(std::move(all))) {
      EXPECT_EQ(sent.fate, Fate::confirmed) << sent.error.text();
    }
  }
};

TEST_P(BrokerConformance, says_that_it_consumes_and_delivers) {
  const std::string queue = new_queue();
  Recorder recorder;
  const auto consumer = broker().consume({.queue = queue}, recorder);
  ASSERT_TRUE(world.until([&] { return recorder.times_consuming == 1; }));
  EXPECT_EQ(world.publish(queue, "hello").fate, Fate::confirmed);
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 1; }));
  EXPECT_EQ(recorder.got[0].message.body, "hello");
  world.close(consumer);
  EXPECT_THAT(recorder.interruptions, IsEmpty());
  EXPECT_EQ(recorder.times_consuming, 1);
}

TEST_P(BrokerConformance, delivers_no_more_than_the_prefetch) {
  const std::string queue = new_queue();
  const Filled filled(world, queue, 20);
  Recorder recorder;
  const auto consumer = broker().consume({.queue = queue, .prefetch = 5}, recorder);
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 5; }));
  world.loop.run_for(200ms);
  EXPECT_THAT(recorder.got, SizeIs(5));
  broker().acknowledge(consumer, recorder.got[2].tag);
  broker().acknowledge(consumer, recorder.got[0].tag);
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 7; }));
  world.loop.run_for(200ms);
  EXPECT_THAT(recorder.got, SizeIs(7));
  world.close(consumer);
  EXPECT_TRUE(world.has_ready(queue, 18));
}

TEST_P(BrokerConformance, forgets_what_is_acknowledged_and_nothing_else) {
  const std::string queue = new_queue();
  const Filled filled(world, queue, 200);
  Recorder recorder;
  const auto consumer = broker().consume({.queue = queue, .prefetch = 300}, recorder);
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 200; }));
  std::vector<std::string> left;
  for (std::size_t n = 0; n < 200; ++n) {
    if (n % 7 == 3)
      left.push_back(recorder.got[n].message.body);
    else
      broker().acknowledge(consumer, recorder.got[n].tag);
  }
  world.close(consumer);
  ASSERT_TRUE(world.has_ready(queue, left.size()));
  std::vector<std::string> found;
  for (const Delivery& delivery : world.take_out(queue, left.size())) {
    found.push_back(delivery.message.body);
    EXPECT_TRUE(delivery.redelivered);
  }
  EXPECT_EQ(in_order(found, GetParam()), in_order(left, GetParam()));
}

TEST_P(BrokerConformance, hands_back_for_anybody) {
  const std::string queue = new_queue();
  const Filled filled(world, queue, 1);
  Recorder recorder;
  const auto consumer = broker().consume({.queue = queue}, recorder);
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 1; }));
  broker().hand_back(consumer, recorder.got[0].tag);
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 2; }));
  EXPECT_FALSE(recorder.got[0].redelivered);
  EXPECT_TRUE(recorder.got[1].redelivered);
  broker().acknowledge(consumer, recorder.got[1].tag);
  world.close(consumer);
  EXPECT_TRUE(world.has_ready(queue, 0));
}

// Trap 2: what is held is passed over, in order, and comes back when the consumer is closed.
void hold_every_third(BrokerWorld& world, const BrokerKind& kind, const std::string& queue,
                      int count, std::size_t prefetch) {
  const Filled filled(world, queue, count);
  ports::Broker& broker = *world.broker;
  Recorder recorder;
  const auto consumer = broker.consume({.queue = queue, .prefetch = prefetch}, recorder);
  std::size_t settled = 0;
  const auto settle_what_came = [&] {
    EXPECT_LE(recorder.got.size() - settled, prefetch);
    for (; settled < recorder.got.size(); ++settled) {
      const auto tag = recorder.got[settled].tag;
      if (settled % 3 == 0)
        broker.hold(consumer, tag);
      else
        broker.acknowledge(consumer, tag);
    }
    return settled == static_cast<std::size_t>(count);
  };
  ASSERT_TRUE(world.until(settle_what_came)) << settled << " came";
  std::vector<std::string> all;
  std::vector<std::string> held_bodies;
  for (std::size_t n = 0; n < recorder.got.size(); ++n) {
    all.push_back(std::to_string(n));
    if (n % 3 == 0) held_bodies.push_back(recorder.got[n].message.body);
  }
  ASSERT_EQ(in_order(recorder.bodies(), kind), all);
  world.loop.run_for(100ms);
  EXPECT_THAT(recorder.got, SizeIs(count));  // none is seen twice
  EXPECT_THAT(recorder.interruptions, IsEmpty());
  EXPECT_EQ(recorder.times_consuming, 1);
  world.close(consumer);
  const auto held = static_cast<std::uint64_t>((count + 2) / 3);
  ASSERT_TRUE(world.has_ready(queue, held));
  std::vector<std::string> left;
  for (const Delivery& delivery : world.take_out(queue, held))
    left.push_back(delivery.message.body);
  EXPECT_EQ(in_order(left, kind), in_order(held_bodies, kind));
}

TEST_P(BrokerConformance, holds_with_a_window_of_one) {
  hold_every_third(world, GetParam(), new_queue(), 30, 1);
}
TEST_P(BrokerConformance, holds_with_a_small_window) {
  hold_every_third(world, GetParam(), new_queue(), 100, 8);
}
TEST_P(BrokerConformance, holds_many) {
  hold_every_third(world, GetParam(), new_queue(), 2000, 100);
}

TEST_P(BrokerConformance, settles_after_all_what_it_holds) {
  const std::string queue = new_queue();
  const Filled filled(world, queue, 3);
  Recorder recorder;
  const auto consumer = broker().consume({.queue = queue, .prefetch = 2}, recorder);
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 2; }));
  broker().hold(consumer, recorder.got[0].tag);
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 3; }));
  for (const Delivery& delivery : recorder.got)
    broker().acknowledge(consumer, delivery.tag);
  world.close(consumer);
  EXPECT_TRUE(world.has_ready(queue, 0));
}

TEST_P(BrokerConformance, delivers_nothing_while_paused) {
  const std::string queue = new_queue();
  Recorder recorder;
  const auto consumer = broker().consume({.queue = queue, .prefetch = 4}, recorder);
  const Filled filled(world, queue, 4);
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 4; }));
  broker().pause(consumer);
  const std::size_t before = recorder.got.size();
  const Filled more(world, queue, 6);
  for (const Delivery& delivery : recorder.got)
    broker().acknowledge(consumer, delivery.tag);
  EXPECT_TRUE(world.has_ready(queue, 6));
  EXPECT_THAT(recorder.got, SizeIs(before));
  broker().resume(consumer);
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == before + 4; }));
  for (const Delivery& delivery : recorder.got)
    broker().acknowledge(consumer, delivery.tag);
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == before + 6; }));
  world.close(consumer);
}

TEST_P(BrokerConformance, hands_back_what_was_under_way_when_it_is_paused) {
  const std::string queue = new_queue();
  const Filled filled(world, queue, 50);
  Recorder recorder;
  const auto consumer = broker().consume({.queue = queue}, recorder);
  broker().pause(consumer);
  world.loop.run_for(200ms);
  EXPECT_THAT(recorder.got, IsEmpty());
  EXPECT_TRUE(world.has_ready(queue, 50));
  broker().resume(consumer);
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 50; }));
  world.close(consumer);
}

TEST_P(BrokerConformance, delivers_as_much_ahead_as_the_prefetch_is_changed_to) {
  const std::string queue = new_queue();
  const Filled filled(world, queue, 20);
  Recorder recorder;
  const auto consumer = broker().consume({.queue = queue, .prefetch = 1}, recorder);
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 1; }));
  broker().set_prefetch(consumer, 8);
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 8; }));
  broker().set_prefetch(consumer, 2);
  world.loop.run_for(500ms);
  ASSERT_THAT(recorder.got, SizeIs(8));
  for (std::size_t at = 0; at < 6; ++at)
    broker().acknowledge(consumer, recorder.got[at].tag);
  world.loop.run_for(500ms);
  EXPECT_THAT(recorder.got, SizeIs(8));  // two are out
  broker().acknowledge(consumer, recorder.got[6].tag);
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 9; }));
  world.close(consumer);
  EXPECT_TRUE(world.has_ready(queue, 13));
}

TEST_P(BrokerConformance, delivers_what_is_on_its_way_when_it_is_drained_and_then_nothing) {
  const std::string queue = new_queue();
  const Filled filled(world, queue, 30);
  Recorder recorder;
  const auto consumer = broker().consume({.queue = queue, .prefetch = 10}, recorder);
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 10; }));
  broker().acknowledge(consumer, recorder.got[0].tag);
  bool drained = false;
  broker().drain(consumer, [&] { drained = true; });
  ASSERT_TRUE(world.until([&] { return drained; }));
  const std::size_t had = recorder.got.size();
  for (const Delivery& delivery : recorder.got)
    broker().acknowledge(consumer, delivery.tag);
  world.loop.run_for(300ms);
  EXPECT_THAT(recorder.got, SizeIs(had));
  world.close(consumer);
  EXPECT_TRUE(world.has_ready(queue, 30 - had));
}

TEST_P(BrokerConformance, says_nothing_more_once_closed) {
  const std::string queue = new_queue();
  const Filled filled(world, queue, 10);
  Recorder recorder;
  const auto consumer = broker().consume({.queue = queue, .prefetch = 5}, recorder);
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 5; }));
  broker().acknowledge(consumer, recorder.got[0].tag);
  world.close(consumer);
  EXPECT_TRUE(world.has_ready(queue, 9));
  broker().acknowledge(consumer, recorder.got[1].tag);  // void by now
  world.loop.run_for(100ms);
  EXPECT_THAT(recorder.got, SizeIs(5));
  EXPECT_TRUE(world.has_ready(queue, 9));
}

TEST_P(BrokerConformance, ignores_tags_that_make_no_sense) {
  const std::string queue = new_queue();
  const Filled filled(world, queue, 2);
  Recorder recorder;
  const auto consumer = broker().consume({.queue = queue}, recorder);
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 2; }));
  const auto tag = recorder.got[0].tag;
  broker().acknowledge(consumer, {.line = tag.line + 1000, .number = 1});
  broker().acknowledge(consumer, {.line = tag.line, .number = 77});
  broker().acknowledge(consumer, {.line = tag.line, .number = 0});
  broker().acknowledge(consumer, tag);
  broker().acknowledge(consumer, tag);
  broker().hand_back(consumer, tag);
  world.close(consumer);
  EXPECT_TRUE(world.has_ready(queue, 1));
  EXPECT_THAT(recorder.interruptions, IsEmpty());
}

TEST_P(BrokerConformance, keeps_consumers_apart) {
  const std::string one = new_queue("one");
  const std::string two = new_queue("two");
  Recorder of_one;
  Recorder of_two;
  const auto first = broker().consume({.queue = one, .prefetch = 3}, of_one);
  const auto second = broker().consume({.queue = two, .prefetch = 3}, of_two);
  const Filled filled_one(world, one, 3);
  const Filled filled_two(world, two, 6);
  ASSERT_TRUE(world.until([&] { return of_one.got.size() == 3 && of_two.got.size() == 3; }));
  broker().pause(first);
  for (const Delivery& delivery : of_two.got)
    broker().acknowledge(second, delivery.tag);
  ASSERT_TRUE(world.until([&] { return of_two.got.size() == 6; }));
  world.close(first);
  EXPECT_TRUE(world.has_ready(one, 3));
  world.close(second);
}

TEST_P(BrokerConformance, moves_a_message_and_leaves_it_where_it_cannot) {
  const std::string from = new_queue("from");
  const std::string to = new_queue("to");
  const Filled filled(world, from, 2);
  Recorder recorder;
  const auto consumer = broker().consume({.queue = from}, recorder);
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 2; }));
  std::optional<Sent> moved;
  std::optional<Sent> left;
  ports::dead_letter(broker(), consumer, recorder.got[0].tag, to, recorder.got[0].message,
                     [&](Sent sent) { moved = std::move(sent); });
  ports::dead_letter(broker(), consumer, recorder.got[1].tag, unique_name("nowhere"),
                     recorder.got[1].message, [&](Sent sent) { left = std::move(sent); });
  ASSERT_TRUE(world.until([&] { return moved && left; }));
  EXPECT_EQ(moved->fate, Fate::confirmed);
  EXPECT_EQ(left->fate, Fate::returned);
  world.close(consumer);
  EXPECT_TRUE(world.has_ready(from, 1));
  EXPECT_TRUE(world.has_ready(to, 1));
}

// What was acknowledged before the end of the broker stays acknowledged.
TEST_P(BrokerConformance, says_what_was_said_before_it_ends) {
  const std::string queue = new_queue();
  const Filled filled(world, queue, 100);
  Recorder recorder;
  const auto consumer = broker().consume({.queue = queue, .prefetch = 60}, recorder);
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 60; }));
  for (const Delivery& delivery : recorder.got)
    broker().acknowledge(consumer, delivery.tag);
  world.broker = nullptr;
  world.broker = GetParam().open(world.loop, Logger(world.log));
  EXPECT_TRUE(world.has_ready(queue, 40));
}

}  // namespace
}  // namespace holdfast::conformance
