#include "wire/operation_json.hpp"

#include <array>
#include <optional>

#include <fmt/format.h>

#include "wire/answers.hpp"
#include "wire/fields.hpp"

namespace holdfast::wire {
namespace {

constexpr std::size_t kMostIds = 1000;

template <class Word>
[[nodiscard]] Read read_word(const JsonValue& value, Word last, std::string_view what, Word& out) {
  std::string text;
  if (Read done = read(value, text); !done) return done;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (to_string(static_cast<Word>(i)) == text) {
      out = static_cast<Word>(i);
      return {};
    }
  }
  return fault(fmt::format("\"{}\" is no {}", text, what));
}

[[nodiscard]] Read read_action(const JsonValue& value, OperationAction& out) {
  return read_word(value, OperationAction::discard, "action: there are replay and discard", out);
}

[[nodiscard]] Read read_state(const JsonValue& value, OperationState& out) {
  return read_word(value, OperationState::failed, "state of an operation", out);
}

[[nodiscard]] Read read_share(const JsonValue& value, double& out) {
  if (Read done = read(value, out); !done) return done;
  if (out >= 0 && out <= 1) return {};
  return fault("is no share from 0 to 1");
}

[[nodiscard]] Read read_rate(const JsonValue& value, std::optional<double>& out) {
  if (Read done = read(value, out.emplace()); !done) return done;
  if (*out > 0 && *out <= 1e6) return {};
  return fault("is no rate: more than 0 a second, and at most 1,000,000");
}

[[nodiscard]] Read read_cap(const JsonValue& value, std::optional<std::uint64_t>& out) {
  if (Read done = read(value, out.emplace()); !done) return done;
  if (*out > 0) return {};
  return fault("is 0: leave it out for no cap");
}

[[nodiscard]] Read read_ids(const JsonValue& value, OperationRequest& out) {
  if (Read done = read(value, out.ids); !done) return done;
  if (out.ids.empty()) return fault("names no task");
  if (out.ids.size() <= kMostIds) return {};
  return fault(fmt::format("{} tasks, of at most {}", out.ids.size(), kMostIds));
}

// Those of the options that a request has beside its other fields.
template <class Form, OperationOptions Form::* kOptions>
constexpr std::array<Field<Form>, 6> option_fields() {
  return std::to_array<Field<Form>>({
      {{.name = "canary"},
       [](const JsonValue& value, Form& out) { return read(value, (out.*kOptions).canary); }},
      {{.name = "stop_at"},
       [](const JsonValue& value, Form& out) {
         return read_share(value, (out.*kOptions).stop_at);
       }},
      {{.name = "rate"},
       [](const JsonValue& value, Form& out) { return read_rate(value, (out.*kOptions).rate); }},
      {{.name = "cap"},
       [](const JsonValue& value, Form& out) { return read_cap(value, (out.*kOptions).cap); }},
      {{.name = "reset"},
       [](const JsonValue& value, Form& out) { return read(value, (out.*kOptions).reset); }},
      {{.name = "insist"},
       [](const JsonValue& value, Form& out) { return read(value, (out.*kOptions).insist); }},
  });
}

template <class Form, std::size_t A, std::size_t B>
constexpr std::array<Field<Form>, A + B> joined(const std::array<Field<Form>, A>& first,
                                                const std::array<Field<Form>, B>& second) {
  std::array<Field<Form>, A + B> all;
  for (std::size_t at = 0; at < A; ++at)
    all[at] = first[at];
  for (std::size_t at = 0; at < B; ++at)
    all[A + at] = second[at];
  return all;
}

constexpr auto kRequestOptions = option_fields<OperationRequest, &OperationRequest::options>();

constexpr auto kReason = Field<OperationRequest>{
    {.name = "reason"},
    [](const JsonValue& value, OperationRequest& out) { return read_reason(value, out.reason); }};

constexpr auto kOperationRequestFields = joined(
    kRequestOptions,
    std::to_array<Field<OperationRequest>>({
        {{.name = "action"},
         [](const JsonValue& value, OperationRequest& out) {
           return read_action(value, out.action);
         }},
        {{.name = "query", .set = 1},
         [](const JsonValue& value, OperationRequest& out) { return read(value, out.query); }},
        {{.name = "ids", .set = 1}, read_ids},
        kReason,
        field<&OperationRequest::start>("start"),
    }));

constexpr auto kStartFields = joined(kRequestOptions, std::to_array({kReason}));

struct OptionsForm {
  OperationOptions options;
};
constexpr auto kOptionFields = option_fields<OptionsForm, &OptionsForm::options>();

using PlanPart = OperationPlan::Part;
constexpr auto kPlanPartFields = std::to_array<Field<PlanPart>>({
    required<&PlanPart::name>("name"),
    required<&PlanPart::count>("count"),
    field<&PlanPart::paused>("paused"),
});

using PlanRefused = OperationPlan::Refused;
constexpr auto kPlanRefusedFields = std::to_array<Field<PlanRefused>>({
    required<&PlanRefused::why>("why"),
    required<&PlanRefused::count>("count"),
    field<&PlanRefused::example>("example"),
});

constexpr auto kStageFields = std::to_array<Field<OperationStage>>({
    required<&OperationStage::number>("number"),
    field<&OperationStage::size>("size"),
    field<&OperationStage::done>("done"),
    field<&OperationStage::succeeded>("succeeded"),
    field<&OperationStage::failed>("failed"),
    field<&OperationStage::waiting>("waiting"),
});

constexpr auto kOperationProgressFields = std::to_array<Field<OperationProgress>>({
    field<&OperationProgress::total>("total"),
    field<&OperationProgress::done>("done"),
    field<&OperationProgress::refused>("refused"),
    field<&OperationProgress::succeeded>("succeeded"),
    field<&OperationProgress::failed>("failed"),
});

using NoteClaim = OperationNote::Claim;
constexpr auto kNoteClaimFields = std::to_array<Field<NoteClaim>>({
    required<&NoteClaim::id>("id"),
    required<&NoteClaim::token>("token"),
});

constexpr auto kCountFields = std::to_array<Field<TaskCount>>({
    required<&TaskCount::count>("count"),
    field<&TaskCount::looked>("looked"),
    field<&TaskCount::next>("next"),
});

constexpr Reading kOperationRequestReading{.operation = "read operation", .most_depth = 8};

[[nodiscard]] std::unexpected<Error> refuse(const char* what) {
  return fail(ErrorCode::invalid_argument, std::string(kOperationRequestReading.operation), what);
}

[[nodiscard]] Result<OperationRequest> checked(OperationRequest request) {
  if (request.query.empty() && request.ids.empty()) {
    return refuse("say which: \"query\" (\"state:dead\" is all dead letters), or \"ids\"");
  }
  if (request.options.insist && request.ids.empty()) {
    return refuse(
        "insist: goes with \"ids\" only, since it brings back what somebody has looked at");
  }
  if (request.action == OperationAction::discard) {
    if (request.options.canary) return refuse("canary: belongs to a replay");
    if (request.options.insist) return refuse("insist: belongs to a replay");
  }
  return request;
}

void write_parts(JsonWriter& writer, std::string_view name, const std::vector<PlanPart>& parts,
                 bool with_paused) {
  writer.key(name).begin_array();
  for (const PlanPart& part : parts) {
    writer.begin_object().key("name").text(part.name).key("count").number(part.count);
    if (with_paused) writer.key("paused").boolean(part.paused);
    writer.end_object();
  }
  writer.end_array();
}

void write_plan(JsonWriter& writer, const OperationPlan& plan) {
  writer.key("plan").begin_object().key("complete").boolean(plan.complete);
  writer.key("looked").number(plan.looked).key("matching").number(plan.matching);
  writer.key("possible").number(plan.possible);
  write_parts(writer, "queues", plan.queues, true);
  write_parts(writer, "types", plan.types, false);
  writer.key("refused").begin_array();
  for (const PlanRefused& refused : plan.refused) {
    writer.begin_object().key("why").text(refused.why).key("count").number(refused.count);
    writer.key("example").plain(refused.example.text()).end_object();
  }
  writer.end_array().end_object();
}

void write_option_fields(JsonWriter& writer, const OperationOptions& options) {
  writer.key("canary").boolean(options.canary).key("stop_at").number(options.stop_at);
  if (options.rate) writer.key("rate").number(*options.rate);
  if (options.cap) writer.key("cap").number(*options.cap);
  writer.key("reset").boolean(options.reset).key("insist").boolean(options.insist);
}

void write_stage(JsonWriter& writer, const OperationStage& stage) {
  writer.key("stage").begin_object().key("number").number(stage.number);
  if (stage.size) writer.key("size").number(*stage.size);
  writer.key("done").number(stage.done).key("succeeded").number(stage.succeeded);
  writer.key("failed").number(stage.failed).key("waiting").number(stage.waiting).end_object();
}

void write_progress(JsonWriter& writer, const OperationProgress& progress) {
  writer.key("progress").begin_object().key("total").number(progress.total);
  writer.key("done").number(progress.done).key("refused").number(progress.refused);
  writer.key("succeeded").number(progress.succeeded).key("failed").number(progress.failed);
  writer.end_object();
}

void write_ids(JsonWriter& writer, const std::vector<TaskId>& ids) {
  writer.key("ids").begin_array();
  for (const TaskId& id : ids)
    writer.plain(id.text());
  writer.end_array();
}

void write_claims(JsonWriter& writer, std::string_view name, const std::vector<NoteClaim>& claims) {
  writer.key(name).begin_array();
  for (const NoteClaim& claim : claims)
    writer.begin_object()
        .key("id")
        .plain(claim.id.text())
        .key("token")
        .number(claim.token)
        .end_object();
  writer.end_array();
}

}  // namespace

// Found by the templates of fields.hpp.
static Read read(const JsonValue& value, PlanPart& out) {
  return read_object<PlanPart>(value, kPlanPartFields, Unknown::passed_over, out);
}
static Read read(const JsonValue& value, PlanRefused& out) {
  return read_object<PlanRefused>(value, kPlanRefusedFields, Unknown::passed_over, out);
}
static Read read(const JsonValue& value, OperationStage& out) {
  return read_object<OperationStage>(value, kStageFields, Unknown::passed_over, out);
}
static Read read(const JsonValue& value, OperationProgress& out) {
  return read_object<OperationProgress>(value, kOperationProgressFields, Unknown::passed_over, out);
}
static Read read(const JsonValue& value, NoteClaim& out) {
  return read_object<NoteClaim>(value, kNoteClaimFields, Unknown::passed_over, out);
}
static Read read(const JsonValue& value, OperationOptions& out) {
  OptionsForm form;
  Read done = read_object<OptionsForm>(value, kOptionFields, Unknown::passed_over, form);
  out = form.options;
  return done;
}
static Read read(const JsonValue& value, OperationPlan& out) {
  constexpr auto kPlanFields = std::to_array<Field<OperationPlan>>({
      field<&OperationPlan::complete>("complete"),
      field<&OperationPlan::looked>("looked"),
      field<&OperationPlan::matching>("matching"),
      field<&OperationPlan::possible>("possible"),
      field<&OperationPlan::queues>("queues"),
      field<&OperationPlan::types>("types"),
      field<&OperationPlan::refused>("refused"),
  });
  return read_object<OperationPlan>(value, kPlanFields, Unknown::passed_over, out);
}
static Read read(const JsonValue& value, Operation& out) {
  constexpr auto kFields = std::to_array<Field<Operation>>({
      required<&Operation::id>("id"),
      {{.name = "action", .is_required = true},
       [](const JsonValue& one, Operation& to) { return read_action(one, to.action); }},
      {{.name = "state", .is_required = true},
       [](const JsonValue& one, Operation& to) { return read_state(one, to.state); }},
      field<&Operation::query>("query"),
      field<&Operation::ids>("ids"),
      field<&Operation::options>("options"),
      field<&Operation::by>("by"),
      field<&Operation::reason>("reason"),
      field<&Operation::why>("why"),
      required<&Operation::created>("created"),
      field<&Operation::as_of>("as_of"),
      required<&Operation::changed>("changed"),
      field<&Operation::started>("started"),
      field<&Operation::ended>("ended"),
      field<&Operation::plan>("plan"),
      field<&Operation::stage>("stage"),
      field<&Operation::progress>("progress"),
  });
  return read_object<Operation>(value, kFields, Unknown::passed_over, out);
}

void write(JsonWriter& writer, const OperationRequest& request) {
  writer.begin_object().key("action").plain(to_string(request.action));
  if (request.ids.empty()) {
    writer.key("query").text(request.query);
  } else {
    write_ids(writer, request.ids);
  }
  write_option_fields(writer, request.options);
  if (!request.reason.empty()) writer.key("reason").text(request.reason);
  writer.key("start").boolean(request.start).end_object();
}

Result<OperationRequest> read_operation_request(std::string_view json) {
  auto request =
      read_document<OperationRequest>(json, kOperationRequestFields, kOperationRequestReading);
  if (!request) return request;
  return checked(*std::move(request));
}

Result<OperationRequest> read_operation_start(std::string_view json, OperationRequest before) {
  if (json.empty()) return before;
  if (auto syntax = check_syntax(json, kOperationRequestReading); !syntax) {
    return std::unexpected(std::move(syntax).error());
  }
  JsonCursor cursor(json);
  const Read done = read_object<OperationRequest>(cursor, kStartFields, Unknown::refused, before);
  if (!done) return std::unexpected(to_error(kOperationRequestReading, done.error()));
  return checked(std::move(before));
}

void write_operation_start(JsonWriter& writer, const OperationOptions& options,
                           std::string_view reason) {
  writer.begin_object();
  write_option_fields(writer, options);
  if (!reason.empty()) writer.key("reason").text(reason);
  writer.end_object();
}

void write(JsonWriter& writer, const Operation& operation) {
  writer.begin_object().key("id").text(operation.id);
  writer.key("action").plain(to_string(operation.action));
  writer.key("state").plain(to_string(operation.state));
  if (!operation.query.empty()) writer.key("query").text(operation.query);
  if (!operation.ids.empty()) write_ids(writer, operation.ids);
  writer.key("options").begin_object();
  write_option_fields(writer, operation.options);
  writer.end_object().key("by").text(operation.by);
  if (!operation.reason.empty()) writer.key("reason").text(operation.reason);
  if (!operation.why.empty()) writer.key("why").text(operation.why);
  writer.key("created").time(operation.created).key("as_of").time(operation.as_of);
  writer.key("changed").time(operation.changed);
  if (operation.started) writer.key("started").time(*operation.started);
  if (operation.ended) writer.key("ended").time(*operation.ended);
  write_plan(writer, operation.plan);
  if (operation.stage) write_stage(writer, *operation.stage);
  write_progress(writer, operation.progress);
  writer.end_object();
}

void write(JsonWriter& writer, const OperationPage& page) {
  writer.begin_object().key("operations").begin_array();
  for (const Operation& operation : page.operations)
    write(writer, operation);
  writer.end_array();
  if (!page.next.empty()) writer.key("next").text(page.next);
  writer.end_object();
}

Result<Operation> read_operation(std::string_view json) {
  if (auto syntax = check_syntax(json, kAnswer); !syntax) {
    return std::unexpected(std::move(syntax).error());
  }
  Operation operation;
  const Read done = read(JsonCursor(json).take(), operation);
  if (!done) return std::unexpected(to_error(kAnswer, done.error()));
  return operation;
}

Result<OperationPage> read_operations(std::string_view json) {
  constexpr auto kFields = std::to_array<Field<OperationPage>>({
      required<&OperationPage::operations>("operations"),
      field<&OperationPage::next>("next"),
  });
  return read_document<OperationPage>(json, kFields, kAnswer);
}

void write(JsonWriter& writer, const TaskCount& count) {
  writer.begin_object().key("count").number(count.count);
  writer.key("complete").boolean(count.next.empty()).key("looked").number(count.looked);
  if (!count.next.empty()) writer.key("next").text(count.next);
  writer.end_object();
}

Result<TaskCount> read_count(std::string_view json) {
  return read_document<TaskCount>(json, kCountFields, kAnswer);
}

void write(JsonWriter& writer, const OperationNote& note) {
  writer.begin_object().key("operation");
  write(writer, note.operation);
  writer.key("runner").text(note.runner).key("start").boolean(note.start);
  writer.key("cursor").text(note.cursor).key("at_end").boolean(note.at_end);
  write_claims(writer, "flight", note.flight);
  write_claims(writer, "watched", note.watched);
  writer.end_object();
}

Result<OperationNote> read_operation_note(std::string_view json) {
  constexpr auto kFields = std::to_array<Field<OperationNote>>({
      required<&OperationNote::operation>("operation"),
      field<&OperationNote::runner>("runner"),
      field<&OperationNote::start>("start"),
      field<&OperationNote::cursor>("cursor"),
      field<&OperationNote::at_end>("at_end"),
      field<&OperationNote::flight>("flight"),
      field<&OperationNote::watched>("watched"),
  });
  return read_document<OperationNote>(json, kFields, kAnswer);
}

}  // namespace holdfast::wire
