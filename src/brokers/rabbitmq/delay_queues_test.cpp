#include "brokers/rabbitmq/delay_queues.hpp"

#include <gtest/gtest.h>

namespace holdfast::brokers::rabbitmq::delay_queues_test {
namespace {

using namespace std::chrono_literals;

TEST(DelayQueues, round_waits_up_to_two_digits) {
  const auto wait = [](Duration asked) { return delay_queue("jobs", asked)->wait_ms; };
  EXPECT_EQ(wait(1ns), 100);
  EXPECT_EQ(wait(100ms), 100);
  EXPECT_EQ(wait(101ms), 110);
  EXPECT_EQ(wait(1s), 1000);
  EXPECT_EQ(wait(1234ms), 1300);
  EXPECT_EQ(wait(99'001ms), 100'000);
  EXPECT_EQ(wait(1h), 3'600'000);
  for (auto asked = 100ms; asked < 24h; asked += asked / 7 + 1ms) {
    EXPECT_GE(wait(asked), asked.count());
    EXPECT_LE(wait(asked), asked.count() * 11 / 10);
  }
}

TEST(DelayQueues, are_named_after_their_queue_and_lead_back_to_it) {
  const auto queue = delay_queue("jobs", 2s);
  ASSERT_TRUE(queue);
  EXPECT_EQ(queue->name, "jobs.retry.2000");
  const auto arguments = queue->arguments();
  EXPECT_EQ(ports::text_of(arguments, "x-dead-letter-exchange"), "");
  EXPECT_EQ(ports::text_of(arguments, "x-dead-letter-routing-key"), "jobs");
  EXPECT_EQ(ports::number_of(arguments, "x-message-ttl"), 2000);
  EXPECT_GE(*ports::number_of(arguments, "x-expires"), 2000 + 60 * 60 * 1000);
}

TEST(DelayQueues, refuse_what_the_broker_cannot_do) {
  EXPECT_EQ(delay_queue("jobs", 21 * 24h).error().code, ErrorCode::invalid_argument);
  EXPECT_LT(delay_queue("jobs", 20 * 24h)->expires_ms, std::int64_t{1} << 32);
  EXPECT_EQ(delay_queue(std::string(250, 'q'), 1s).error().code, ErrorCode::invalid_argument);
}

// A message never outlives its queue: what is published by the last declaration that still counts
// is delivered before the queue expires.
TEST(DelayQueues, are_declared_again_long_before_they_expire) {
  for (const Duration wait : {Duration(100ms), Duration(1h), Duration(20 * 24h)}) {
    const auto queue = delay_queue("jobs", wait).value();
    DelayQueues known;
    const SteadyTime declared{1000s};
    EXPECT_FALSE(known.is_fresh(queue, declared));
    known.declared(queue, declared);
    EXPECT_TRUE(known.is_fresh(queue, declared + 10min));
    const auto expires = declared + std::chrono::milliseconds(queue.expires_ms);
    auto last = declared;
    while (known.is_fresh(queue, last + 1min))
      last += 1min;
    EXPECT_LT(last + std::chrono::milliseconds(queue.wait_ms) + 30min, expires);
    known.forget(queue.name);
    EXPECT_FALSE(known.is_fresh(queue, declared));
  }
}

TEST(DelayQueues, leave_no_trace_and_take_none_that_is_not_theirs) {
  ports::Message message;
  message.headers = {{"x-death", ports::Field("what died")},
                     {"x-first-death-queue", ports::Field("jobs.retry.100")},
                     {"x-last-death-reason", ports::Field("expired")},
                     {"own", ports::Field("kept")}};
  ports::Message foreign = message;
  remove_trace_of_delay("jobs", message);
  EXPECT_EQ(message.headers, (ports::FieldTable{{"own", ports::Field("kept")}}));
  const auto before = foreign.headers;
  remove_trace_of_delay("job", foreign);
  EXPECT_EQ(foreign.headers, before);
}

}  // namespace
}  // namespace holdfast::brokers::rabbitmq::delay_queues_test
