#include "wire/dead_json.hpp"

#include <array>

#include <fmt/format.h>

#include "wire/answers.hpp"
#include "wire/fields.hpp"

namespace holdfast::wire {
namespace {

[[nodiscard]] Read read_state(const JsonValue& value, DeadFilter& out) {
  if (Read done = read(value, out.state); !done) return done;
  if (out.state == TaskState::dead || out.state == TaskState::failed) return {};
  return fault("is dead or failed: no other task can be brought back");
}

[[nodiscard]] Read read_limit(const JsonValue& value, DeadRequest& out) {
  if (Read done = read(value, out.limit); !done) return done;
  if (out.limit >= 1 && out.limit <= DeadRequest::kMost) return {};
  return fault(fmt::format("{} is not from 1 to {}", out.limit, DeadRequest::kMost));
}

[[nodiscard]] Read read_ids(const JsonValue& value, DeadRequest& out) {
  if (Read done = read(value, out.ids); !done) return done;
  if (out.ids.empty()) return fault("names no task");
  if (out.ids.size() <= static_cast<std::size_t>(DeadRequest::kMost)) return {};
  return fault(fmt::format("{} tasks, of at most {}", out.ids.size(), DeadRequest::kMost));
}

constexpr auto kFilterFields = std::to_array<Field<DeadFilter>>({
    {{.name = "state"}, read_state},
    field<&DeadFilter::queue>("queue"),
    field<&DeadFilter::type>("type"),
    field<&DeadFilter::group>("group"),
});

[[nodiscard]] Read read_filter(const JsonValue& value, DeadRequest& out) {
  return read_object<DeadFilter>(value, kFilterFields, Unknown::refused, out.filter.emplace());
}

constexpr auto kDeadRequestFields = std::to_array<Field<DeadRequest>>({
    {{.name = "ids", .set = 1}, read_ids},
    {{.name = "filter", .set = 1}, read_filter},
    {{.name = "limit"}, read_limit},
    field<&DeadRequest::cursor>("cursor"),
    field<&DeadRequest::insist>("insist"),
    field<&DeadRequest::deadline>("deadline"),
    field<&DeadRequest::reset>("reset"),
    {{.name = "reason"},
     [](const JsonValue& value, DeadRequest& out) { return read_reason(value, out.reason); }},
});

constexpr auto kEditFields = std::to_array<Field<EditRequest>>({
    json_bytes<&EditRequest::payload>("payload", 1),
    text_bytes<&EditRequest::payload>("payload_text", 1),
    base64_bytes<&EditRequest::payload>("payload_base64", 1),
    field<&EditRequest::queue>("queue"),
    field<&EditRequest::type>("type"),
});

constexpr auto kEditAnswerFields = std::to_array<Field<EditAnswer>>({
    required<&EditAnswer::id>("id"),
    required<&EditAnswer::original>("original"),
});

struct Reason {
  std::string reason;
};
constexpr auto kReasonFields = std::to_array<Field<Reason>>({
    {{.name = "reason"},
     [](const JsonValue& value, Reason& out) { return read_reason(value, out.reason); }},
});

constexpr auto kDeadRefusedFields = std::to_array<Field<DeadRefused>>({
    required<&DeadRefused::id>("id"),
    {{.name = "problem", .is_required = true},
     [](const JsonValue& value, DeadRefused& out) -> Read {
       auto problem = read_problem(value.text);
       if (!problem) return fault(problem.error().message);
       out.problem = *std::move(problem);
       return {};
     }},
});

constexpr auto kAnswerFields = std::to_array<Field<DeadAnswer>>({
    required<&DeadAnswer::done>("done"),
    field<&DeadAnswer::refused>("refused"),
    field<&DeadAnswer::next>("next"),
});

constexpr Reading kDeadRequestReading{.operation = "read request", .most_depth = 8};

}  // namespace

// Found by the templates of fields.hpp.
static Read read(const JsonValue& value, DeadRefused& out) {
  return read_object<DeadRefused>(value, kDeadRefusedFields, Unknown::passed_over, out);
}

void write(JsonWriter& writer, const DeadRequest& request) {
  writer.begin_object();
  if (request.filter) {
    writer.key("filter").begin_object().key("state").word(to_string(request.filter->state));
    if (!request.filter->queue.empty()) writer.key("queue").text(request.filter->queue);
    if (!request.filter->type.empty()) writer.key("type").text(request.filter->type);
    if (!request.filter->group.empty()) writer.key("group").text(request.filter->group);
    writer.end_object();
    writer.key("limit").number(request.limit);
    if (!request.cursor.empty()) writer.key("cursor").text(request.cursor);
  } else {
    writer.key("ids").begin_array();
    for (const TaskId& id : request.ids)
      writer.plain(id.text());
    writer.end_array();
  }
  if (request.insist) writer.key("insist").boolean(true);
  if (request.deadline) writer.key("deadline").time(*request.deadline);
  if (!request.reset) writer.key("reset").boolean(false);
  if (!request.reason.empty()) writer.key("reason").text(request.reason);
  writer.end_object();
}

void write(JsonWriter& writer, const EditRequest& request) {
  writer.begin_object();
  if (request.payload) write_bytes(writer, kPayloadNames, *request.payload);
  if (!request.queue.empty()) writer.key("queue").text(request.queue);
  if (!request.type.empty()) writer.key("type").text(request.type);
  writer.end_object();
}

Result<EditRequest> read_edit_request(std::string_view json) {
  Reading reading = kDeadRequestReading;
  reading.most_depth = kMostPayloadDepth + 8;
  auto request = read_document<EditRequest>(json, kEditFields, reading);
  if (request && !request->payload && request->queue.empty() && request->type.empty()) {
    return fail(ErrorCode::invalid_argument, "read request",
                "nothing is to be different: give \"payload\", \"queue\" or \"type\"");
  }
  return request;
}

void write(JsonWriter& writer, const EditAnswer& answer) {
  writer.begin_object().key("id").plain(answer.id.text());
  writer.key("original").plain(answer.original.text()).end_object();
}

Result<EditAnswer> read_edit_answer(std::string_view json) {
  return read_document<EditAnswer>(json, kEditAnswerFields, kAnswer);
}

Result<std::string> read_reason(std::string_view json) {
  if (json.empty()) return std::string();
  auto read = read_document<Reason>(json, kReasonFields, kDeadRequestReading);
  if (!read) return std::unexpected(std::move(read).error());
  return std::move(read->reason);
}

Result<DeadRequest> read_dead_request(std::string_view json) {
  auto request = read_document<DeadRequest>(json, kDeadRequestFields, kDeadRequestReading);
  if (!request) return request;
  const auto refuse = [](const char* what) {
    return fail(ErrorCode::invalid_argument, std::string(kDeadRequestReading.operation), what);
  };
  if (request->ids.empty() && !request->filter) {
    return refuse("say which: \"ids\", or a \"filter\" ({} is all dead letters)");
  }
  if (request->insist && request->filter) {
    return refuse(
        "insist: goes with \"ids\" only, since it brings back what somebody has looked at");
  }
  if (!request->cursor.empty() && !request->filter) return refuse("cursor: goes with \"filter\"");
  return request;
}

void write(JsonWriter& writer, const DeadAnswer& answer) {
  writer.begin_object().key("done").number(answer.done);
  writer.key("refused").begin_array();
  for (const DeadRefused& refused : answer.refused) {
    writer.begin_object().key("id").plain(refused.id.text()).key("problem");
    write(writer, refused.problem);
    writer.end_object();
  }
  writer.end_array();
  if (!answer.next.empty()) writer.key("next").text(answer.next);
  writer.end_object();
}

Result<DeadAnswer> read_dead_answer(std::string_view json) {
  return read_document<DeadAnswer>(json, kAnswerFields, kAnswer);
}

}  // namespace holdfast::wire
