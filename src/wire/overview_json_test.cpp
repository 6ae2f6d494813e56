#include "wire/overview_json.hpp"

#include <gtest/gtest.h>

namespace holdfast::wire::overview_json_test {
namespace {

using namespace std::chrono_literals;

TEST(OverviewJson, reads_statistics) {
  const auto stats = read_stats(R"({"version":"0.1.0","started":"2026-11-16T03:00:00Z",
    "uptime_seconds":86.5,"queues":[{"name":"mail","paused":true,"tasks":{"pending":12,"running":4,
    "retrying":1,"succeeded":980,"failed":3,"dead":2,"canceled":0},"oldest_due_age_seconds":3.25,
    "rates":{"1m":{"succeeded":16.2,"failed":0,"retried":4e-1,"dead":0,"timeouts":0,"attempts":17},
    "5m":{},"15m":{}}}],"breakers":[{"dependency":"smtp","state":"open","retry_in_seconds":12.5}],
    "brokers":[{"broker":"amqp://mq/%2f","name":"RabbitMQ","connected":false,"text":"is away"}],
    "alerts":[{"alert":"retry_rate","state":"firing","value":0.35,"text":"35%"}],"checks":[],
    "expiring":[{"state":"dead","count":17,"from":"2026-11-17T03:00:00Z"}],
    "store":{"kind":"sqlite","batches":4021,"requests_per_batch":3.7}})");
  ASSERT_TRUE(stats) << stats.error().text();
  EXPECT_EQ(stats->version, "0.1.0");
  EXPECT_EQ(stats->uptime, 86500ms);
  ASSERT_EQ(stats->queues.size(), 1U);
  const QueueNow& queue = stats->queues[0];
  EXPECT_EQ(queue.name, "mail");
  EXPECT_TRUE(queue.paused);
  EXPECT_EQ(queue.waiting(), 13U);
  EXPECT_EQ(queue.count(TaskState::dead), 2U);
  EXPECT_EQ(queue.count(TaskState::succeeded), 980U);
  EXPECT_EQ(queue.oldest_due_age, 3250ms);
  EXPECT_EQ(queue.rates, (RatesNow{.succeeded = 16.2, .retried = 0.4}));
  EXPECT_EQ(stats->breakers, (std::vector<BreakerNow>{{"smtp", "open"}}));
  EXPECT_EQ(stats->brokers, (std::vector<BrokerNow>{{"RabbitMQ", "is away"}}));
  EXPECT_EQ(stats->alerts, (std::vector<AlertNow>{{"retry_rate", "35%"}}));
  ASSERT_EQ(stats->expiring.size(), 1U);
  EXPECT_EQ(stats->expiring[0].count, 17U);
}

TEST(OverviewJson, reads_statistics_of_a_server_that_tells_less) {
  const auto stats = read_stats(R"({"queues":[{"name":"q","tasks":{}}]})");
  ASSERT_TRUE(stats) << stats.error().text();
  EXPECT_FALSE(stats->queues[0].rates);
}

TEST(OverviewJson, reads_groups_with_and_without_a_trend) {
  const auto groups = read_groups_now(R"({"groups":[
    {"id":"92ab5f0c11d3e844","state":"dead","count":7,"first_seen":"2026-11-16T03:00:00Z",
     "last_seen":"2026-11-16T04:00:00Z","example":"no","trend":[0,3,4],"types":[{"name":"t"}]},
    {"id":"00","state":"failed","count":1}],"next":"x"})");
  ASSERT_TRUE(groups) << groups.error().text();
  ASSERT_EQ(groups->size(), 2U);
  EXPECT_EQ((*groups)[0].trend, (std::vector<std::uint64_t>{0, 3, 4}));
  EXPECT_EQ((*groups)[0].last_seen - (*groups)[0].first_seen, 1h);
  EXPECT_EQ((*groups)[1].state, TaskState::failed);
  EXPECT_TRUE((*groups)[1].trend.empty());
}

TEST(OverviewJson, reads_operations) {
  const auto operations = read_operations_now(R"({"operations":[{"id":"01J","action":"replay",
    "state":"waiting","query":"group:92ab","by":"alice","why":null,"options":{"canary":true},
    "stage":{"number":1},"progress":{"done":3,"refused":1,"succeeded":2,"failed":0,"total":9}}]})");
  ASSERT_TRUE(operations) << operations.error().text();
  ASSERT_EQ(operations->size(), 1U);
  const OperationNow& one = (*operations)[0];
  EXPECT_EQ(one.progress, (OperationNow::Progress{3, 1, 2, 0, 9}));
  EXPECT_FALSE(one.has_ended());
  EXPECT_EQ(one.by, "alice");
}

TEST(OverviewJson, says_what_it_cannot_read) {
  EXPECT_EQ(read_stats("{}").error().code, ErrorCode::corrupt);
  EXPECT_EQ(read_stats(R"({"queues":[{"name":"q","tasks":{"dead":"x"}}]})").error().code,
            ErrorCode::corrupt);
  EXPECT_EQ(read_groups_now("<html>").error().code, ErrorCode::corrupt);
  EXPECT_FALSE(
      read_stats(R"({"queues":[{"name":"q","tasks":{},"rates":{"1m":{"succeeded":"much"}}}]})"));
}

TEST(OverviewJson, writes_what_it_has_read) {
  std::string out;
  JsonWriter writer(out);
  const QueueNow queue{.name = "q", .tasks = {1, 2, 3, 4, 5, 6, 7}, .oldest_due_age = 1500ms};
  write(writer, queue);
  EXPECT_EQ(out,
            R"({"name":"q","paused":false,"tasks":{"pending":1,"running":2,"retrying":3,)"
            R"("succeeded":4,"failed":5,"dead":6,"canceled":7},"oldest_due_age_seconds":1.5})");
}

}  // namespace
}  // namespace holdfast::wire::overview_json_test
