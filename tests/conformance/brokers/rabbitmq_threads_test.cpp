#include <cstdlib>

#include "brokers/rabbitmq/rabbitmq.hpp"
#include "conformance/brokers/broker_conformance.hpp"
#include "support/cutting_proxy.hpp"

// Under ThreadSanitizer: the loop and both threads, busy together, while connections are cut.
namespace holdfast::conformance::rabbitmq_threads_test {
namespace {

brokers::rabbitmq::Options options() {
  const char* const url = std::getenv("HOLDFAST_RABBITMQ");
  return {.at = brokers::rabbitmq::parse_location(url ? url : "").value(), .connect_wait = 50ms};
}

BrokerWorld::Open through(std::uint16_t port) {
  return [port](ports::Loop& loop, Logger log) {
    auto changed = options();
    changed.at.port = port;
    return brokers::rabbitmq::open(loop, changed, log);
  };
}

TEST(RabbitMqThreads, publishes_and_consumes_while_connections_are_cut) {
  testing::CuttingProxy proxy(options().at.port);
  BrokerWorld world(through(proxy.port()));
  const std::string queue = world.new_queue(ports::QueueWish::Kind::classic, "threads");
  Recorder recorder;
  const auto consumer = world.broker->consume({.queue = queue, .prefetch = 50}, recorder);
  constexpr int kRounds = 4;
  constexpr int kEach = 500;
  int answered = 0;
  int confirmed = 0;
  std::size_t settled = 0;
  for (int round = 1; round <= kRounds; ++round) {
    for (int n = 0; n < kEach; ++n) {
      world.broker->publish({.to = {.routing_key = queue}, .message = {.body = "x", .headers = {}}},
                            [&](const Sent& sent) {
                              ++answered;
                              confirmed += sent.fate == Fate::confirmed ? 1 : 0;
                            });
    }
    const auto settle = [&] {
      for (; settled < recorder.got.size(); ++settled) {
        const auto tag = recorder.got[settled].tag;
        if (settled % 10 == 3)
          world.broker->hand_back(consumer, tag);
        else
          world.broker->acknowledge(consumer, tag);
      }
      return answered >= round * kEach - kEach / 2;
    };
    ASSERT_TRUE(world.until(settle));
    proxy.cut();
    ASSERT_TRUE(world.until([&] { return settle() && answered == round * kEach; }));
  }
  EXPECT_GE(recorder.got.size(), 1U);
  EXPECT_GE(confirmed, 1);
  world.broker.reset();  // in the middle of it
}

TEST(RabbitMqThreads, ends_at_any_time) {
  for (int round = 0; round < 20; ++round) {
    BrokerWorld world(through(options().at.port));
    Recorder recorder;
    (void)world.broker->consume({.queue = "holdfast-test.none"}, recorder);
    world.broker->open({.queues = {{.name = "holdfast-test.ends"}}}, [](const auto&) {});
    world.broker->publish(
        {.to = {.routing_key = "holdfast-test.ends"}, .message = {.body = "x", .headers = {}}},
        [](const Sent&) {});
    world.loop.run_for(std::chrono::milliseconds(round));
  }
}

}  // namespace
}  // namespace holdfast::conformance::rabbitmq_threads_test
