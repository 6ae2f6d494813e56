#include "wire/broker_json.hpp"

#include <array>

#include "wire/answers.hpp"
#include "wire/fields.hpp"

namespace holdfast::wire {
namespace {

constexpr auto kBrokerRatesFields = std::to_array<Field<BrokerQueueRates>>({
    required<&BrokerQueueRates::over>("over"),
    required<&BrokerQueueRates::change>("change"),
    field<&BrokerQueueRates::in>("in"),
    field<&BrokerQueueRates::out>("out"),
});

constexpr auto kBrokerDeadLetterFields = std::to_array<Field<BrokerDeadLetter>>({
    field<&BrokerDeadLetter::exchange>("exchange"),
    field<&BrokerDeadLetter::routing_key>("routing_key"),
});

template <class Number>
void write_known(JsonWriter& writer, std::string_view key, const std::optional<Number>& number) {
  if (number) writer.key(key).number(*number);
}

}  // namespace

// Found by the templates of fields.hpp.
static Read read(const JsonValue& value, BrokerQueueRates& out) {
  return read_object<BrokerQueueRates>(value, kBrokerRatesFields, Unknown::passed_over, out);
}
static Read read(const JsonValue& value, BrokerDeadLetter& out) {
  return read_object<BrokerDeadLetter>(value, kBrokerDeadLetterFields, Unknown::passed_over, out);
}
static Read read(const JsonValue& value, BrokerQueue& out) {
  constexpr auto kFields = std::to_array<Field<BrokerQueue>>({
      required<&BrokerQueue::name>("name"),
      required<&BrokerQueue::kind>("kind"),
      field<&BrokerQueue::ready>("ready"),
      field<&BrokerQueue::unacknowledged>("unacknowledged"),
      field<&BrokerQueue::consumers>("consumers"),
      field<&BrokerQueue::is_approximate>("approximate"),
      field<&BrokerQueue::delivery_limit>("delivery_limit"),
      field<&BrokerQueue::dead_letter>("dead_letter"),
      field<&BrokerQueue::rates>("rates"),
      field<&BrokerQueue::oldest_published>("oldest_published"),
      field<&BrokerQueue::recovery>("recovery"),
  });
  return read_object<BrokerQueue>(value, kFields, Unknown::passed_over, out);
}

namespace {

constexpr auto kBrokerFields = std::to_array<Field<BrokerInfo>>({
    required<&BrokerInfo::name>("name"),
    required<&BrokerInfo::url>("url"),
    required<&BrokerInfo::kind>("kind"),
    field<&BrokerInfo::patterns>("patterns"),
    field<&BrokerInfo::reachable>("reachable"),
    field<&BrokerInfo::since>("since"),
    field<&BrokerInfo::error>("error"),
    field<&BrokerInfo::looked>("looked"),
    field<&BrokerInfo::queues>("queues"),
});

void write_head(JsonWriter& writer, const BrokerInfo& broker) {
  writer.key("name").text(broker.name).key("url").text(broker.url).key("kind").text(broker.kind);
  writer.key("patterns").begin_array();
  for (const std::string& pattern : broker.patterns)
    writer.text(pattern);
  writer.end_array();
  if (broker.reachable) writer.key("reachable").boolean(*broker.reachable);
  if (broker.since) writer.key("since").time(*broker.since);
  if (!broker.error.empty()) writer.key("error").text(broker.error);
  if (broker.looked) writer.key("looked").time(*broker.looked);
}

void write_broker_queue(JsonWriter& writer, const BrokerQueue& queue) {
  writer.begin_object().key("name").text(queue.name).key("kind").text(queue.kind);
  write_known(writer, "ready", queue.ready);
  write_known(writer, "unacknowledged", queue.unacknowledged);
  write_known(writer, "consumers", queue.consumers);
  writer.key("approximate").boolean(queue.is_approximate);
  write_known(writer, "delivery_limit", queue.delivery_limit);
  if (queue.dead_letter) {
    writer.key("dead_letter").begin_object().key("exchange").text(queue.dead_letter->exchange);
    writer.key("routing_key").text(queue.dead_letter->routing_key).end_object();
  }
  if (queue.rates) {
    writer.key("rates").begin_object().key("over").duration(queue.rates->over);
    writer.key("change").number(queue.rates->change);
    write_known(writer, "in", queue.rates->in);
    write_known(writer, "out", queue.rates->out);
    writer.end_object();
  }
  if (queue.oldest_published) writer.key("oldest_published").time(*queue.oldest_published);
  if (!queue.recovery.empty()) writer.key("recovery").text(queue.recovery);
  writer.end_object();
}

}  // namespace

static Read read(const JsonValue& value, BrokerInfo& out) {
  return read_object<BrokerInfo>(value, kBrokerFields, Unknown::passed_over, out);
}

void write(JsonWriter& writer, const BrokerInfo& broker) {
  writer.begin_object();
  write_head(writer, broker);
  writer.key("queues").begin_array();
  for (const BrokerQueue& queue : broker.queues)
    write_broker_queue(writer, queue);
  writer.end_array().end_object();
}

void write(JsonWriter& writer, const BrokerList& list) {
  writer.begin_object().key("brokers").begin_array();
  for (const BrokerInfo& broker : list.brokers) {
    writer.begin_object();
    write_head(writer, broker);
    std::uint64_t messages = 0;
    for (const BrokerQueue& queue : broker.queues)
      messages += queue.ready.value_or(0) + queue.unacknowledged.value_or(0);
    writer.key("queue_count").number(broker.queues.size()).key("messages").number(messages);
    writer.end_object();
  }
  writer.end_array().end_object();
}

Result<BrokerInfo> read_broker(std::string_view json) {
  return read_document<BrokerInfo>(json, kBrokerFields, kAnswer);
}

Result<BrokerList> read_brokers(std::string_view json) {
  constexpr auto kFields = std::to_array<Field<BrokerList>>({
      required<&BrokerList::brokers>("brokers"),
  });
  return read_document<BrokerList>(json, kFields, kAnswer);
}

}  // namespace holdfast::wire
