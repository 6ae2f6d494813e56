#pragma once

#include <charconv>
#include <optional>
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

// From 1 to `most`; nothing: it is no such number.
[[nodiscard]] inline std::optional<std::size_t> count_in(std::string_view text, std::size_t most) {
  std::size_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [read_to, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || read_to != end || value < 1 || value > most) return std::nullopt;
  return value;
}

}  // namespace holdfast::http
