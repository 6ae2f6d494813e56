#include "http/problem.hpp"

#include <utility>

#include "wire/problem.hpp"

namespace holdfast::http {
namespace {

Response response_of(const wire::Problem& problem, Fields headers) {
  Response response{.status = problem.status,
                    .type = std::string(wire::kProblemMediaType),
                    .headers = std::move(headers)};
  wire::JsonWriter writer(response.body);
  write(writer, problem);
  return response;
}

}  // namespace

Response problem(int status, std::string detail, Fields headers) {
  return response_of(
      {.title = std::string(reason_of(status)), .status = status, .detail = std::move(detail)},
      std::move(headers));
}

Response problem(const Error& error) {
  return response_of(wire::problem_of(error), {});
}

}  // namespace holdfast::http
