#include "wire/recovery_json.hpp"

#include <array>

#include <fmt/format.h>

#include "wire/answers.hpp"
#include "wire/fields.hpp"

namespace holdfast::wire {
namespace {

constexpr std::size_t kMostNameBytes = 255;  // of a queue, an exchange or a routing key
constexpr std::size_t kMostMapRows = 1000;
constexpr std::size_t kMostFilters = 100;
constexpr std::size_t kMostFilterBytes = 4096;
constexpr std::size_t kMostRequestDepth = 8;
constexpr Duration kLongest = std::chrono::hours(24) * 30;

[[nodiscard]] Read read_queue_name(const JsonValue& value, std::string& out) {
  if (Read done = read(value, out); !done) return done;
  if (out.size() > kMostNameBytes) return fault("is longer than 255 bytes");
  if (out.find('\0') != std::string::npos) return fault("has a NUL in it");
  return {};
}

constexpr auto kTargetFields = std::to_array<Field<RecoveryTarget>>({
    {{.name = "exchange"},
     [](const JsonValue& value, RecoveryTarget& out) {
       return read_queue_name(value, out.exchange);
     }},
    {{.name = "routing_key", .is_required = true},
     [](const JsonValue& value, RecoveryTarget& out) {
       return read_queue_name(value, out.routing_key);
     }},
});

[[nodiscard]] Read read_target(const JsonValue& value, RecoveryTarget& out) {
  if (value.kind == JsonKind::object)
    return read_object<RecoveryTarget>(value, kTargetFields, Unknown::refused, out);
  return read_queue_name(value, out.routing_key);
}

[[nodiscard]] Read read_type_map(const JsonValue& value,
                                 std::map<std::string, RecoveryTarget>& out) {
  if (value.kind != JsonKind::object) return wrong_kind("an object", value);
  JsonCursor cursor(value.text);
  cursor.enter();
  while (const auto key = cursor.next_key()) {
    const std::string type = unescaped(*key);
    RecoveryTarget target;
    if (Read done = read_target(cursor.take(), target); !done) {
      done.error().where.insert(0, "." + type);
      return done;
    }
    if (type.empty()) return fault("a type has a name");
    if (target.exchange.empty() && target.routing_key.empty())
      return fault("without an exchange the routing key names a queue");
    out[type] = std::move(target);
    if (out.size() > kMostMapRows) return fault(fmt::format("more than {} types", kMostMapRows));
  }
  if (out.empty()) return fault("is empty");
  return {};
}

[[nodiscard]] Read read_recovery_filter(const JsonValue& value, std::vector<std::string>& out) {
  if (Read done = read(value, out); !done) return done;
  if (out.size() > kMostFilters) return fault(fmt::format("more than {}", kMostFilters));
  for (const std::string& one : out) {
    if (one.size() > kMostFilterBytes)
      return fault(fmt::format("one is longer than {} bytes", kMostFilterBytes));
  }
  return {};
}

[[nodiscard]] Read read_span(const JsonValue& value, Duration& out) {
  if (Read done = read(value, out); !done) return done;
  if (out >= Duration::zero() && out <= kLongest) return {};
  return fault("is no time from 0 to 30 days");
}

[[nodiscard]] Read read_message_rate(const JsonValue& value, std::optional<double>& out) {
  if (Read done = read(value, out.emplace()); !done) return done;
  if (*out > 0 && *out <= 1e6) return {};
  return fault("is no rate: more than 0 a second, and at most 1,000,000");
}

[[nodiscard]] Read read_message_limit(const JsonValue& value, std::optional<std::uint64_t>& out) {
  if (Read done = read(value, out.emplace()); !done) return done;
  if (*out > 0) return {};
  return fault("is 0: leave it out to take all");
}

[[nodiscard]] Read read_most_recoveries(const JsonValue& value, int& out) {
  if (Read done = read(value, out); !done) return done;
  if (out >= 1 && out <= 1'000'000) return {};
  return fault("is no number from 1 to 1,000,000");
}

using RecoveryAsk = RecoveryRequest;
constexpr auto kRecoveryRequestFields = std::to_array<Field<RecoveryAsk>>({
    required<&RecoveryAsk::broker>("broker"),
    {{.name = "queue", .is_required = true},
     [](const JsonValue& value, RecoveryAsk& out) { return read_queue_name(value, out.queue); }},
    {{.name = "map", .set = 1},
     [](const JsonValue& value, RecoveryAsk& out) { return read_type_map(value, out.map); }},
    {{.name = "to_origin", .set = 1},
     [](const JsonValue& value, RecoveryAsk& out) { return read(value, out.to_origin); }},
    {{.name = "to", .set = 1},
     [](const JsonValue& value, RecoveryAsk& out) { return read_queue_name(value, out.to); }},
    {{.name = "park"},
     [](const JsonValue& value, RecoveryAsk& out) { return read_queue_name(value, out.park); }},
    {{.name = "filter"},
     [](const JsonValue& value, RecoveryAsk& out) {
       return read_recovery_filter(value, out.filter);
     }},
    {{.name = "limit"},
     [](const JsonValue& value, RecoveryAsk& out) { return read_message_limit(value, out.limit); }},
    {{.name = "rate"},
     [](const JsonValue& value, RecoveryAsk& out) { return read_message_rate(value, out.rate); }},
    field<&RecoveryAsk::dry_run>("dry_run"),
    {{.name = "max_recoveries"},
     [](const JsonValue& value, RecoveryAsk& out) {
       return read_most_recoveries(value, out.max_recoveries);
     }},
    field<&RecoveryAsk::persistent>("persistent"),
    field<&RecoveryAsk::keep_expiration>("keep_expiration"),
    {{.name = "total"},
     [](const JsonValue& value, RecoveryAsk& out) { return read_span(value, out.total); }},
    {{.name = "idle"},
     [](const JsonValue& value, RecoveryAsk& out) { return read_span(value, out.idle); }},
    {{.name = "empty"},
     [](const JsonValue& value, RecoveryAsk& out) { return read_span(value, out.empty); }},
    {{.name = "stall"},
     [](const JsonValue& value, RecoveryAsk& out) { return read_span(value, out.stall); }},
    {{.name = "reason"},
     [](const JsonValue& value, RecoveryAsk& out) { return read_reason(value, out.reason); }},
});

constexpr Reading kRecoveryRequestReading{.operation = "read recovery",
                                          .most_depth = kMostRequestDepth};

[[nodiscard]] Read read_recovery_state(const JsonValue& value, RecoveryState& out) {
  std::string text;
  if (Read done = read(value, text); !done) return done;
  for (int i = 0; i <= static_cast<int>(RecoveryState::interrupted); ++i) {
    if (to_string(static_cast<RecoveryState>(i)) != text) continue;
    out = static_cast<RecoveryState>(i);
    return {};
  }
  return fault("\"" + text + "\" is no state of a recovery");
}

}  // namespace

std::string_view to_string(RecoveryState state) noexcept {
  switch (state) {
    case RecoveryState::running: return "running";
    case RecoveryState::done: return "done";
    case RecoveryState::failed: return "failed";
    case RecoveryState::canceled: return "canceled";
    case RecoveryState::interrupted: return "interrupted";
  }
  return "failed";
}

// Found by the templates of fields.hpp.
static Read read(const JsonValue& value, RecoveryRequest& out) {
  return read_object<RecoveryRequest>(value, kRecoveryRequestFields, Unknown::passed_over, out);
}
static Read read(const JsonValue& value, RecoveryCount& out) {
  constexpr auto kFields = std::to_array<Field<RecoveryCount>>({
      required<&RecoveryCount::name>("name"),
      required<&RecoveryCount::count>("count"),
  });
  return read_object<RecoveryCount>(value, kFields, Unknown::passed_over, out);
}
static Read read(const JsonValue& value, RecoveryPlanRow& out) {
  constexpr auto kFields = std::to_array<Field<RecoveryPlanRow>>({
      required<&RecoveryPlanRow::what>("what"),
      field<&RecoveryPlanRow::type>("type"),
      field<&RecoveryPlanRow::to>("to"),
      field<&RecoveryPlanRow::why>("why"),
      field<&RecoveryPlanRow::reason>("reason"),
      field<&RecoveryPlanRow::example>("example"),
      required<&RecoveryPlanRow::count>("count"),
      field<&RecoveryPlanRow::target_missing>("target_missing"),
  });
  return read_object<RecoveryPlanRow>(value, kFields, Unknown::passed_over, out);
}
static Read read(const JsonValue& value, RecoveryProgress& out) {
  using Progress = RecoveryProgress;
  constexpr auto kFields = std::to_array<Field<Progress>>({
      field<&Progress::found>("found"),
      field<&Progress::left>("left"),
      field<&Progress::recovered>("recovered"),
      field<&Progress::failed>("failed"),
      field<&Progress::skipped>("skipped"),
      field<&Progress::not_chosen>("not_chosen"),
      field<&Progress::parked>("parked"),
      field<&Progress::renewed>("renewed"),
      field<&Progress::recognised>("recognised"),
      field<&Progress::possible_duplicates>("possible_duplicates"),
      field<&Progress::interruptions>("interruptions"),
      field<&Progress::would_recover>("would_recover"),
      field<&Progress::would_fail>("would_fail"),
      field<&Progress::took>("took"),
  });
  return read_object<Progress>(value, kFields, Unknown::passed_over, out);
}

namespace {

constexpr auto kRecoveryFields = std::to_array<Field<Recovery>>({
    required<&Recovery::id>("id"),
    {{.name = "state", .is_required = true},
     [](const JsonValue& value, Recovery& out) { return read_recovery_state(value, out.state); }},
    required<&Recovery::request>("request"),
    field<&Recovery::by>("by"),
    required<&Recovery::started>("started"),
    field<&Recovery::changed>("changed"),
    field<&Recovery::ended>("ended"),
    field<&Recovery::run>("run"),
    field<&Recovery::why>("why"),
    field<&Recovery::error>("error"),
    field<&Recovery::complete>("complete"),
    field<&Recovery::progress>("progress"),
    field<&Recovery::targets>("targets"),
    field<&Recovery::kept>("kept"),
    field<&Recovery::plan>("plan"),
    field<&Recovery::warnings>("warnings"),
});

void write_text(JsonWriter& writer, std::string_view key, const std::string& text) {
  if (!text.empty()) writer.key(key).text(text);
}

void write_map(JsonWriter& writer, const std::map<std::string, RecoveryTarget>& map) {
  writer.key("map").begin_object();
  for (const auto& [type, target] : map) {
    writer.key(type).begin_object().key("exchange").text(target.exchange);
    writer.key("routing_key").text(target.routing_key).end_object();
  }
  writer.end_object();
}

void write_counts(JsonWriter& writer, std::string_view key,
                  const std::vector<RecoveryCount>& counts) {
  writer.key(key).begin_array();
  for (const RecoveryCount& count : counts)
    writer.begin_object()
        .key("name")
        .text(count.name)
        .key("count")
        .number(count.count)
        .end_object();
  writer.end_array();
}

void write_recovery_progress(JsonWriter& writer, const RecoveryProgress& progress) {
  writer.key("progress").begin_object();
  if (progress.found) writer.key("found").number(*progress.found);
  if (progress.left) writer.key("left").number(*progress.left);
  for (const auto& [key, value] :
       {std::pair("recovered", progress.recovered), std::pair("failed", progress.failed),
        std::pair("skipped", progress.skipped), std::pair("not_chosen", progress.not_chosen),
        std::pair("parked", progress.parked), std::pair("renewed", progress.renewed),
        std::pair("recognised", progress.recognised),
        std::pair("possible_duplicates", progress.possible_duplicates),
        std::pair("interruptions", progress.interruptions),
        std::pair("would_recover", progress.would_recover),
        std::pair("would_fail", progress.would_fail)})
    writer.key(key).number(value);
  writer.key("took").duration(progress.took).end_object();
}

void write_plan_rows(JsonWriter& writer, const std::vector<RecoveryPlanRow>& rows) {
  writer.key("plan").begin_array();
  for (const RecoveryPlanRow& row : rows) {
    writer.begin_object().key("what").text(row.what);
    write_text(writer, "type", row.type);
    write_text(writer, "to", row.to);
    write_text(writer, "why", row.why);
    write_text(writer, "reason", row.reason);
    write_text(writer, "example", row.example);
    writer.key("count").number(row.count);
    if (row.target_missing) writer.key("target_missing").boolean(true);
    writer.end_object();
  }
  writer.end_array();
}

void write_members(JsonWriter& writer, const Recovery& recovery) {
  writer.key("id").text(recovery.id).key("state").text(to_string(recovery.state));
  writer.key("request");
  write(writer, recovery.request);
  write_text(writer, "by", recovery.by);
  writer.key("started").time(recovery.started).key("changed").time(recovery.changed);
  if (recovery.ended) writer.key("ended").time(*recovery.ended);
  write_text(writer, "run", recovery.run);
  write_text(writer, "why", recovery.why);
  write_text(writer, "error", recovery.error);
  writer.key("complete").boolean(recovery.complete);
  write_recovery_progress(writer, recovery.progress);
  write_counts(writer, "targets", recovery.targets);
  write_counts(writer, "kept", recovery.kept);
  if (!recovery.plan.empty()) write_plan_rows(writer, recovery.plan);
  writer.key("warnings").begin_array();
  for (const std::string& warning : recovery.warnings)
    writer.text(warning);
  writer.end_array();
}

std::unexpected<Error> refuse_request(const char* what) {
  return fail(ErrorCode::invalid_argument, std::string(kRecoveryRequestReading.operation), what);
}

}  // namespace

static Read read(const JsonValue& value, Recovery& out) {
  return read_object<Recovery>(value, kRecoveryFields, Unknown::passed_over, out);
}

void write(JsonWriter& writer, const RecoveryRequest& request) {
  writer.begin_object().key("broker").text(request.broker).key("queue").text(request.queue);
  if (!request.map.empty()) write_map(writer, request.map);
  write_text(writer, "to_origin", request.to_origin);
  write_text(writer, "to", request.to);
  write_text(writer, "park", request.park);
  writer.key("filter").begin_array();
  for (const std::string& one : request.filter)
    writer.text(one);
  writer.end_array();
  if (request.limit) writer.key("limit").number(*request.limit);
  if (request.rate) writer.key("rate").number(*request.rate);
  writer.key("dry_run").boolean(request.dry_run);
  writer.key("max_recoveries").number(request.max_recoveries);
  writer.key("persistent").boolean(request.persistent);
  writer.key("keep_expiration").boolean(request.keep_expiration);
  writer.key("total").duration(request.total).key("idle").duration(request.idle);
  writer.key("empty").duration(request.empty).key("stall").duration(request.stall);
  write_text(writer, "reason", request.reason);
  writer.end_object();
}

Result<RecoveryRequest> read_recovery_request(std::string_view json) {
  auto request =
      read_document<RecoveryRequest>(json, kRecoveryRequestFields, kRecoveryRequestReading);
  if (!request) return request;
  const bool has_way = !request->map.empty() || !request->to_origin.empty() || !request->to.empty();
  if (!has_way && request->park.empty()) {
    return refuse_request(
        "say where messages go: one of \"map\", \"to_origin\" and \"to\" (or only \"park\", to "
        "move all of them there as they are)");
  }
  if (!request->to_origin.empty() && request->to_origin != "queue" &&
      request->to_origin != "exchange") {
    return refuse_request(R"(to_origin: "queue" or "exchange")");
  }
  return request;
}

void write(JsonWriter& writer, const Recovery& recovery) {
  writer.begin_object();
  write_members(writer, recovery);
  writer.end_object();
}

void write(JsonWriter& writer, const RecoveryPage& page) {
  writer.begin_object().key("recoveries").begin_array();
  for (const Recovery& recovery : page.recoveries)
    write(writer, recovery);
  writer.end_array();
  if (!page.next.empty()) writer.key("next").text(page.next);
  writer.end_object();
}

void write(JsonWriter& writer, const RecoveryNote& note) {
  writer.begin_object().key("runner").text(note.runner).key("recovery");
  write(writer, note.recovery);
  writer.end_object();
}

Result<Recovery> read_recovery(std::string_view json) {
  return read_document<Recovery>(json, kRecoveryFields, kAnswer);
}

Result<RecoveryPage> read_recoveries(std::string_view json) {
  constexpr auto kFields = std::to_array<Field<RecoveryPage>>({
      required<&RecoveryPage::recoveries>("recoveries"),
      field<&RecoveryPage::next>("next"),
  });
  return read_document<RecoveryPage>(json, kFields, kAnswer);
}

Result<RecoveryNote> read_recovery_note(std::string_view json) {
  constexpr auto kFields = std::to_array<Field<RecoveryNote>>({
      required<&RecoveryNote::recovery>("recovery"),
      required<&RecoveryNote::runner>("runner"),
  });
  return read_document<RecoveryNote>(json, kFields, kAnswer);
}

}  // namespace holdfast::wire
