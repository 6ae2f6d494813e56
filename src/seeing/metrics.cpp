#include "seeing/metrics.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <utility>

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include "core/utf8.hpp"

namespace holdfast::seeing {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

constexpr std::string_view kByType = "queue, type";

// The first of them are those of Counted, in its order.
constexpr auto kInfos = std::to_array<MetricInfo>({
    {"holdfast_tasks_submitted_total", "counter", kByType, "Tasks that were accepted."},
    {"holdfast_tasks_started_total", "counter", kByType, "Attempts that were begun."},
    {"holdfast_tasks_attempted_total", "counter", kByType,
     "Attempts that have ended, well or not: what shares of retries and timeouts are taken of."},
    {"holdfast_tasks_succeeded_total", "counter", kByType, "Tasks that succeeded."},
    {"holdfast_tasks_failed_total", "counter", kByType,
     "Tasks that were given up at once, since trying again cannot help."},
    {"holdfast_tasks_retried_total", "counter", kByType,
     "Attempts that failed or crashed, and are made again."},
    {"holdfast_tasks_timed_out_total", "counter", kByType, "Attempts that took too long."},
    {"holdfast_tasks_crashed_total", "counter", kByType, "Attempts that took their worker down."},
    {"holdfast_tasks_throttled_total", "counter", kByType,
     "Attempts that were told to come back later."},
    {"holdfast_tasks_put_off_total", "counter", kByType,
     "Attempts that were not made because a breaker was open."},
    {"holdfast_tasks_handed_back_total", "counter", kByType,
     "Tasks that were claimed and given back, with nothing spent."},
    {"holdfast_tasks_canceled_total", "counter", kByType, "Tasks that somebody took back."},
    {"holdfast_tasks_discarded_total", "counter", kByType, "Dead letters that nobody wants back."},
    {"holdfast_tasks_replayed_total", "counter", kByType, "Dead and failed tasks brought back."},
    {"holdfast_tasks_rescued_total", "counter", kByType,
     "Tasks whose worker was gone, or not heard of until the lease ended."},
    {"holdfast_tasks_dead_total", "counter", "queue, type, reason",
     "Tasks that became dead letters."},
    {"holdfast_task_run_seconds", "histogram", kByType, "How long attempts took."},
    {"holdfast_task_wait_seconds", "histogram", kByType,
     "From the time that a task was due to the start of its attempt."},
    {"holdfast_queue_tasks", "gauge", "queue, state", "Tasks in each state."},
    {"holdfast_queue_oldest_due_age_seconds", "gauge", "queue",
     "How long the task that waits longest has been due; 0 if none is."},
    {"holdfast_queue_paused", "gauge", "queue", "1 while the queue is paused."},
    {"holdfast_expiring_tasks", "gauge", "state",
     "Failed and dead tasks that will be removed, since nobody looks after them."},
    {"holdfast_expired_tasks_total", "counter", "state",
     "Failed and dead tasks that were removed when their time was over."},
    {"holdfast_spilled_tasks_total", "counter", "state",
     "Those that were written to a file before."},
    {"holdfast_spill_failures_total", "counter", "state",
     "How often that could not be done, so that they stayed."},
    {"holdfast_store_batch_size", "histogram", "",
     "Requests that were one batch, and one sync of the disk, for the store."},
    {"holdfast_breaker_state", "gauge", "dependency, state",
     "1 for the state that the breaker of a dependency is in."},
    {"holdfast_breaker_changes_total", "counter", "dependency, to",
     "How often the breaker of a dependency went to a state."},
    {"holdfast_broker_connected", "gauge", "broker",
     "1 while the broker can be reached, 0 while it cannot or nobody has connected yet."},
    {"holdfast_broker_blocked", "gauge", "broker",
     "1 while the broker takes no messages, being short of memory or disk."},
    {"holdfast_broker_connections_lost_total", "counter", "broker",
     "Connections to the broker that were up and were lost."},
    {"holdfast_broker_publish_retries_total", "counter", "queue",
     "Messages of a carried queue that were sent to its broker once more, having not been "
     "confirmed."},
    {"holdfast_dead_letter_queue_messages", "gauge", "broker, queue",
     "Messages that wait in a broker's dead-letter queue; absent while that cannot be read."},
    {"holdfast_recovery_runs_started_total", "counter", "recovery, queue",
     "Runs of a scheduled recovery that were begun."},
    {"holdfast_recovery_runs_ended_total", "counter", "recovery, queue, outcome",
     "Runs that have ended, by why: empty, caught_up, limit, idle, total, stall, asked or failed."},
    {"holdfast_recovery_messages_total", "counter", "recovery, queue, outcome",
     "Messages that runs have recovered, or kept as failed or skipped; what stays is counted by "
     "each run."},
    {"holdfast_alert_firing", "gauge", "alert", "1 while a built-in alert holds."},
    {"holdfast_http_requests_total", "counter", "method, route, status",
     "Requests that were answered; of those that no route took, method and route are empty."},
    {"holdfast_http_requests_in_progress", "gauge", "", "Requests that are being answered."},
    {"holdfast_http_connections", "gauge", "", "Connections that are open."},
    {"holdfast_event_readers", "gauge", "", "Clients that read the stream of events."},
    {"holdfast_build_info", "gauge", "version", "1, with the version of the server."},
    {"process_start_time_seconds", "gauge", "", "When the server started, in seconds since 1970."},
});

constexpr std::array<std::string_view, 7> kStates = {"pending", "running", "retrying", "succeeded",
                                                     "failed",  "dead",    "canceled"};

MetricType type_of(std::string_view word) {
  if (word == "counter") return MetricType::Counter;
  return word == "gauge" ? MetricType::Gauge : MetricType::Histogram;
}

// Spaces of our words do not belong into labels: "out of attempts" is "out_of_attempts".
std::string label_of(std::string_view word) {
  std::string label(word);
  std::ranges::replace(label, ' ', '_');
  return label;
}

ClientMetric labelled(const Labels& labels) {
  ClientMetric metric;
  for (const auto& [name, value] : labels)
    metric.label.push_back({std::string(name), std::string(value)});
  return metric;
}

template <std::size_t N>
ClientMetric histogram(const Histogram<N>& from, const Labels& labels) {
  ClientMetric metric = labelled(labels);
  std::uint64_t so_far = 0;
  for (std::size_t i = 0; i < N; ++i) {
    so_far += from.counts()[i];
    metric.histogram.bucket.push_back({so_far, from.bounds()[i]});
  }
  metric.histogram.sample_count = from.count();
  metric.histogram.sample_sum = from.sum();
  return metric;
}

// Collects families by name, in the order of the table.
class Text {
 public:
  void count(std::string_view name, double value, const Labels& labels = {}) {
    ClientMetric metric = labelled(labels);
    metric.counter.value = value;
    metric.gauge.value = value;  // the family knows which of the two it is
    families_[name].push_back(std::move(metric));
  }
  void add(std::string_view name, ClientMetric metric) {
    families_[name].push_back(std::move(metric));
  }

  [[nodiscard]] std::string text() {
    std::vector<MetricFamily> families;
    for (const MetricInfo& info : kInfos) {
      const auto found = families_.find(info.name);
      if (found == families_.end()) continue;
      families.push_back({.name = std::string(info.name),
                          .help = std::string(info.help),
                          .type = type_of(info.type),
                          .metric = std::move(found->second)});
    }
    return prometheus::TextSerializer().Serialize(families);
  }

 private:
  std::map<std::string_view, std::vector<ClientMetric>> families_;
};

void add_series(Text& text, const Series& series) {
  const std::string_view queue = series.queue;
  const std::string_view type = series.type;
  for (std::size_t i = 0; i < kCountedKinds; ++i) {
    text.count(kInfos[i].name, static_cast<double>(series.counts[i]),
               {{"queue", queue}, {"type", type}});
  }
  for (std::size_t i = 0; i < series.dead.size(); ++i) {
    const std::string reason = label_of(to_string(static_cast<DeadReason>(i)));
    text.count("holdfast_tasks_dead_total", static_cast<double>(series.dead[i]),
               {{"queue", queue}, {"type", type}, {"reason", reason}});
  }
  text.add("holdfast_task_run_seconds", histogram(series.ran, {{"queue", queue}, {"type", type}}));
  text.add("holdfast_task_wait_seconds",
           histogram(series.waited, {{"queue", queue}, {"type", type}}));
}

// Names of queues come from callers: beyond so many they are one.
ports::Count::Answer bounded(const ports::Count::Answer& queues) {
  ports::Count::Answer shown;
  ports::QueueCounts other{.queue = std::string(Tally::kOther)};
  bool has_other = false;
  for (const ports::QueueCounts& queue : queues) {
    if (shown.size() < Tally::kMostSeries && is_utf8(queue.queue) && queue.queue != other.queue) {
      shown.push_back(queue);
      continue;
    }
    has_other = true;
    for (std::size_t i = 0; i < other.by_state.size(); ++i)
      other.by_state[i] += queue.by_state[i];
    if (queue.oldest_due) {
      other.oldest_due = std::min(other.oldest_due.value_or(*queue.oldest_due), *queue.oldest_due);
    }
  }
  if (has_other) shown.push_back(std::move(other));
  return shown;
}

void add_queues(Text& text, const Scrape& scrape) {
  const WallTime now = scrape.watch.now();
  for (const ports::QueueCounts& queue : bounded(scrape.queues)) {
    for (std::size_t i = 0; i < kStates.size(); ++i) {
      text.count("holdfast_queue_tasks", static_cast<double>(queue.by_state[i]),
                 {{"queue", queue.queue}, {"state", kStates[i]}});
    }
    const Duration age =
        queue.oldest_due ? std::max(now - *queue.oldest_due, Duration::zero()) : Duration::zero();
    text.count("holdfast_queue_oldest_due_age_seconds", std::chrono::duration<double>(age).count(),
               {{"queue", queue.queue}});
    text.count("holdfast_queue_paused", queue.paused ? 1 : 0, {{"queue", queue.queue}});
  }
}

void add_retentions(Text& text, const Watch& watch) {
  for (const auto& [state, retention] : watch.retentions()) {
    const std::string_view word = core::to_string(state);
    const auto count = [&](std::string_view name, std::uint64_t value) {
      text.count(name, static_cast<double>(value), {{"state", word}});
    };
    count("holdfast_expiring_tasks", retention.expiring.count);
    count("holdfast_expired_tasks_total", retention.removed);
    count("holdfast_spilled_tasks_total", retention.spilled);
    count("holdfast_spill_failures_total", retention.not_spilled);
  }
}

void add_breakers(Text& text, const Scrape& scrape) {
  using State = Breaker::State;
  for (const Breaker* breaker : scrape.breakers) {
    for (const State state : {State::closed, State::half_open, State::open}) {
      text.count("holdfast_breaker_state", breaker->state() == state ? 1 : 0,
                 {{"dependency", breaker->name()}, {"state", to_string(state)}});
    }
  }
  for (const auto& [change, count] : scrape.watch.breaker_changes()) {
    text.count("holdfast_breaker_changes_total", static_cast<double>(count),
               {{"dependency", change.first}, {"to", to_string(change.second)}});
  }
}

void add_brokers(Text& text, const Watch& watch) {
  for (const BrokerSeen& broker : watch.brokers().all()) {
    const Labels labels = {{"broker", broker.about.place}};
    text.count("holdfast_broker_connected", broker.is_connected ? 1 : 0, labels);
    text.count("holdfast_broker_blocked", broker.blocked_since ? 1 : 0, labels);
    text.count("holdfast_broker_connections_lost_total", static_cast<double>(broker.lost), labels);
  }
  for (const auto& [queue, count] : watch.publish_retries()) {
    text.count("holdfast_broker_publish_retries_total", static_cast<double>(count),
               {{"queue", queue}});
  }
  for (const BrokerStates::Depth& depth : watch.brokers().depths()) {
    text.count("holdfast_dead_letter_queue_messages", static_cast<double>(depth.messages),
               {{"broker", depth.place}, {"queue", depth.queue}});
  }
}

void add_recoveries(Text& text, const RecoveryCounts& recoveries) {
  using Fate = RecoveryCounts::Fate;
  for (const auto& [name, of] : recoveries.all()) {
    text.count("holdfast_recovery_runs_started_total", static_cast<double>(of.started),
               {{"recovery", name}, {"queue", of.queue}});
    for (const auto& [outcome, count] : of.ended) {
      text.count("holdfast_recovery_runs_ended_total", static_cast<double>(count),
                 {{"recovery", name}, {"queue", of.queue}, {"outcome", label_of(outcome)}});
    }
    for (std::size_t i = 0; i < RecoveryCounts::kFates; ++i) {
      text.count("holdfast_recovery_messages_total", static_cast<double>(of.messages[i]),
                 {{"recovery", name},
                  {"queue", of.queue},
                  {"outcome", RecoveryCounts::to_string(static_cast<Fate>(i))}});
    }
  }
}

void add_http(Text& text, const Scrape& scrape) {
  for (const auto& [answer, count] : scrape.watch.answers()) {
    const auto& [method, route, status] = answer;
    text.count("holdfast_http_requests_total", static_cast<double>(count),
               {{"method", method}, {"route", route}, {"status", std::to_string(status)}});
  }
  text.count("holdfast_http_requests_in_progress", static_cast<double>(scrape.requests_under_way));
  text.count("holdfast_http_connections", static_cast<double>(scrape.connections));
  text.count("holdfast_event_readers", static_cast<double>(scrape.event_readers));
}

}  // namespace

std::span<const MetricInfo> metric_infos() {
  return kInfos;
}

std::string metrics_text(const Scrape& scrape) {
  Text text;
  for (const auto& series : scrape.watch.tally().series())
    add_series(text, *series);
  add_queues(text, scrape);
  add_retentions(text, scrape.watch);
  text.add("holdfast_store_batch_size", histogram(scrape.watch.batches(), {}));
  add_breakers(text, scrape);
  add_brokers(text, scrape.watch);
  add_recoveries(text, scrape.watch.recoveries());
  for (std::size_t i = 0; i < kAlertKinds; ++i) {
    const auto kind = static_cast<AlertKind>(i);
    const bool fires = std::ranges::any_of(scrape.watch.firing(),
                                           [&](const Alert& alert) { return alert.kind == kind; });
    text.count("holdfast_alert_firing", fires ? 1 : 0, {{"alert", to_string(kind)}});
  }
  add_http(text, scrape);
  text.count("holdfast_build_info", 1, {{"version", version()}});
  const Duration start = scrape.watch.began().time_since_epoch();
  text.count("process_start_time_seconds", std::chrono::duration<double>(start).count());
  return text.text();
}

}  // namespace holdfast::seeing
