#include "brokers/sqs/arrival.hpp"

#include <algorithm>
#include <utility>

#include "brokers/sqs/envelope.hpp"
#include "brokers/sqs/json.hpp"
#include "brokers/sqs/sqs.hpp"
#include "brokers/sqs/text.hpp"
#include "wire/base64.hpp"

namespace holdfast::brokers::sqs {
namespace {

using ports::Field;
using ports::FieldArray;
using ports::FieldTable;
using Value = Field::Value;

Envelope envelope_of(const Json& message) {
  Envelope envelope{.body = message.text_of("Body"), .attributes = {}};
  const auto attributes = message.find("MessageAttributes");
  if (!attributes) return envelope;
  for (const auto& [name, value] : attributes->members()) {
    Attribute attribute{name, value.text_of("DataType"), value.text_of("StringValue")};
    if (attribute.type.starts_with("Binary")) {
      const std::string text = value.text_of("BinaryValue");
      attribute.value = wire::parse_base64(text).value_or(text);
    }
    envelope.attributes.push_back(std::move(attribute));
  }
  return envelope;
}

void add_death(ports::Message& message, const std::string& queue) {
  const auto before = ports::deaths_of(message);
  if (!before.empty() && before[0].queue == queue && before[0].reason == "delivery_limit") return;
  FieldArray deaths;
  deaths.emplace_back(Value(FieldTable{{"count", Field(std::int64_t{1})},
                                       {"reason", Field("delivery_limit")},
                                       {"queue", Field(queue)},
                                       {"exchange", Field("")},
                                       {"routing-keys", Field(Value(FieldArray{Field(queue)}))}}));
  if (const Field* const old = ports::find_field(message.headers, "x-death")) {
    if (const auto* const entries = std::get_if<FieldArray>(&old->value))
      deaths.insert(deaths.end(), entries->begin(), entries->end());
  }
  ports::set_field(message.headers, "x-death", Field(Value(std::move(deaths))));
}

// What SQS itself knows of a message.
struct Facts {
  std::int64_t receives = 1;
  std::string group;
  std::string died_in;
  std::optional<std::uint64_t> sent;  // seconds since 1970
};

Facts facts_of(const Json& message) {
  Facts facts;
  const auto attributes = message.find("Attributes");
  if (!attributes) return facts;
  for (const auto& [name, value] : attributes->members()) {
    if (name == "ApproximateReceiveCount") facts.receives = value.number().value_or(1);
    if (name == "MessageGroupId") facts.group = value.text();
    if (name == "DeadLetterQueueSourceArn") facts.died_in = queue_of_arn(value.text());
    if (name == "SentTimestamp") {
      const auto ms = value.number();
      if (ms && *ms >= 0) facts.sent = static_cast<std::uint64_t>(*ms) / 1000;
    }
  }
  return facts;
}

Arrival arrival_of(const Json& received, std::string_view queue) {
  Envelope envelope = envelope_of(received);
  const std::string md5 = received.text_of("MD5OfBody");
  const bool is_damaged = !md5.empty() && md5 != md5_hex(envelope.body);
  Unsealed unsealed = unseal(std::move(envelope));
  const Facts facts = facts_of(received);
  Arrival arrival{.id = received.text_of("MessageId"),
                  .receipt = received.text_of("ReceiptHandle"),
                  .message = std::move(unsealed.message),
                  .due = unsealed.due,
                  .is_redelivered = facts.receives > 1,
                  .is_damaged = is_damaged};
  ports::Message& message = arrival.message;
  if (!unsealed.is_ours) {
    if (!message.message_id) message.message_id = arrival.id;
    if (!message.timestamp) message.timestamp = facts.sent;
    message.delivery_mode = 2;  // all that SQS has is durable
  }
  if (!facts.group.empty() && facts.group != default_group(message))
    ports::set_field(message.headers, kGroupHeader, Field(facts.group));
  const bool was_put_off = is_fifo(queue) && arrival.due && facts.receives > 1;
  const std::int64_t before = facts.receives - 1 - (was_put_off ? 1 : 0);
  if (before > 0) ports::set_field(message.headers, "x-delivery-count", Field(before));
  if (!facts.died_in.empty()) add_death(message, facts.died_in);
  return arrival;
}

}  // namespace

std::vector<Arrival> arrivals(std::string_view answer, std::string_view queue) {
  std::vector<Arrival> all;
  const auto messages = Json(answer).find("Messages");
  if (!messages) return all;
  for (const Json& message : messages->elements())
    all.push_back(arrival_of(message, queue));
  return all;
}

}  // namespace holdfast::brokers::sqs
