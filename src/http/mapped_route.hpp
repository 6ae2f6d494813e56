#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "http/message.hpp"
#include "wire/answer_shape.hpp"
#include "wire/body_map.hpp"

namespace holdfast::http {

// A route that the configuration adds: a body that becomes a task of one type (POST), or a task of
// that type that is shown (GET, with {id} in its path).
struct MappedRoute {
  std::string method = {};
  std::string path = {};
  std::string task = {};  // the type
  Role role = Role::submit;
  int status = 200;  // when all is well
  std::string summary = {};
  wire::BodyMap body = {};  // of a POST
  wire::AnswerShape answer = {};

  [[nodiscard]] bool posts() const { return method == "POST"; }
};

// An OpenAPI document with these routes in it as well.
[[nodiscard]] std::string with_routes(std::string_view document,
                                      std::span<const std::shared_ptr<const MappedRoute>> routes);

}  // namespace holdfast::http
