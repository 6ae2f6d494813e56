#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>

#include "brokers/rabbitmq/rabbitmq.hpp"
#include "conformance/brokers/broker_conformance.hpp"

// Run by tests/support/rabbitmq.py, which says where the broker is.
namespace holdfast::conformance::rabbitmq_conformance_test {
namespace {

std::string management_url() {
  const char* const url = std::getenv("HOLDFAST_RABBITMQ_MANAGEMENT");
  EXPECT_TRUE(url) << "HOLDFAST_RABBITMQ_MANAGEMENT is not set: rabbitmq.py run --management";
  return url ? url : "";
}

BrokerKind rabbitmq_kind(std::string name, ports::QueueWish::Kind queues,
                         Duration heartbeat = brokers::rabbitmq::Options().heartbeat) {
  return {.name = std::move(name),
          .open =
              [heartbeat](ports::Loop& loop, Logger log) {
                const char* const url = std::getenv("HOLDFAST_RABBITMQ");
                const auto at = brokers::rabbitmq::parse_location(url ? url : "");
                EXPECT_TRUE(at) << "HOLDFAST_RABBITMQ is not set: tests/support/rabbitmq.py run";
                return brokers::rabbitmq::open(
                    loop,
                    {.at = at.value_or(brokers::rabbitmq::Location()),
                     .management = management_url(),
                     .heartbeat = heartbeat,
                     .connect_timeout = std::chrono::seconds(20)},  // on a busy machine
                    log);
              },
          .queues = queues};
}

INSTANTIATE_TEST_SUITE_P(
    RabbitMq, BrokerConformance,
    ::testing::Values(rabbitmq_kind("RabbitMqClassic", ports::QueueWish::Kind::classic),
                      rabbitmq_kind("RabbitMqQuorum", ports::QueueWish::Kind::quorum)),
    name_of_broker);

// What only RabbitMQ has. Without heartbeats: they would wake a line that has gone to sleep.
class RabbitMqOnly : public ::testing::Test {
 protected:
  static BrokerWorld::Open open() {
    return rabbitmq_kind("", ports::QueueWish::Kind::classic, Duration::zero()).open;
  }
  RabbitMqOnly() : world(open()) {}

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

// As of a queue without a leader, of which the broker says that it has neither.
TEST_F(RabbitMqOnly, is_sure_of_a_queue_that_has_messages_or_a_consumer) {
  const auto queue = world.new_queue(ports::QueueWish::Kind::quorum);
  EXPECT_FALSE(world.depth(queue)->is_sure);
  Recorder recorder;
  const auto consumer = world.broker->consume({.queue = queue}, recorder);
  EXPECT_TRUE(world.until([&] { return world.depth(queue)->is_sure; }));
  EXPECT_EQ(world.depth(queue)->ready, 0U);
  world.close(consumer);
  EXPECT_EQ(world.publish(queue, "one").fate, ports::Fate::confirmed);
  EXPECT_TRUE(world.has_ready(queue, 1));
  EXPECT_TRUE(world.depth(queue)->is_sure);
}

TEST_F(RabbitMqOnly, finds_exchanges) {
  for (const auto& [name, is_there] : {std::pair("amq.direct", true), std::pair("nope", false)}) {
    std::optional<Result<bool>> answer;
    world.broker->find_exchange(name, [&](Result<bool> found) { answer.emplace(found); });
    ASSERT_TRUE(world.until([&] { return answer.has_value(); }));
    EXPECT_EQ(answer->value_or(!is_there), is_there) << name;
  }
}

TEST_F(RabbitMqOnly, lists_more_queues_than_a_page_has) {
  const std::string name = BrokerWorld::unique_name("many");
  ports::Topology topology;
  for (int number = 0; number < 510; ++number)
    topology.queues.push_back({.name = name + "-" + std::to_string(number)});
  ASSERT_TRUE(world.make_sure(std::move(topology)));
  const auto listed = world.list_queues(name + "-*");
  ASSERT_TRUE(listed) << listed.error().text();
  EXPECT_EQ(listed->size(), 510U);
  EXPECT_TRUE(std::ranges::is_sorted(*listed, {}, &ports::QueueStatus::name));
  EXPECT_EQ(world.list_queues(name + "-50?")->size(), 10U);
}

TEST_F(RabbitMqOnly, says_who_may_not_list_queues_and_what_is_missing) {
  const char* const url = std::getenv("HOLDFAST_RABBITMQ");
  auto at = brokers::rabbitmq::parse_location(url ? url : "");
  ASSERT_TRUE(at);
  at->password = "planted";
  BrokerWorld other([&](ports::Loop& loop, Logger log) {
    return brokers::rabbitmq::open(loop, {.at = *at, .management = management_url()}, log);
  });
  const auto listed = other.list_queues("*");
  ASSERT_FALSE(listed);
  for (const std::string& part :
       {management_url(), std::string("guest"), std::string("management")})
    EXPECT_NE(listed.error().message.find(part), std::string::npos) << listed.error().message;
  EXPECT_EQ(listed.error().message.find("planted"), std::string::npos);
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

// All of it was read at once, so nothing more comes from the broker that would wake the line.
TEST_F(RabbitMqOnly, P4_goes_on_with_what_it_has_read_already) {
  const auto queue = world.new_queue(ports::QueueWish::Kind::classic);
  std::vector<ports::Outgoing> all(40);
  for (ports::Outgoing& one : all)
    one = {.to = {.routing_key = queue}, .message = {.body = std::string(100, 'x'), .headers = {}}};
  ASSERT_EQ(world.publish_all(std::move(all)).size(), 40U);
  Recorder recorder;
  const auto consumer =
      world.broker->consume({.queue = queue, .prefetch = 40, .most_bytes = 400}, recorder);
  world.loop.run_for(std::chrono::milliseconds(200));  // all of it is at hand
  for (std::size_t done = 0; done < 40; ++done) {
    ASSERT_TRUE(world.until([&] { return recorder.got.size() > done; })) << done;
    world.broker->acknowledge(consumer, recorder.got[done].tag);
  }
  world.close(consumer);
}

TEST_F(RabbitMqOnly, is_drained_when_less_has_come_than_may) {
  const auto queue = world.new_queue(ports::QueueWish::Kind::quorum);
  world.publish(queue, "one");
  Recorder recorder;
  const auto consumer = world.broker->consume({.queue = queue, .prefetch = 10}, recorder);
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 1; }));
  bool drained = false;
  world.broker->drain(consumer, [&] { drained = true; });
  ASSERT_TRUE(world.until([&] { return drained; }));
  world.close(consumer);
}

// P5: what was withheld while the name was cancelled. If the connection is lost, it stays gone.
TEST_F(RabbitMqOnly, P5_writes_acknowledgements_again_after_its_prefetch_was_lowered) {
  const auto queue = world.new_queue(ports::QueueWish::Kind::quorum);
  for (int number = 0; number < 12; ++number)
    world.publish(queue, "x");
  Recorder recorder;
  const auto consumer = world.broker->consume({.queue = queue, .prefetch = 8}, recorder);
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 8; }));
  world.broker->set_prefetch(consumer, 1);
  for (std::size_t done = 0; done < 10; ++done) {
    ASSERT_TRUE(world.until([&] { return recorder.got.size() > done; })) << done;
    world.broker->acknowledge(consumer, recorder.got[done].tag);
  }
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 11; }));
  world.broker.reset();
  BrokerWorld after(open());
  EXPECT_TRUE(after.has_ready(queue, 2));
}

// Acknowledges what comes at once, so that always more is on its way.
class Greedy final : public ports::Receiver {
 public:
  void received(std::vector<Delivery> deliveries) override {
    count += deliveries.size();
    for (const Delivery& delivery : deliveries)
      broker->acknowledge(consumer, delivery.tag);
  }
  void interrupted(const Error&) override {}
  void consuming() override {}
  void refused(const Error&) override {}

  ports::Broker* broker = nullptr;
  ports::ConsumerId consumer = 0;
  std::size_t count = 0;
};

// P5
TEST_F(RabbitMqOnly, P5_drains_without_returning_what_is_on_its_way) {
  constexpr std::size_t kMessages = 3000;
  const auto queue = world.new_queue(ports::QueueWish::Kind::quorum);
  std::vector<ports::Outgoing> all(kMessages);
  for (ports::Outgoing& one : all)
    one = {.to = {.routing_key = queue}, .message = {.body = "x", .headers = {}}};
  ASSERT_EQ(world.publish_all(std::move(all)).size(), kMessages);
  std::size_t count = 0;
  for (int time = 0; time < 4; ++time) {
    Greedy greedy;
    greedy.broker = world.broker.get();
    greedy.consumer = world.broker->consume({.queue = queue, .prefetch = 200}, greedy);
    ASSERT_TRUE(world.until([&] { return greedy.count >= 300; }));
    bool drained = false;
    world.broker->drain(greedy.consumer, [&] { drained = true; });
    ASSERT_TRUE(world.until([&] { return drained; }));
    world.close(greedy.consumer);
    count += greedy.count;
  }
  ASSERT_LT(count, kMessages);
  for (const Delivery& delivery : world.take_out(queue, kMessages - count))
    ASSERT_FALSE(ports::number_of(delivery.message.headers, "x-delivery-count"));
}

}  // namespace
}  // namespace holdfast::conformance::rabbitmq_conformance_test
