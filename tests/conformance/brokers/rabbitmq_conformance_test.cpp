#include <chrono>
#include <cstdlib>
#include <optional>

#include "brokers/rabbitmq/rabbitmq.hpp"
#include "conformance/brokers/broker_conformance.hpp"

// Run by tests/support/rabbitmq.py, which says where the broker is.
namespace holdfast::conformance::rabbitmq_conformance_test {
namespace {

BrokerKind rabbitmq_kind(std::string name, ports::QueueWish::Kind queues) {
  return {.name = std::move(name),
          .open =
              [](ports::Loop& loop, Logger log) {
                const char* const url = std::getenv("HOLDFAST_RABBITMQ");
                const auto at = brokers::rabbitmq::parse_location(url ? url : "");
                EXPECT_TRUE(at) << "HOLDFAST_RABBITMQ is not set: tests/support/rabbitmq.py run";
                return brokers::rabbitmq::open(
                    loop, {.at = at.value_or(brokers::rabbitmq::Location())}, log);
              },
          .queues = queues};
}

INSTANTIATE_TEST_SUITE_P(
    RabbitMq, BrokerConformance,
    ::testing::Values(rabbitmq_kind("RabbitMqClassic", ports::QueueWish::Kind::classic),
                      rabbitmq_kind("RabbitMqQuorum", ports::QueueWish::Kind::quorum)),
    name_of_broker);

// What only RabbitMQ has.
class RabbitMqOnly : public ::testing::Test {
 protected:
  RabbitMqOnly() : world(rabbitmq_kind("", ports::QueueWish::Kind::classic).open) {}

  Result<ports::QueueFacts> inspect(const std::string& queue) {
    std::optional<Result<ports::QueueFacts>> answer;
    world.broker->inspect(
        queue, [&](Result<ports::QueueFacts> facts) { answer.emplace(std::move(facts)); });
    EXPECT_TRUE(world.until([&] { return answer.has_value(); }));
    return answer.value_or(ports::QueueFacts());
  }

  BrokerWorld world;
};

TEST_F(RabbitMqOnly, knows_which_queues_count_returns) {
  const auto classic = world.new_queue(ports::QueueWish::Kind::classic);
  EXPECT_EQ(inspect(classic)->kind, ports::QueueFacts::Kind::plain);
  const auto quorum = world.new_queue(ports::QueueWish::Kind::quorum);
  EXPECT_EQ(inspect(quorum)->kind, ports::QueueFacts::Kind::counts);
  EXPECT_EQ(inspect("nobody.has.it").error().code, ErrorCode::not_found);
  EXPECT_EQ(world.depth("nobody.has.it").error().code, ErrorCode::not_found);  // nor was it made
}

TEST_F(RabbitMqOnly, finds_exchanges) {
  for (const auto& [name, is_there] : {std::pair("amq.direct", true), std::pair("nope", false)}) {
    std::optional<Result<bool>> answer;
    world.broker->find_exchange(name, [&](Result<bool> found) { answer.emplace(found); });
    ASSERT_TRUE(world.until([&] { return answer.has_value(); }));
    EXPECT_EQ(answer->value_or(!is_there), is_there) << name;
  }
}

TEST_F(RabbitMqOnly, tells_at_once_that_it_may_not_consume) {
  Recorder recorder;
  const auto consumer = world.broker->consume({.queue = "nobody.has.it"}, recorder);
  ASSERT_TRUE(world.until([&] { return !recorder.refusals.empty(); }));
  EXPECT_EQ(recorder.refusals.front().code, ErrorCode::not_found);
  world.close(consumer);
}

// P4: 40 messages of 1 MiB, of which no more than 4 MiB may be here at a time, and one.
TEST_F(RabbitMqOnly, P4_takes_no_more_than_so_many_bytes) {
  const auto queue = world.new_queue(ports::QueueWish::Kind::classic);
  constexpr std::uint64_t kMiB = 1 << 20;
  std::vector<ports::Outgoing> all(40);
  for (ports::Outgoing& one : all)
    one = {.to = {.routing_key = queue},
           .message = {.body = std::string(kMiB, 'x'), .headers = {}}};
  ASSERT_EQ(world.publish_all(std::move(all)).size(), 40U);
  Recorder recorder;
  const auto consumer =
      world.broker->consume({.queue = queue, .prefetch = 40, .most_bytes = 4 * kMiB}, recorder);
  ASSERT_TRUE(world.until([&] { return recorder.got.size() >= 4; }));
  world.loop.run_for(std::chrono::milliseconds(500));
  EXPECT_LE(recorder.got.size(), 5U);
  for (std::size_t done = 0; done < 40; ++done) {
    ASSERT_TRUE(world.until([&] { return recorder.got.size() > done; })) << done;
    world.broker->acknowledge(consumer, recorder.got[done].tag);
  }
  world.close(consumer);
  EXPECT_TRUE(world.has_ready(queue, 0));
}

}  // namespace
}  // namespace holdfast::conformance::rabbitmq_conformance_test
