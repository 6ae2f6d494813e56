#include "brokers/sqs/envelope.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "brokers/sqs/sqs.hpp"
#include "brokers/sqs/text.hpp"
#include "core/json_text.hpp"
#include "io/sha256.hpp"
#include "wire/base64.hpp"

namespace holdfast::brokers::sqs {
namespace {

using ports::Field;
using ports::FieldTable;
using ports::Message;

constexpr std::size_t kMostAttributes = 10;
constexpr std::size_t kMostGroupBytes = 128;
constexpr std::string_view kDeliveryCount = "x-delivery-count";
constexpr std::string_view kEmptyBody = "(empty)";  // SQS takes no message without a body

using TextProperty = std::optional<std::string> Message::*;
constexpr std::array<std::pair<std::string_view, TextProperty>, 10> kTextProperties = {{
    {"content_type", &Message::content_type},
    {"content_encoding", &Message::content_encoding},
    {"correlation_id", &Message::correlation_id},
    {"reply_to", &Message::reply_to},
    {"expiration", &Message::expiration},
    {"message_id", &Message::message_id},
    {"type", &Message::type},
    {"user_id", &Message::user_id},
    {"app_id", &Message::app_id},
    {"cluster_id", &Message::cluster_id},
}};

bool has_text_names(const FieldTable& table);

bool has_text_names(const Field& field) {
  if (const auto* const table = std::get_if<FieldTable>(&field.value))
    return has_text_names(*table);
  const auto* const array = std::get_if<ports::FieldArray>(&field.value);
  return !array ||
         std::ranges::all_of(*array, [](const Field& one) { return has_text_names(one); });
}

bool has_text_names(const FieldTable& table) {
  return std::ranges::all_of(table, [](const auto& header) {
    return is_message_text(header.first) && has_text_names(header.second);
  });
}

// What only we need gives way to what others look at.
bool is_for_us(std::string_view name) {
  return name.starts_with("x-holdfast-");
}

// Which headers become attributes of their own.
std::vector<Attribute> plain_headers(const FieldTable& headers, std::set<std::string>& names) {
  std::vector<Attribute> plain;
  for (const bool for_us : {false, true}) {
    for (const auto& [name, field] : headers) {
      if (plain.size() + 1 >= kMostAttributes) return plain;
      if (is_for_us(name) != for_us || name == kOurAttribute || names.contains(name)) continue;
      const bool is_twice =
          std::ranges::count(headers, name, [](const auto& one) { return one.first; }) > 1;
      auto attribute = is_twice ? std::nullopt : plain_attribute(name, field);
      if (!attribute) continue;
      names.insert(name);
      plain.push_back(*std::move(attribute));
    }
  }
  return plain;
}

void write_headers(wire::JsonWriter& writer, const FieldTable& headers,
                   const std::set<std::string>& plain) {
  writer.key("headers").begin_array();
  for (const auto& [name, field] : headers) {
    if (plain.contains(name)) {
      writer.text(name);
      continue;
    }
    writer.begin_array().text(name);
    write_field(writer, field);
    writer.end_array();
  }
  writer.end_array();
}

void write_properties(wire::JsonWriter& writer, const Message& message) {
  writer.key("properties").begin_object();
  for (const auto& [name, member] : kTextProperties) {
    const std::optional<std::string>& value = message.*member;
    if (!value) continue;
    if (is_message_text(*value))
      writer.key(name).text(*value);
    else
      writer.key(fmt::format("{}64", name)).plain(base64(*value));
  }
  if (message.delivery_mode) writer.key("delivery_mode").number(*message.delivery_mode);
  if (message.priority) writer.key("priority").number(*message.priority);
  if (message.timestamp) writer.key("timestamp").number(*message.timestamp);
  writer.end_object();
}

void read_property(Message& message, const std::string& name, const Json& value) {
  for (const auto& [known, member] : kTextProperties) {
    if (name == known) message.*member = value.text();
    if (name != fmt::format("{}64", known)) continue;
    if (auto bytes = wire::parse_base64(value.text())) message.*member = *std::move(bytes);
  }
  const auto number = value.number();
  if (!number || *number < 0) return;
  if (name == "delivery_mode") message.delivery_mode = static_cast<std::uint8_t>(*number);
  if (name == "priority") message.priority = static_cast<std::uint8_t>(*number);
  if (name == "timestamp") message.timestamp = static_cast<std::uint64_t>(*number);
}

// Takes out of `attributes` what the headers name.
bool read_headers(Message& message, const Json& list, std::vector<Attribute>& attributes) {
  for (const Json& entry : list.elements()) {
    if (entry.kind() == wire::JsonKind::string) {
      const std::string name = entry.text();
      const auto found = std::ranges::find(attributes, name, &Attribute::name);
      if (found == attributes.end()) continue;  // somebody has left it out
      message.headers.emplace_back(name, field_of(*found));
      attributes.erase(found);
      continue;
    }
    const auto parts = entry.elements();
    if (parts.size() != 3) return false;
    auto field = read_field(parts[1].text(), parts[2]);
    if (!field) return false;
    message.headers.emplace_back(parts[0].text(), *std::move(field));
  }
  return true;
}

bool read_ours(const Json& document, Envelope& envelope, Unsealed& into) {
  const std::string coding = document.text_of("body");
  if (coding == "base64") {
    auto bytes = wire::parse_base64(envelope.body);
    if (!bytes) return false;
    into.message.body = *std::move(bytes);
  } else if (coding.empty()) {
    into.message.body = envelope.body;
  } else if (coding != "empty") {
    return false;
  }
  if (const auto due = document.find("due")) {
    const auto ms = due->number();
    if (!ms) return false;
    into.due = WallTime(std::chrono::milliseconds(*ms));
  }
  if (const auto properties = document.find("properties")) {
    for (const auto& [name, value] : properties->members())
      read_property(into.message, name, value);
  }
  const auto headers = document.find("headers");
  return !headers || read_headers(into.message, *headers, envelope.attributes);
}

void append_attributes(Message& message, const std::vector<Attribute>& attributes) {
  for (const Attribute& attribute : attributes)
    message.headers.emplace_back(attribute.name, field_of(attribute));
}

bool is_group_text(std::string_view text) {
  return !text.empty() && text.size() <= kMostGroupBytes &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

}  // namespace

std::size_t Envelope::size_bytes() const noexcept {
  std::size_t size = body.size();
  for (const Attribute& attribute : attributes) {
    // Of bytes some count what travels, which is the most.
    const bool is_binary = attribute.type.starts_with("Binary");
    size += attribute.name.size() + attribute.type.size() +
            (is_binary ? (attribute.value.size() + 2) / 3 * 4 : attribute.value.size());
  }
  return size;
}

Result<Envelope> seal(const Message& message, bool is_fifo, std::optional<WallTime> due) {
  FieldTable headers = message.headers;
  ports::remove_field(headers, kDeliveryCount);
  if (is_fifo) ports::remove_field(headers, kGroupHeader);
  if (!has_text_names(headers))
    return fail(ErrorCode::invalid_argument, "publish",
                "a header's name has characters in it that SQS does not carry");
  std::set<std::string> plain;
  Envelope envelope{.body = message.body, .attributes = plain_headers(headers, plain)};
  std::string ours;
  wire::JsonWriter writer(ours);
  writer.begin_object();
  if (message.body.empty()) {
    writer.key("body").plain("empty");
    envelope.body = kEmptyBody;
  } else if (!is_message_text(message.body)) {
    writer.key("body").plain("base64");
    envelope.body = base64(message.body);
  }
  if (due) {
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(due->time_since_epoch());
    writer.key("due").number(ms.count());
  }
  write_properties(writer, message);
  if (!headers.empty()) write_headers(writer, headers, plain);
  writer.end_object();
  envelope.attributes.push_back({std::string(kOurAttribute), "String", std::move(ours)});
  return envelope;
}

Unsealed unseal(Envelope envelope) {
  const auto ours = std::ranges::find(envelope.attributes, kOurAttribute, &Attribute::name);
  if (ours != envelope.attributes.end() && is_object(ours->value)) {
    Envelope rest = envelope;
    std::erase_if(rest.attributes, [](const Attribute& one) { return one.name == kOurAttribute; });
    Unsealed unsealed{.message = {.body = {}, .headers = {}}, .due = {}, .is_ours = true};
    if (read_ours(Json(ours->value), rest, unsealed)) {
      append_attributes(unsealed.message, rest.attributes);
      return unsealed;
    }
  }
  Unsealed foreign{.message = {.body = std::move(envelope.body), .headers = {}}, .due = {}};
  append_attributes(foreign.message, envelope.attributes);
  return foreign;
}

std::string default_group(const Message& message) {
  const std::string id = message.message_id.value_or("");
  if (id.empty()) return std::string(kDefaultGroup);
  return is_group_text(id) ? id : io::to_hex(io::sha256(id));
}

std::string group_of(const Message& message) {
  const auto said = ports::text_of(message.headers, kGroupHeader);
  if (!said || said->empty()) return default_group(message);
  return is_group_text(*said) ? std::string(*said) : io::to_hex(io::sha256(*said));
}

}  // namespace holdfast::brokers::sqs
