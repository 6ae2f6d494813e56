#include "seeing/metrics.hpp"

#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/testing/fake_clock.hpp>

#include "seeing/seeing_testing.hpp"
#include "seeing/stats.hpp"

namespace holdfast::seeing::metrics_test {
namespace {

using core::Event;
using core::State;
using ::testing::HasSubstr;
using testing::new_task;
using ::testing::Not;
using testing::record;
using testing::transition;
using namespace std::chrono_literals;

struct MetricsTest : ::testing::Test {
  holdfast::testing::FakeClock clock;
  Watch watch{clock, {.store = "redis://user:planted@host"}};
  ports::Count::Answer queues;
  Breaker breaker{{.name = "api"}, clock};

  void dead() {
    const ports::TaskRecord task = record();
    watch.moved({.task = task, .transition = transition(State::dead, Event::error)});
  }
  std::string text() {
    return metrics_text({.watch = watch, .queues = queues, .breakers = {&breaker}});
  }
  std::string stats() { return stats_json(watch, queues, {&breaker}); }
};

TEST_F(MetricsTest, has_what_was_counted) {  // T9
  watch.submitted(TaskId(), new_task());
  dead();
  watch.stored(3);
  watch.answered("GET", "/v1/tasks", 200);
  watch.answered("GET", "/v1/tasks", 200);
  watch.answered("BREW", "", 404);
  const std::string out = text();
  for (const char* line : {
           "# TYPE holdfast_tasks_submitted_total counter\n"
           "holdfast_tasks_submitted_total{queue=\"q\",type=\"t\"} 1\n",
           "holdfast_tasks_dead_total{queue=\"q\",type=\"t\",reason=\"out_of_attempts\"} 1\n",
           "holdfast_store_batch_size_bucket{le=\"2\"} 0\n",
           "holdfast_store_batch_size_bucket{le=\"4\"} 1\n",
           "holdfast_store_batch_size_bucket{le=\"+Inf\"} 1\n",
           "holdfast_http_requests_total{method=\"GET\",route=\"/v1/tasks\",status=\"200\"} 2\n",
           "holdfast_http_requests_total{method=\"\",route=\"\",status=\"404\"} 1\n",
           "holdfast_breaker_state{dependency=\"api\",state=\"closed\"} 1\n",
           "holdfast_breaker_state{dependency=\"api\",state=\"open\"} 0\n",
           "holdfast_alert_firing{alert=\"dead_letters\"} 0\n",
           "holdfast_build_info{version=\"",
       }) {
    EXPECT_THAT(out, HasSubstr(line));
  }
}

TEST_F(MetricsTest, tells_the_depth_and_age_of_queues) {
  queues.push_back({.queue = "mail", .by_state = {5}, .oldest_due = clock.wall_now()});
  queues.push_back({.queue = "later", .paused = true, .oldest_due = clock.wall_now() + 1h});
  clock.advance(90s);
  const std::string out = text();
  EXPECT_THAT(out, HasSubstr("holdfast_queue_tasks{queue=\"mail\",state=\"pending\"} 5\n"));
  EXPECT_THAT(out, HasSubstr("holdfast_queue_oldest_due_age_seconds{queue=\"mail\"} 90\n"));
  EXPECT_THAT(out, HasSubstr("holdfast_queue_oldest_due_age_seconds{queue=\"later\"} 0\n"));
  EXPECT_THAT(out, HasSubstr("holdfast_queue_paused{queue=\"later\"} 1\n"));
}

TEST_F(MetricsTest, shows_only_so_many_queues) {
  for (std::size_t i = 0; i < Tally::kMostSeries + 50; ++i)
    queues.push_back({.queue = "q" + std::to_string(i), .by_state = {1}});
  const std::string out = text();
  EXPECT_THAT(out, HasSubstr("holdfast_queue_tasks{queue=\"other\",state=\"pending\"} 50\n"));
  EXPECT_THAT(out, Not(HasSubstr("{queue=\"q249\"")));
}

TEST_F(MetricsTest, tell_of_brokers_as_one_however_many_users_are_there) {  // T9
  using ports::BrokerWay;
  const BrokerState::About about{.place = "amqp://mq/%2f", .name = "RabbitMQ at mq:5672"};
  const auto one = watch.brokers().add(about);
  const auto other = watch.brokers().add(about);
  EXPECT_THAT(text(), HasSubstr("holdfast_broker_connected{broker=\"amqp://mq/%2f\"} 0\n"));
  one->connected(BrokerWay::consume);
  other->connected(BrokerWay::consume);
  EXPECT_THAT(text(), HasSubstr("holdfast_broker_connected{broker=\"amqp://mq/%2f\"} 1\n"));
  one->disconnected(BrokerWay::consume, {}, true);
  other->blocked(true);
  watch.expect_publishing("calm");
  watch.publish_retried("mail", 3);
  watch.publish_retried("mail", 2);
  watch.brokers().set_depth("amqp://mq/%2f", "mail.dlq", 119762);
  const std::string out = text();
  for (const char* line :
       {"holdfast_broker_connected{broker=\"amqp://mq/%2f\"} 0\n",
        "holdfast_broker_blocked{broker=\"amqp://mq/%2f\"} 1\n",
        "holdfast_broker_connections_lost_total{broker=\"amqp://mq/%2f\"} 1\n",
        "holdfast_broker_publish_retries_total{queue=\"calm\"} 0\n",
        "holdfast_broker_publish_retries_total{queue=\"mail\"} 5\n",
        "holdfast_dead_letter_queue_messages{broker=\"amqp://mq/%2f\",queue=\"mail.dlq\"} "
        "119762\n"}) {
    EXPECT_THAT(out, HasSubstr(line));
  }
  clock.advance(BrokerStates::kDepthLasts + 1s);
  EXPECT_THAT(text(), Not(HasSubstr("mail.dlq")));
}

TEST_F(MetricsTest, tell_of_recoveries_that_the_configuration_has) {  // V9, T9
  const std::array<std::string_view, 2> outcomes = {"caught up", "failed"};
  watch.recoveries().expect({{"nightly", "app.dlq"}}, outcomes);
  watch.recoveries().started("nightly");
  watch.recoveries().ended("nightly", "caught up", {7, 1, 2});
  watch.recoveries().started("nightly");
  watch.recoveries().ended("gone", "empty", {1, 1, 1});
  std::string out = text();
  for (const char* line :
       {"holdfast_recovery_runs_started_total{recovery=\"nightly\",queue=\"app.dlq\"} 2\n",
        "holdfast_recovery_runs_ended_total{recovery=\"nightly\",queue=\"app.dlq\",outcome="
        "\"caught_up\"} 1\n",
        "holdfast_recovery_runs_ended_total{recovery=\"nightly\",queue=\"app.dlq\",outcome="
        "\"failed\"} 0\n",
        "holdfast_recovery_messages_total{recovery=\"nightly\",queue=\"app.dlq\",outcome="
        "\"recovered\"} 7\n",
        "holdfast_recovery_messages_total{recovery=\"nightly\",queue=\"app.dlq\",outcome="
        "\"failed\"} 1\n",
        "holdfast_recovery_messages_total{recovery=\"nightly\",queue=\"app.dlq\",outcome="
        "\"skipped\"} 2\n"}) {
    EXPECT_THAT(out, HasSubstr(line));
  }
  EXPECT_THAT(out, Not(HasSubstr("gone")));
  watch.recoveries().expect({{"nightly", "other.dlq"}}, outcomes);
  out = text();
  EXPECT_THAT(out, HasSubstr("holdfast_recovery_runs_started_total{recovery=\"nightly\",queue="
                             "\"other.dlq\"} 0\n"));
  EXPECT_THAT(out, Not(HasSubstr("app.dlq")));
}

TEST_F(MetricsTest, the_page_names_every_metric_and_no_other) {
  std::ifstream file(HOLDFAST_SOURCE_DIR "/docs/metrics.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  std::size_t rows = 0;
  for (std::size_t at = page.find("\n| `"); at != std::string::npos;
       at = page.find("\n| `", at + 1))
    ++rows;
  EXPECT_EQ(rows, metric_infos().size());
  for (const MetricInfo& info : metric_infos()) {
    const std::string row = "| `" + std::string(info.name) + "` | " + std::string(info.type) +
                            " | " + std::string(info.labels) + " | " + std::string(info.help) +
                            " |\n";
    EXPECT_THAT(page, HasSubstr(row));
  }
}

TEST_F(MetricsTest, stats_have_rates_of_the_last_minutes) {  // T9
  queues.push_back({.queue = "q", .by_state = {0, 0, 0, 0, 0, 6}});
  for (int i = 0; i < 6; ++i) {
    clock.advance(10s);
    dead();
    watch.sample();
  }
  EXPECT_THAT(stats(), HasSubstr(R"("1m":{"succeeded":0,"failed":0,"retried":0,"dead":0.1,)"));
  for (int i = 0; i < 24; ++i) {
    clock.advance(10s);
    watch.sample();
  }
  const std::string later = stats();
  EXPECT_THAT(later, HasSubstr(R"("1m":{"succeeded":0,"failed":0,"retried":0,"dead":0,)"));
  EXPECT_THAT(later, HasSubstr(R"("5m":{"succeeded":0,"failed":0,"retried":0,"dead":0.02,)"));
}

TEST_F(MetricsTest, stats_sum_up_all_queues) {
  queues.push_back({.queue = "q", .by_state = {1, 2, 3}});
  queues.push_back({.queue = "mail", .by_state = {10, 0, 0, 0, 0, 7}});
  for (int i = 0; i < 3; ++i)
    watch.submitted(TaskId(), new_task("t", i == 0 ? "q" : "mail"));
  dead();
  clock.advance(30s);
  const std::string out = stats();
  EXPECT_THAT(out, HasSubstr(R"("totals":{"tasks":{"pending":11,"running":2,"retrying":3,)"
                             R"("succeeded":0,"failed":0,"dead":7,"canceled":0},"rates":{"1m":)"));
  EXPECT_THAT(out, HasSubstr(R"("submitted":0.1,"attempts":0.03333333333333333},"5m":)"));
}

TEST_F(MetricsTest, stats_have_every_check_wrong_or_not) {  // T9
  EXPECT_THAT(stats(), HasSubstr(R"("checks":[{"alert":"dead_letters","value":0,"threshold":1,)"
                                 R"("firing":false},{"alert":"retry_rate")"))
      << "before anybody has looked";
  AlertRule rule({.retry_rate = 0});
  for (const std::uint64_t deaths : {0, 3})
    static_cast<void>(
        rule.look({.totals = {.attempts = 100, .retried = 0, .dead = deaths}, .oldest = 90s},
                  clock.now(), clock.wall_now()));
  watch.set_alerts(rule.firing(), rule.checks());
  EXPECT_THAT(
      stats(),
      HasSubstr(R"("checks":[{"alert":"dead_letters","value":3,"threshold":1,"firing":true},)"
                R"({"alert":"retry_rate","value":0,"threshold":null,"firing":false},)"
                R"({"alert":"timeout_rate","value":0,"threshold":0.05,"firing":false},)"
                R"({"alert":"backlog_age","value":90,"threshold":600,"firing":false}])"));
}

TEST_F(MetricsTest, tell_what_will_be_removed_and_what_was) {  // N9
  EXPECT_THAT(stats(), HasSubstr(R"("expiring":[],)"));
  EXPECT_THAT(text(), HasSubstr("holdfast_expiring_tasks{state=\"dead\"} 0\n"));
  watch.expiring({core::State::dead, 17, testing::kNow + 1h});
  watch.expired({core::State::failed, 3, 2});
  watch.not_spilled(core::State::failed);
  EXPECT_THAT(stats(),
              HasSubstr(R"("expiring":[{"state":"dead","count":17,"from":"2026-11-16T01:00:00)"));
  const std::string out = text();
  EXPECT_THAT(out, HasSubstr("holdfast_expiring_tasks{state=\"dead\"} 17\n"));
  EXPECT_THAT(out, HasSubstr("holdfast_expired_tasks_total{state=\"failed\"} 3\n"));
  EXPECT_THAT(out, HasSubstr("holdfast_spilled_tasks_total{state=\"failed\"} 2\n"));
  EXPECT_THAT(out, HasSubstr("holdfast_spill_failures_total{state=\"failed\"} 1\n"));
}

TEST_F(MetricsTest, stats_tell_of_breakers_alerts_and_the_store_without_its_password) {
  watch.set_alerts({{.kind = AlertKind::backlog_age, .value = 5}}, {});
  breaker.force_open();
  clock.advance(10s);
  const std::string out = stats();
  EXPECT_THAT(out, HasSubstr(R"({"dependency":"api","state":"open","retry_in_seconds":20})"));
  EXPECT_THAT(out, HasSubstr(R"("alerts":[{"alert":"backlog_age","state":"firing")"));
  EXPECT_THAT(out, HasSubstr(R"("store":{"kind":"redis")"));
  EXPECT_THAT(out, HasSubstr(R"("uptime_seconds":10)"));
  EXPECT_THAT(out, Not(HasSubstr("planted")));
}

}  // namespace
}  // namespace holdfast::seeing::metrics_test
