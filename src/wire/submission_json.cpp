#include "wire/submission_json.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/json_text.hpp"
#include "core/traceparent.hpp"
#include "wire/fields.hpp"

namespace holdfast::wire {
namespace {

[[nodiscard]] Read read_trace(const JsonValue& value, Submission& out) {
  if (Read done = read(value, out.trace); !done) return done;
  if (is_traceparent(out.trace)) return {};
  return fault(
      fmt::format("{} is no W3C traceparent: "
                  "\"00-\", 32 hexadecimal digits, \"-\", 16 of them, \"-\", 2 of them",
                  quoted(out.trace)));
}

constexpr auto kSubmissionFields = std::to_array<Field<Submission>>({
    required<&Submission::type>("type"),
    field<&Submission::queue>("queue"),
    json_bytes<&Submission::payload>(kPayloadNames.json, 1),
    text_bytes<&Submission::payload>(kPayloadNames.text, 1),
    base64_bytes<&Submission::payload>(kPayloadNames.base64, 1),
    field<&Submission::priority>("priority"),
    field<&Submission::delay>("delay"),
    field<&Submission::due>("due"),
    field<&Submission::deadline>("deadline"),
    field<&Submission::key>("key"),
    field<&Submission::attempts>("attempts"),
    field<&Submission::timeout>("timeout"),
    {{.name = "trace"}, read_trace},
    field<&Submission::retry_on_failure>("retry_on_failure"),
});

[[nodiscard]] Reading reading_of(const Limits& limits) {
  return {.operation = "read task", .most_depth = limits.most_depth};
}

}  // namespace

Result<Submission> read_submission(std::string_view json, const Limits& limits) {
  return read_document<Submission>(json, kSubmissionFields, reading_of(limits));
}

Result<std::vector<Result<Submission>>> read_submissions(std::string_view json,
                                                         const Limits& limits) {
  const Reading reading = reading_of(limits);
  if (auto checked = check_syntax(json, reading); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  std::vector<Result<Submission>> entries;
  JsonCursor cursor(json);
  // False: the document as a whole has failed.
  const auto add = [&](std::string_view where) -> Result<void> {
    Submission submission{.queue = std::string(limits.unnamed_queue)};
    Read done = read_object<Submission>(cursor, kSubmissionFields, Unknown::refused, submission);
    if (done) {
      entries.emplace_back(std::move(submission));
      return {};
    }
    done.error().where.insert(0, where);
    Error error = to_error(reading, done.error());
    if (done.error().is_of_document) return std::unexpected(std::move(error));
    entries.emplace_back(std::unexpected(std::move(error)));
    return {};
  };
  if (cursor.kind() != JsonKind::array) {
    if (auto added = add(""); !added) return std::unexpected(std::move(added.error()));
    return entries;
  }
  cursor.enter();
  while (cursor.next_element()) {
    if (entries.size() == limits.most_entries) {
      return std::unexpected(to_error(
          reading, {.where = {}, .what = fmt::format("more than {} tasks", limits.most_entries)}));
    }
    const std::string where = fmt::format("[{}]", entries.size());
    if (auto added = add(where); !added) return std::unexpected(std::move(added.error()));
  }
  return entries;
}

bool is_array(std::string_view json) {
  return JsonCursor(json).kind() == JsonKind::array;
}

std::expected<void, std::string> set_field(Submission& out, std::string_view name,
                                           const JsonValue& value) {
  for (const Field<Submission>& field : kSubmissionFields) {
    if (field.name != name) continue;
    if (Read done = field.read(value, out); !done) return std::unexpected(done.error().what);
    return {};
  }
  return std::unexpected(fmt::format("a task has no field {}", quoted(name)));
}

void write(JsonWriter& writer, const Submission& submission, std::size_t most_payload_depth) {
  static const Submission kUnsaid;
  writer.begin_object().key("type").text(submission.type);
  if (submission.queue != kUnsaid.queue) writer.key("queue").text(submission.queue);
  if (!submission.payload.empty()) {
    write_bytes(writer, kPayloadNames, submission.payload, most_payload_depth);
  }
  if (submission.priority != 0) writer.key("priority").number(submission.priority);
  if (submission.delay > Duration::zero()) writer.key("delay").duration(submission.delay);
  if (submission.due) writer.key("due").time(*submission.due);
  if (submission.deadline) writer.key("deadline").time(*submission.deadline);
  if (!submission.key.empty()) writer.key("key").text(submission.key);
  if (submission.attempts) writer.key("attempts").number(*submission.attempts);
  if (submission.timeout) writer.key("timeout").duration(*submission.timeout);
  if (!submission.trace.empty()) writer.key("trace").text(submission.trace);
  if (submission.retry_on_failure) writer.key("retry_on_failure").boolean(true);
  writer.end_object();
}

void write(JsonWriter& writer, std::span<const Submission> submissions) {
  writer.begin_array();
  for (const Submission& submission : submissions)
    write(writer, submission);
  writer.end_array();
}

}  // namespace holdfast::wire
