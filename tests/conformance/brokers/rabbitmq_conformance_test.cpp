#include <cstdlib>

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

}  // namespace
}  // namespace holdfast::conformance::rabbitmq_conformance_test
