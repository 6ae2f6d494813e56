#include "seeing/stats.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "seeing/readiness.hpp"
#include "seeing/seconds.hpp"
#include "wire/json_writer.hpp"

namespace holdfast::seeing {
namespace {

using namespace std::chrono_literals;
using wire::JsonWriter;

constexpr std::array<std::pair<std::string_view, Duration>, 3> kSpans = {
    {{"1m", 1min}, {"5m", 5min}, {"15m", 15min}}};

// In so many per second. `recent(span)`: what is known of the last so much time.
template <class Recent>
void write_rates(JsonWriter& writer, Recent recent) {
  writer.key("rates").begin_object();
  for (const auto& [name, span] : kSpans) {
    const auto [totals, took] = recent(span);
    // Of a server that has just started, a moment would say too much.
    const double over = std::max(seconds_of(took), 1.0);
    const auto rate = [&](std::string_view key, std::uint64_t count) {
      writer.key(key).number(static_cast<double>(count) / over);
    };
    writer.key(name).begin_object();
    rate("succeeded", totals.succeeded);
    rate("failed", totals.failed);
    rate("retried", totals.retried);
    rate("dead", totals.dead);
    rate("timeouts", totals.timeouts);
    rate("submitted", totals.submitted);
    rate("attempts", totals.attempts);
    writer.end_object();
  }
  writer.end_object();
}

void write_tasks(JsonWriter& writer, const ports::QueueCounts& queue) {
  writer.key("tasks").begin_object();
  for (std::size_t i = 0; i < queue.by_state.size(); ++i)
    writer.key(core::to_string(static_cast<core::State>(i))).number(queue.by_state[i]);
  writer.end_object();
}

void write_queue(JsonWriter& writer, const Watch& watch, const ports::QueueCounts& queue) {
  writer.begin_object().key("name").text(queue.queue).key("paused").boolean(queue.paused);
  write_tasks(writer, queue);
  const Duration age =
      queue.oldest_due ? std::max(watch.now() - *queue.oldest_due, Duration::zero()) : Duration();
  writer.key("oldest_due_age_seconds").number(seconds_of(age));
  write_rates(writer, [&](Duration span) { return watch.recent(queue.queue, span); });
  writer.end_object();
}

// Over all queues.
void write_totals(JsonWriter& writer, const Watch& watch, const ports::Count::Answer& queues) {
  ports::QueueCounts all;
  for (const ports::QueueCounts& queue : queues) {
    for (std::size_t i = 0; i < all.by_state.size(); ++i)
      all.by_state[i] += queue.by_state[i];
  }
  writer.key("totals").begin_object();
  write_tasks(writer, all);
  write_rates(writer, [&](Duration span) { return watch.recent(span); });
  writer.end_object();
}

void write_checks(JsonWriter& writer, const AlertChecks& checks) {
  writer.key("checks").begin_array();
  for (const AlertCheck& check : checks) {
    writer.begin_object().key("alert").text(to_string(check.kind)).key("value").number(check.value);
    writer.key("threshold");
    if (check.threshold) {
      writer.number(*check.threshold);
    } else {
      writer.null();
    }
    writer.key("firing").boolean(check.firing).end_object();
  }
  writer.end_array();
}

void write_expiring(JsonWriter& writer, const Watch& watch) {
  writer.key("expiring").begin_array();
  for (const auto& [state, retention] : watch.retentions()) {
    if (retention.expiring.count == 0) continue;
    writer.begin_object().key("state").word(core::to_string(state));
    writer.key("count").number(static_cast<std::uint64_t>(retention.expiring.count));
    writer.key("from").time(retention.expiring.from).end_object();
  }
  writer.end_array();
}

void write_brokers(JsonWriter& writer, const Watch& watch) {
  writer.key("brokers").begin_array();
  for (const BrokerSeen& broker : watch.brokers().all()) {
    writer.begin_object().key("broker").text(broker.about.place);
    writer.key("name").text(broker.about.name).key("connected").boolean(broker.is_connected);
    writer.key("blocked").boolean(broker.blocked_since.has_value());
    if (const auto problem = problem_of(broker)) {
      writer.key("since").time(problem->since).key("text").text(problem->text);
    }
    writer.end_object();
  }
  writer.end_array();
}

void write_store(JsonWriter& writer, const Watch& watch) {
  // No more of its URL: others have passwords in them.
  const std::string& url = watch.store();
  writer.key("store").begin_object().key("kind").text(url.substr(0, url.find(':')));
  writer.key("batches").number(watch.batches().count());
  const auto count = static_cast<double>(std::max<std::uint64_t>(watch.batches().count(), 1));
  writer.key("requests_per_batch").number(watch.batches().sum() / count).end_object();
}

}  // namespace

std::string stats_json(const Watch& watch, const ports::Count::Answer& queues,
                       const std::vector<const Breaker*>& breakers) {
  std::string out;
  JsonWriter writer(out);
  writer.begin_object().key("version").text(version());
  writer.key("started")
      .time(watch.began())
      .key("uptime_seconds")
      .number(seconds_of(watch.uptime()));
  writer.key("queues").begin_array();
  for (const ports::QueueCounts& queue : queues)
    write_queue(writer, watch, queue);
  writer.end_array();
  write_totals(writer, watch, queues);
  writer.key("breakers").begin_array();
  for (const Breaker* breaker : breakers) {
    writer.begin_object().key("dependency").text(breaker->name());
    writer.key("state").text(to_string(breaker->state()));
    writer.key("retry_in_seconds").number(seconds_of(breaker->retry_in())).end_object();
  }
  writer.end_array().key("alerts").begin_array();
  for (const Alert& alert : watch.firing())
    writer.raw(alert.json());
  writer.end_array();
  write_checks(writer, watch.checks());
  write_expiring(writer, watch);
  write_brokers(writer, watch);
  write_store(writer, watch);
  writer.end_object();
  return out;
}

}  // namespace holdfast::seeing
