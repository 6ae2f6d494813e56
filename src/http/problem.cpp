#include "http/problem.hpp"

#include <utility>

#include "wire/problem.hpp"

namespace holdfast::http {
namespace {

// Nobody knows how long a backlog takes. Soon enough for one that is worked on, and rare enough
// for one that is not.
constexpr const char* kRetryAfterSeconds = "5";

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
  return problem(wire::problem_of(error));
}

Response problem(const wire::Problem& problem) {
  Fields headers;
  if (problem.status == 429) headers.emplace_back("Retry-After", kRetryAfterSeconds);
  return response_of(problem, std::move(headers));
}

}  // namespace holdfast::http
