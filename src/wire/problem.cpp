#include "wire/problem.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "wire/answers.hpp"
#include "wire/fields.hpp"

namespace holdfast::wire {
namespace {

struct KnownProblem {
  ErrorCode code;
  int status;
  std::string_view type;
  std::string_view title;
};

constexpr auto kKnown = std::to_array<KnownProblem>({
    {ErrorCode::invalid_argument, 400, "urn:holdfast:invalid-argument",
     "The request cannot be understood"},
    {ErrorCode::not_found, 404, "urn:holdfast:not-found", "There is no such thing"},
    {ErrorCode::conflict, 409, "urn:holdfast:conflict", "It has moved on, or exists already"},
    {ErrorCode::unavailable, 503, "urn:holdfast:unavailable",
     "Something that is needed cannot be reached now"},
    {ErrorCode::timeout, 504, "urn:holdfast:timeout", "It took too long"},
    {ErrorCode::canceled, 409, "urn:holdfast:canceled", "It was canceled"},
    {ErrorCode::exhausted, 507, "urn:holdfast:exhausted", "There is no room left"},
    {ErrorCode::overloaded, 429, "urn:holdfast:overloaded", "Too much is waiting: try again later"},
    {ErrorCode::corrupt, 500, "urn:holdfast:corrupt", "Stored data is damaged"},
    {ErrorCode::internal, 500, "urn:holdfast:internal", "A mistake of the server"},
});

[[nodiscard]] ErrorCode code_of_status(int status) noexcept {
  switch (status) {
    case 404: return ErrorCode::not_found;
    case 409: return ErrorCode::conflict;
    case 408:
    case 504: return ErrorCode::timeout;
    case 429: return ErrorCode::overloaded;
    case 507: return ErrorCode::exhausted;
    case 502:
    case 503: return ErrorCode::unavailable;
    default:
      return status >= 400 && status < 500 ? ErrorCode::invalid_argument : ErrorCode::internal;
  }
}

constexpr auto kProblemPartFields = std::to_array<Field<Problem::Part>>({
    field<&Problem::Part::where>("where"),
    field<&Problem::Part::detail>("detail"),
});

}  // namespace

// Found by the templates of fields.hpp.
static Read read(const JsonValue& value, Problem::Part& out) {
  return read_object<Problem::Part>(value, kProblemPartFields, Unknown::passed_over, out);
}

namespace {

constexpr auto kProblemFields = std::to_array<Field<Problem>>({
    field<&Problem::type>("type"),
    field<&Problem::title>("title"),
    field<&Problem::status>("status"),
    field<&Problem::detail>("detail"),
    field<&Problem::instance>("instance"),
    field<&Problem::errors>("errors"),
});

// One entry of an array's answer: {"id": …, "existed": …} or {"problem": {…}}.
struct Entry {
  std::optional<TaskId> id;
  bool existed = false;
  bool outbound = false;
  std::optional<Problem> problem;
};

[[nodiscard]] Read read_entry_problem(const JsonValue& value, Entry& out) {
  return read_object<Problem>(value, kProblemFields, Unknown::passed_over, out.problem.emplace());
}

constexpr auto kEntryFields = std::to_array<Field<Entry>>({
    field<&Entry::id>("id"),
    field<&Entry::existed>("existed"),
    field<&Entry::outbound>("outbound"),
    {{.name = "problem"}, read_entry_problem},
});

}  // namespace

Problem problem_of(const Error& error) {
  const auto* known = std::ranges::find(kKnown, error.code, &KnownProblem::code);
  if (known == kKnown.end()) known = &kKnown.back();
  return {.type = std::string(known->type),
          .title = std::string(known->title),
          .status = known->status,
          .detail = error.text()};
}

Error error_of(const Problem& problem, std::string operation) {
  const auto* known = std::ranges::find(kKnown, problem.type, &KnownProblem::type);
  return {.code = known != kKnown.end() ? known->code : code_of_status(problem.status),
          .operation = std::move(operation),
          .message = problem.detail.empty() ? problem.title : problem.detail};
}

void write(JsonWriter& writer, const Problem& problem) {
  writer.begin_object();
  writer.key("type").text(problem.type);
  writer.key("title").text(problem.title);
  writer.key("status").number(problem.status);
  writer.key("detail").text(problem.detail);
  if (!problem.instance.empty()) writer.key("instance").text(problem.instance);
  if (!problem.errors.empty()) {
    writer.key("errors").begin_array();
    for (const Problem::Part& part : problem.errors) {
      writer.begin_object().key("where").text(part.where);
      writer.key("detail").text(part.detail).end_object();
    }
    writer.end_array();
  }
  writer.end_object();
}

Result<Problem> read_problem(std::string_view json) {
  return read_document<Problem>(json, kProblemFields, kAnswer);
}

void write(JsonWriter& writer, std::span<const Answer> answers) {
  writer.begin_array();
  for (const Answer& answer : answers) {
    if (answer) {
      write(writer, *answer);
    } else {
      write(writer.begin_object().key("problem"), answer.error());
      writer.end_object();
    }
  }
  writer.end_array();
}

Result<std::vector<Answer>> read_answers(std::string_view json) {
  if (auto checked = check_syntax(json, kAnswer); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  JsonCursor cursor(json);
  if (cursor.kind() != JsonKind::array) {
    return std::unexpected(to_error(kAnswer, wrong_kind("an array", cursor.take()).error()));
  }
  cursor.enter();
  std::vector<Answer> answers;
  while (cursor.next_element()) {
    Entry entry;
    Read done = read_object<Entry>(cursor, kEntryFields, Unknown::passed_over, entry);
    if (done && !entry.id && !entry.problem) done = fault("neither an id nor a problem");
    if (!done) {
      done.error().where.insert(0, "[" + std::to_string(answers.size()) + "]");
      return std::unexpected(to_error(kAnswer, done.error()));
    }
    if (entry.problem) {
      answers.emplace_back(std::unexpected(std::move(*entry.problem)));
    } else {
      answers.emplace_back(
          Accepted{.id = *entry.id, .existed = entry.existed, .outbound = entry.outbound});
    }
  }
  return answers;
}

}  // namespace holdfast::wire
