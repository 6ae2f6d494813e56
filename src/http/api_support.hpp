#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include <holdfast/task.hpp>
#include <holdfast/task_id.hpp>

#include "http/message.hpp"
#include "http/problem.hpp"
#include "wire/json_writer.hpp"

// What the files of the API share.
namespace holdfast::http {

// docs/openapi.json, compiled in.
extern const std::string_view kOpenApi;

template <class Write>
[[nodiscard]] Response json(int status, Write write_it) {
  Response response{.status = status};
  wire::JsonWriter writer(response.body);
  write_it(writer);
  return response;
}

// Bodies are JSON, and must say so: a form of a page of another origin cannot.
[[nodiscard]] inline bool is_json(const Request& request) {
  std::string_view type = request.header("content-type").value_or("");
  type = type.substr(0, type.find(';'));
  return lower(type.substr(0, type.find_last_not_of(" \t") + 1)) == "application/json";
}

[[nodiscard]] inline Response not_json() {
  return problem(415, "the body is JSON: send \"Content-Type: application/json\"");
}

[[nodiscard]] inline Result<TaskId> task_id_of(const Request& request) {
  const std::string& text = request.params.find("id")->second;
  auto id = TaskId::parse(text);
  if (!id) return fail(ErrorCode::not_found, "find", "\"" + text + "\" is no id of a task");
  return *id;
}

// What a decision about one task is answered with.
[[nodiscard]] inline Response state_of(const TaskId& id, TaskState state) {
  return json(200, [&](auto& writer) {
    writer.begin_object().key("id").text(id.text());
    writer.key("state").word(to_string(state)).end_object();
  });
}

// How many of a list a page of it has.
[[nodiscard]] inline Result<std::size_t> limit_of(std::string_view text) {
  constexpr std::size_t kMost = 1000;
  std::size_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [read_to, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && read_to == end && value >= 1 && value <= kMost) return value;
  return fail(
      ErrorCode::invalid_argument, "list",
      "limit: \"" + std::string(text) + "\" is no number from 1 to " + std::to_string(kMost));
}

struct Page {
  std::size_t limit = 100;
  std::string cursor = {};
};

[[nodiscard]] inline Result<Page> page_of(const Request& request) {
  Page page{.cursor = std::string(request.parameter("cursor").value_or(""))};
  if (const auto given = request.parameter("limit")) {
    const auto limit = limit_of(*given);
    if (!limit) return std::unexpected(limit.error());
    page.limit = *limit;
  }
  return page;
}

}  // namespace holdfast::http
