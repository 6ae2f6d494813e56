#include "server/routing.hpp"

#include <utility>

namespace holdfast::server {

http::Role role_of(config::Role role) {
  switch (role) {
    case config::Role::submit: return http::Role::submit;
    case config::Role::read: return http::Role::read;
    case config::Role::work: return http::Role::work;
    case config::Role::operate: return http::Role::operate;
  }
  return http::Role::submit;
}

Result<std::vector<http::MappedRoute>> routes_of(const config::Config& config) {
  std::vector<http::MappedRoute> routes;
  for (const auto& [name, route] : config.routes) {
    const config::RouteName parts = config::parts_of(name);
    auto body = wire::BodyMap::make(route.body, route.unknown);
    if (!body) return std::unexpected(std::move(body).error());
    auto answer = wire::AnswerShape::parse(route.answer);
    if (!answer) return fail(ErrorCode::invalid_argument, "route \"" + name + "\"", answer.error());
    // What is not given was set by its method when the file was checked.
    routes.push_back({.method = std::string(parts.method),
                      .path = std::string(parts.path),
                      .task = route.task,
                      .role = role_of(route.role.value_or(config::Role::operate)),
                      .status = route.status.value_or(200),
                      .summary = route.summary,
                      .body = *std::move(body),
                      .answer = *std::move(answer)});
  }
  return routes;
}

}  // namespace holdfast::server
