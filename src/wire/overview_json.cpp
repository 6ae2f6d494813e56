#include "wire/overview_json.hpp"

#include <array>
#include <charconv>

#include "wire/answers.hpp"
#include "wire/fields.hpp"

namespace holdfast::wire {
namespace {

Read read_real(const JsonValue& value, double& out) {
  if (value.kind != JsonKind::number) return wrong_kind("a number", value);
  std::from_chars(value.text.data(), value.text.data() + value.text.size(), out);
  return {};
}

template <auto kMember>
constexpr Field<FormOf<kMember>> real(std::string_view name) {
  using Form = FormOf<kMember>;
  return {{.name = name},
          [](const JsonValue& value, Form& out) { return read_real(value, out.*kMember); }};
}

constexpr auto kRatesFields = std::to_array<Field<RatesNow>>({
    real<&RatesNow::succeeded>("succeeded"),
    real<&RatesNow::failed>("failed"),
    real<&RatesNow::retried>("retried"),
    real<&RatesNow::dead>("dead"),
    real<&RatesNow::timeouts>("timeouts"),
});

// {"1m": {…}, "5m": {…}}: the latest is enough.
constexpr auto kSpansFields = std::to_array<Field<QueueNow>>({
    {{.name = "1m"},
     [](const JsonValue& value, QueueNow& out) {
       return read_object<RatesNow>(value, kRatesFields, Unknown::passed_over, out.rates.emplace());
     }},
});

template <TaskState kState>
constexpr Field<QueueNow> counted() {
  return {{.name = kState == TaskState::pending     ? "pending"
                   : kState == TaskState::running   ? "running"
                   : kState == TaskState::retrying  ? "retrying"
                   : kState == TaskState::succeeded ? "succeeded"
                   : kState == TaskState::failed    ? "failed"
                   : kState == TaskState::dead      ? "dead"
                                                    : "canceled"},
          [](const JsonValue& value, QueueNow& out) {
            return read(value, out.tasks[static_cast<std::size_t>(kState)]);
          }};
}

constexpr auto kTasksFields = std::to_array<Field<QueueNow>>({
    counted<TaskState::pending>(),
    counted<TaskState::running>(),
    counted<TaskState::retrying>(),
    counted<TaskState::succeeded>(),
    counted<TaskState::failed>(),
    counted<TaskState::dead>(),
    counted<TaskState::canceled>(),
});

constexpr auto kQueueNowFields = std::to_array<Field<QueueNow>>({
    required<&QueueNow::name>("name"),
    field<&QueueNow::paused>("paused"),
    {{.name = "tasks", .is_required = true},
     [](const JsonValue& value, QueueNow& out) {
       return read_object<QueueNow>(value, kTasksFields, Unknown::passed_over, out);
     }},
    field<&QueueNow::oldest_due_age>("oldest_due_age_seconds"),
    {{.name = "rates"},
     [](const JsonValue& value, QueueNow& out) {
       return read_object<QueueNow>(value, kSpansFields, Unknown::passed_over, out);
     }},
});

constexpr auto kGroupFields = std::to_array<Field<GroupNow>>({
    required<&GroupNow::id>("id"),
    required<&GroupNow::state>("state"),
    required<&GroupNow::count>("count"),
    field<&GroupNow::first_seen>("first_seen"),
    field<&GroupNow::last_seen>("last_seen"),
    field<&GroupNow::example>("example"),
    field<&GroupNow::trend>("trend"),
});

constexpr auto kOperationNowProgressFields = std::to_array<Field<OperationNow::Progress>>({
    field<&OperationNow::Progress::done>("done"),
    field<&OperationNow::Progress::refused>("refused"),
    field<&OperationNow::Progress::succeeded>("succeeded"),
    field<&OperationNow::Progress::failed>("failed"),
    field<&OperationNow::Progress::total>("total"),
});

constexpr auto kOperationFields = std::to_array<Field<OperationNow>>({
    required<&OperationNow::id>("id"),
    required<&OperationNow::action>("action"),
    required<&OperationNow::state>("state"),
    field<&OperationNow::query>("query"),
    field<&OperationNow::by>("by"),
    field<&OperationNow::why>("why"),
    {{.name = "progress"},
     [](const JsonValue& value, OperationNow& out) {
       return read_object<OperationNow::Progress>(value, kOperationNowProgressFields,
                                                  Unknown::passed_over, out.progress);
     }},
});

constexpr auto kExpiringFields = std::to_array<Field<ExpiringNow>>({
    required<&ExpiringNow::state>("state"),
    required<&ExpiringNow::count>("count"),
    field<&ExpiringNow::from>("from"),
});

constexpr auto kBreakerFields = std::to_array<Field<BreakerNow>>({
    required<&BreakerNow::dependency>("dependency"),
    required<&BreakerNow::state>("state"),
});

constexpr auto kSeenBrokerFields = std::to_array<Field<BrokerNow>>({
    required<&BrokerNow::name>("name"),
    field<&BrokerNow::text>("text"),
});

constexpr auto kAlertFields = std::to_array<Field<AlertNow>>({
    required<&AlertNow::alert>("alert"),
    field<&AlertNow::text>("text"),
});

struct Groups {
  std::vector<GroupNow> groups = {};
};
struct Operations {
  std::vector<OperationNow> operations = {};
};

}  // namespace

// Found by the templates of fields.hpp.
static Read read(const JsonValue& value, QueueNow& out) {
  return read_object<QueueNow>(value, kQueueNowFields, Unknown::passed_over, out);
}
static Read read(const JsonValue& value, GroupNow& out) {
  return read_object<GroupNow>(value, kGroupFields, Unknown::passed_over, out);
}
static Read read(const JsonValue& value, OperationNow& out) {
  return read_object<OperationNow>(value, kOperationFields, Unknown::passed_over, out);
}
static Read read(const JsonValue& value, ExpiringNow& out) {
  return read_object<ExpiringNow>(value, kExpiringFields, Unknown::passed_over, out);
}
static Read read(const JsonValue& value, BreakerNow& out) {
  return read_object<BreakerNow>(value, kBreakerFields, Unknown::passed_over, out);
}
static Read read(const JsonValue& value, BrokerNow& out) {
  return read_object<BrokerNow>(value, kSeenBrokerFields, Unknown::passed_over, out);
}
static Read read(const JsonValue& value, AlertNow& out) {
  return read_object<AlertNow>(value, kAlertFields, Unknown::passed_over, out);
}

RatesNow& RatesNow::operator+=(const RatesNow& other) {
  succeeded += other.succeeded;
  failed += other.failed;
  retried += other.retried;
  dead += other.dead;
  timeouts += other.timeouts;
  return *this;
}

Result<StatsNow> read_stats(std::string_view json) {
  static constexpr auto kFields = std::to_array<Field<StatsNow>>({
      field<&StatsNow::version>("version"),
      field<&StatsNow::uptime>("uptime_seconds"),
      required<&StatsNow::queues>("queues"),
      field<&StatsNow::breakers>("breakers"),
      field<&StatsNow::brokers>("brokers"),
      field<&StatsNow::alerts>("alerts"),
      field<&StatsNow::expiring>("expiring"),
  });
  return read_document<StatsNow>(json, kFields, kAnswer);
}

Result<std::vector<GroupNow>> read_groups_now(std::string_view json) {
  static constexpr auto kFields =
      std::to_array<Field<Groups>>({required<&Groups::groups>("groups")});
  return read_wrapped<&Groups::groups>(json, kFields);
}

Result<std::vector<OperationNow>> read_operations_now(std::string_view json) {
  static constexpr auto kFields =
      std::to_array<Field<Operations>>({required<&Operations::operations>("operations")});
  return read_wrapped<&Operations::operations>(json, kFields);
}

void write(JsonWriter& writer, const RatesNow& rates) {
  writer.begin_object().key("succeeded").number(rates.succeeded);
  writer.key("failed").number(rates.failed).key("retried").number(rates.retried);
  writer.key("dead").number(rates.dead).key("timeouts").number(rates.timeouts).end_object();
}

void write(JsonWriter& writer, const QueueNow& queue) {
  writer.begin_object().key("name").text(queue.name).key("paused").boolean(queue.paused);
  writer.key("tasks").begin_object();
  for (std::size_t i = 0; i < queue.tasks.size(); ++i)
    writer.key(to_string(static_cast<TaskState>(i))).number(queue.tasks[i]);
  writer.end_object().key("oldest_due_age_seconds");
  writer.number(std::chrono::duration<double>(queue.oldest_due_age).count());
  if (queue.rates) write(writer.key("rates"), *queue.rates);
  writer.end_object();
}

void write(JsonWriter& writer, const GroupNow& group) {
  writer.begin_object().key("id").text(group.id).key("state").word(to_string(group.state));
  writer.key("count").number(group.count).key("first_seen").time(group.first_seen);
  writer.key("last_seen").time(group.last_seen).key("example").text(group.example);
  if (!group.trend.empty()) {
    writer.key("trend").begin_array();
    for (const std::uint64_t count : group.trend)
      writer.number(count);
    writer.end_array();
  }
  writer.end_object();
}

void write(JsonWriter& writer, const OperationNow& operation) {
  const OperationNow::Progress& progress = operation.progress;
  writer.begin_object().key("id").text(operation.id).key("action").text(operation.action);
  writer.key("state").text(operation.state).key("query").text(operation.query);
  writer.key("by").text(operation.by).key("why").text(operation.why);
  writer.key("progress").begin_object().key("done").number(progress.done);
  writer.key("refused").number(progress.refused).key("succeeded").number(progress.succeeded);
  writer.key("failed").number(progress.failed).key("total").number(progress.total);
  writer.end_object().end_object();
}

void write(JsonWriter& writer, const ExpiringNow& expiring) {
  writer.begin_object().key("state").word(to_string(expiring.state));
  writer.key("count").number(expiring.count).key("from").time(expiring.from).end_object();
}

}  // namespace holdfast::wire
