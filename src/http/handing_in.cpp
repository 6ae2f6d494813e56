#include "http/handing_in.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/traceparent.hpp"
#include "engine/engine.hpp"
#include "node/node.hpp"
#include "node/task_words.hpp"

namespace holdfast::http {
namespace {

wire::Problem problem_with(int status, std::string detail) {
  return {.title = std::string(reason_of(status)), .status = status, .detail = std::move(detail)};
}

}  // namespace

OfRequest of_request(const Request& request) {
  OfRequest said;
  if (const auto key = request.header("idempotency-key")) said.key = std::string(*key);
  // One that is malformed is as none, as W3C wants it.
  said.trace = received_traceparent(request.header("traceparent").value_or("")).value_or("");
  return said;
}

std::expected<ports::NewTask, wire::Problem> to_be_submitted(Submission submission,
                                                             const OfRequest& said,
                                                             node::Node& node,
                                                             const ApiLimits& limits,
                                                             WallTime now) {
  if (said.key) {
    if (!submission.key.empty() && submission.key != *said.key) {
      return std::unexpected(
          problem_with(400, "Idempotency-Key and \"key\" differ: give one of them"));
    }
    submission.key = *said.key;
  }
  if (submission.trace.empty()) submission.trace = said.trace;
  if (submission.queue.empty()) submission.queue = node.engine().queue_of(submission.type);
  if (submission.payload.size() > limits.max_payload) {
    return std::unexpected(problem_with(
        413, fmt::format("payload: {} bytes, of at most {}: keep large data elsewhere, and hand in "
                         "where it is",
                         submission.payload.size(), limits.max_payload)));
  }
  auto task = node::to_new_task(std::move(submission), now);
  if (!task) return std::unexpected(wire::problem_of(task.error()));
  return *std::move(task);
}

}  // namespace holdfast::http
