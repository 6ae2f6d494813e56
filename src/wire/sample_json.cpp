#include "wire/sample_json.hpp"

#include <array>

#include "wire/fields.hpp"

namespace holdfast::wire {
namespace {

constexpr Reading kSampleRequestReading{.operation = "read sample", .most_depth = 4};

[[nodiscard]] Read read_sample_limit(const JsonValue& value, std::uint64_t& out) {
  if (Read done = read(value, out); !done) return done;
  if (out >= 1 && out <= SampleRequest::kMost) return {};
  return fault("is no number from 1 to " + std::to_string(SampleRequest::kMost));
}

void write_sampled_counts(JsonWriter& writer, std::string_view key,
                          const std::vector<RecoveryCount>& counts) {
  writer.key(key).begin_array();
  for (const RecoveryCount& one : counts)
    writer.begin_object().key("name").text(one.name).key("count").number(one.count).end_object();
  writer.end_array();
}

void write_sampled_message(JsonWriter& writer, const SampledMessage& message) {
  writer.begin_object().key("id").text(message.id).key("type").text(message.type);
  writer.key("reason").text(message.reason).key("origin").text(message.origin);
  if (!message.error.empty()) writer.key("error").text(message.error);
  if (message.died) writer.key("died").time(*message.died);
  writer.key("redelivered").boolean(message.redelivered);
  if (!message.content_type.empty()) writer.key("content_type").text(message.content_type);
  writer.key("size").number(message.size).key("headers").begin_object();
  for (const auto& [name, text] : message.headers)
    writer.key(name).text(text);
  writer.end_object().key("body").text(message.body);
  writer.key("cut").boolean(message.is_cut).key("text").boolean(message.is_text).end_object();
}

}  // namespace

Result<SampleRequest> read_sample_request(std::string_view json) {
  if (json.empty()) return SampleRequest();
  constexpr auto kFields = std::to_array<Field<SampleRequest>>({
      {{.name = "limit"},
       [](const JsonValue& value, SampleRequest& out) {
         return read_sample_limit(value, out.limit);
       }},
  });
  return read_document<SampleRequest>(json, kFields, kSampleRequestReading);
}

void write(JsonWriter& writer, const QueueSample& sample) {
  writer.begin_object().key("sampled").boolean(true).key("broker").text(sample.broker);
  writer.key("queue").text(sample.queue);
  if (sample.found) writer.key("found").number(*sample.found);
  writer.key("seen").number(sample.seen);
  if (sample.oldest) writer.key("oldest").time(*sample.oldest);
  write_sampled_counts(writer, "types", sample.types);
  write_sampled_counts(writer, "reasons", sample.reasons);
  write_sampled_counts(writer, "origins", sample.origins);
  writer.key("errors").begin_array();
  for (const SampledError& error : sample.errors) {
    writer.begin_object().key("group").text(error.group).key("example").text(error.example);
    writer.key("count").number(error.count).end_object();
  }
  writer.end_array().key("messages").begin_array();
  for (const SampledMessage& message : sample.messages)
    write_sampled_message(writer, message);
  writer.end_array().end_object();
}

}  // namespace holdfast::wire
