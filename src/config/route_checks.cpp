#include "config/route_checks.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "config/plain_values.hpp"
#include "core/json_text.hpp"

namespace holdfast::config {
namespace {

// What the API has for itself, today and to come: nobody's route begins so.
constexpr std::array<std::string_view, 7> kReserved = {
    "v1", "metrics", "openapi.json", "healthz", "readyz", "ui", "assets"};

std::vector<std::string_view> segments_of(std::string_view path) {
  std::vector<std::string_view> segments;
  while (path.starts_with('/')) {
    path.remove_prefix(1);
    segments.push_back(path.substr(0, path.find('/')));
    path.remove_prefix(segments.back().size());
  }
  return segments;
}

bool is_param(std::string_view segment) {
  return segment.starts_with('{') && segment.ends_with('}');
}

// Letters that stand for themselves in an address.
bool is_plain(std::string_view segment) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
  return !segment.empty() && segment.find_first_not_of(kAllowed) == segment.npos &&
         segment != "." && segment != "..";
}

// What is wrong with a path; empty: nothing.
std::string trouble_with_path(std::string_view path) {
  if (!path.starts_with('/')) return "a path begins with /";
  if (path == "/") return "/ belongs to the API itself";
  for (const std::string_view segment : segments_of(path)) {
    if (is_plain(segment) || segment == "{id}") continue;
    if (segment.empty()) return "a path has no empty parts: no // and no / at its end";
    if (is_param(segment)) return fmt::format("{} means nothing here: only {{id}} does", segment);
    return fmt::format("{} cannot be part of a path: letters, digits, - . _ ~, or {{id}}",
                       holdfast::quoted(segment));
  }
  const std::string_view first = segments_of(path).front();
  if (is_param(first)) return "this would be taken for routes of the API: begin with a word";
  if (std::ranges::find(kReserved, first) != kReserved.end())
    return fmt::format("/{} belongs to the API itself", first);
  return "";
}

// Whether one request can be meant for either.
bool overlap(std::string_view one, std::string_view other) {
  const auto a = segments_of(one);
  const auto b = segments_of(other);
  return a.size() == b.size() && std::ranges::equal(a, b, [](auto x, auto y) {
           return x == y || is_param(x) || is_param(y);
         });
}

class RouteChecks {
 public:
  RouteChecks(Reading& reading, Config& config) : reading_(reading), config_(config) {}

  void check(const std::string& name, Route& route) {
    path_ = join_key("route", name);
    const RouteName parts = parts_of(name);
    if (!check_name(parts)) return;
    check_task(route);
    check_body(route);
    if (parts.method == "GET") check_get(route);
    const bool posts = parts.method == "POST";
    if (!route.role) route.role = posts ? Role::submit : Role::read;
    if (!route.status) route.status = posts ? 201 : 200;
    if (route.answer.empty()) route.answer = R"({"id":"{id}","state":"{state}"})";
    if (route.summary.empty()) {
      route.summary = (posts ? "Hand in a task of type " : "A task of type ") + route.task;
    }
  }

 private:
  // False: what else there is to say depends on it.
  bool check_name(const RouteName& parts) {
    if (parts.method != "GET" && parts.method != "POST") {
      wrong("",
            "a route is named by its method and path, such as \"POST /relay\" or \"GET "
            "/relay/{id}\"; other methods there are none");
      return false;
    }
    if (std::string trouble = trouble_with_path(parts.path); !trouble.empty()) {
      wrong("", std::move(trouble));
      return false;
    }
    const auto segments = segments_of(parts.path);
    const auto ids = std::ranges::count(segments, std::string_view("{id}"));
    if (parts.method == "POST" && ids > 0)
      wrong("", "a task that is handed in has no id yet: leave {id} out");
    if (parts.method == "GET" && ids != 1)
      wrong("", "the path says which task: it needs {id}, once", "GET /relay/{id}");
    for (const auto& [other, route] : config_.routes) {
      const RouteName its = parts_of(other);
      const bool is_same = its.method == parts.method && its.path == parts.path;
      // Of two, the later one in their order says so.
      if (is_same) break;
      if (its.method == parts.method && overlap(its.path, parts.path))
        wrong("",
              fmt::format("a request may be meant for this or for {}", holdfast::quoted(other)));
    }
    return true;
  }

  void check_task(const Route& route) {
    if (route.task.empty() || config_.tasks.contains(route.task)) return;
    std::vector<std::string_view> known;
    known.reserve(config_.tasks.size());
    for (const auto& [name, task] : config_.tasks)
      known.push_back(name);
    wrong("task", fmt::format("there is no [{}]", join_key("task", route.task)),
          known.empty() ? "" : suggest(route.task, known));
  }

  void check_get(const Route& route) {
    if (!route.body.empty()) wrong("body", "a GET has no body");
    if (route.unknown == wire::UnknownFields::keep)
      wrong("unknown", "this is about the fields of a body, and a GET has none");
  }

  void check_body(const Route& route) {
    const std::string body = join_key(path_, "body");
    for (const wire::FieldTrouble& trouble : wire::troubles_of(route.body)) {
      const std::string field = join_key(body, route.body[trouble.field].name);
      const std::string key = trouble.key.empty() ? field : join_key(field, trouble.key);
      const auto at = reading_.places.find(reading_.has(key) ? key : field);
      const Place place = at == reading_.places.end() ? Place() : at->second;
      reading_.wrong(place, key, trouble.what);
    }
  }

  // At this key, or else at the table.
  void wrong(std::string_view name, std::string message, std::string suggestion = {}) {
    const std::string key = name.empty() ? path_ : join_key(path_, name);
    reading_.wrong(reading_.places[reading_.has(key) ? key : path_], key, std::move(message),
                   std::move(suggestion));
  }

  Reading& reading_;
  Config& config_;
  std::string path_ = {};
};

}  // namespace

RouteName parts_of(std::string_view route) noexcept {
  const std::size_t space = route.find(' ');
  if (space == route.npos) return {.method = route, .path = {}};
  return {.method = route.substr(0, space), .path = route.substr(space + 1)};
}

void complete_routes(Reading& reading, Config& config) {
  RouteChecks checks(reading, config);
  for (auto& [name, route] : config.routes)
    checks.check(name, route);
}

}  // namespace holdfast::config
