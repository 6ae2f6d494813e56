#include "http/mapped_route.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "wire/json_cursor.hpp"

namespace holdfast::http {
namespace {

constexpr std::string_view kProblem = R"({"$ref":"#/components/schemas/Problem"})";

// "POST /relay/direct" → post_relay_direct. Names of the API's own operations have no underscore.
std::string operation_of(const MappedRoute& route, std::set<std::string>& taken) {
  std::string name = lower(route.method);
  for (const char c : route.path) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool is_word = is_letter || (c >= '0' && c <= '9');
    if (is_word) name += c;
    if (!is_word && name.back() != '_') name += '_';
  }
  while (name.ends_with('_'))
    name.pop_back();
  std::string unique = name;
  for (int i = 2; !taken.insert(unique).second; ++i)
    unique = name + "_" + std::to_string(i);
  return unique;
}

void write_answer(wire::JsonWriter& writer, int status, std::string_view description,
                  const MappedRoute& route) {
  writer.key(std::to_string(status)).begin_object().key("description").text(description);
  writer.key("content").begin_object().key("application/json").begin_object().key("schema");
  route.answer.write_schema(writer);
  writer.end_object().end_object().end_object();
}

void write_problem(wire::JsonWriter& writer, int status, std::string_view description) {
  writer.key(std::to_string(status)).begin_object().key("description").text(description);
  writer.key("content").begin_object().key("application/problem+json").begin_object();
  writer.key("schema").raw(kProblem).end_object().end_object().end_object();
}

void write_post(wire::JsonWriter& writer, const MappedRoute& route) {
  writer.key("parameters").begin_array();
  writer.raw(R"({"name":"Idempotency-Key","in":"header","schema":{"type":"string"},"description":)"
             R"("The same key with the same body is the same task."})");
  writer.end_array();
  writer.key("requestBody").begin_object().key("required").boolean(true);
  writer.key("content").begin_object().key("application/json").begin_object().key("schema");
  route.body.write_schema(writer);
  writer.end_object().end_object().end_object();
  writer.key("responses").begin_object();
  std::map<int, std::string_view> good = {
      {200, "Its key stood for this task before."},
      {202, "Recorded: the broker that carries its queue does not have it yet, and will."}};
  good[route.status] = "Accepted: durable when answered.";
  for (const auto& [status, description] : good)
    write_answer(writer, status, description, route);
  write_problem(writer, 400, "The body cannot be: `errors` names each field, with what is wrong.");
}

void write_get(wire::JsonWriter& writer, const MappedRoute& route) {
  writer.key("parameters").begin_array();
  writer.raw(
      R"({"name":"id","in":"path","required":true,"schema":{"$ref":"#/components/schemas/TaskId"}})");
  writer.end_array();
  writer.key("responses").begin_object();
  write_answer(writer, route.status, "The task as it stands.", route);
  write_problem(writer, 404, "There is no such task of this type.");
}

void write_operation(wire::JsonWriter& writer, const MappedRoute& route, std::string_view name) {
  writer.begin_object().key("operationId").text(name);
  writer.key("tags").begin_array().text("routes").end_array();
  writer.key("summary").text(route.summary);
  writer.key("x-holdfast-role").text(to_string(route.role));
  writer.key("security").raw(R"([{"token":[]}])");
  if (route.posts()) {
    write_post(writer, route);
  } else {
    write_get(writer, route);
  }
  writer.key("default").raw(R"({"$ref":"#/components/responses/Problem"})");
  writer.end_object().end_object();
}

}  // namespace

std::string with_routes(std::string_view document,
                        std::span<const std::shared_ptr<const MappedRoute>> routes) {
  if (routes.empty()) return std::string(document);
  std::map<std::string_view, std::vector<const MappedRoute*>> by_path;
  for (const auto& route : routes)
    by_path[route->path].push_back(route.get());
  std::string paths;
  wire::JsonWriter writer(paths);
  std::set<std::string> taken;
  for (const auto& [path, methods] : by_path) {
    writer.key(path).begin_object();
    for (const MappedRoute* route : methods) {
      writer.key(lower(route->method));
      write_operation(writer, *route, operation_of(*route, taken));
    }
    writer.end_object();
  }
  wire::JsonCursor cursor(document);
  cursor.enter();
  auto key = cursor.next_key();
  while (key && *key != "paths") {
    cursor.take();
    key = cursor.next_key();
  }
  if (!key) return std::string(document);
  const std::string_view own = cursor.take().text;  // of which there is at least one
  std::string whole(document.substr(0, static_cast<std::size_t>(own.data() - document.data()) + 1));
  whole += paths + ",";
  return whole.append(own.data() + 1, document.data() + document.size());
}

}  // namespace holdfast::http
