#include <cstdlib>

#include "brokers/sqs/sqs.hpp"
#include "conformance/brokers/broker_conformance.hpp"

// Under ThreadSanitizer: the loop, the broker's own thread and that of HTTP, busy together.
namespace holdfast::conformance::sqs_threads_test {
namespace {

BrokerWorld::Open at_fauxqs() {
  return [](ports::Loop& loop, Logger log) {
    const char* const endpoint = std::getenv("HOLDFAST_SQS");
    return brokers::sqs::open(
        loop,
        {.at = {.region = "us-east-1"},
         .endpoint = endpoint ? endpoint : "",
         .credentials = {.given = {.access_key = "id", .secret_key = "secret"}},
         .create = true,
         .poll_wait = std::chrono::seconds(1),
         .connect_wait = 50ms},
        log);
  };
}

TEST(SqsThreads, publishes_and_consumes_at_once) {
  BrokerWorld world(at_fauxqs());
  const std::string queue = world.new_queue(ports::QueueWish::Kind::classic, "threads");
  Recorder recorder;
  const auto consumer = world.broker->consume({.queue = queue, .prefetch = 50}, recorder);
  constexpr int kMessages = 500;
  int confirmed = 0;
  for (int n = 0; n < kMessages; ++n) {
    world.broker->publish({.to = {.routing_key = queue}, .message = {.body = "x", .headers = {}}},
                          [&](const Sent& sent) { confirmed += sent.fate == Fate::confirmed; });
  }
  std::size_t settled = 0;
  std::size_t acknowledged = 0;
  const bool all_done = world.until([&] {
    for (; settled < recorder.got.size(); ++settled) {
      const auto tag = recorder.got[settled].tag;
      if (settled % 10 == 3) {
        world.broker->hand_back(consumer, tag);
      } else {
        world.broker->acknowledge(consumer, tag);
        ++acknowledged;
      }
    }
    return acknowledged == kMessages;
  });
  EXPECT_TRUE(all_done) << acknowledged;
  EXPECT_EQ(confirmed, kMessages);
  world.broker.reset();  // in the middle of a poll
}

TEST(SqsThreads, ends_at_any_time) {
  for (int round = 0; round < 15; ++round) {
    BrokerWorld world(at_fauxqs());
    Recorder recorder;
    const auto consumer = world.broker->consume({.queue = "holdfast-test-ends"}, recorder);
    world.broker->open({.queues = {{.name = "holdfast-test-ends"}}}, [](const auto&) {});
    world.broker->publish(
        {.to = {.routing_key = "holdfast-test-ends"}, .message = {.body = "x", .headers = {}}},
        [](const Sent&) {});
    world.loop.run_for(std::chrono::milliseconds(round * 3));
    if (round % 3 == 0) world.broker->close(consumer, [] {});
  }
}

}  // namespace
}  // namespace holdfast::conformance::sqs_threads_test
