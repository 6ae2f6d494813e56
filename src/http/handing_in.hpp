#pragma once

#include <expected>
#include <optional>
#include <string>

#include <holdfast/task.hpp>

#include "http/api.hpp"
#include "http/message.hpp"
#include "ports/records.hpp"
#include "wire/problem.hpp"

namespace holdfast::http {

// What a request says of every task in it, whatever its body has.
struct OfRequest {
  std::optional<std::string> key = {};  // Idempotency-Key
  std::string trace = {};
};

[[nodiscard]] OfRequest of_request(const Request& request);

// A task as it is handed to the engine, complete with its queue, key and trace; or the problem that
// its sender is told.
[[nodiscard]] std::expected<ports::NewTask, wire::Problem> to_be_submitted(Submission submission,
                                                                           const OfRequest& said,
                                                                           node::Node& node,
                                                                           const ApiLimits& limits,
                                                                           WallTime now);

}  // namespace holdfast::http
