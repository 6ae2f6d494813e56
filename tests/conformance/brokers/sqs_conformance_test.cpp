#include <cstdlib>

#include "brokers/sqs/sqs.hpp"
#include "conformance/brokers/broker_conformance.hpp"

// N10: SQS as another broker. Run by tests/support/sqs.py, which says where fauxqs is.
namespace holdfast::conformance {
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

}  // namespace
}  // namespace holdfast::conformance
