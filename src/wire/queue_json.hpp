#pragma once

#include <string_view>

#include <holdfast/result.hpp>

#include "wire/json_writer.hpp"

namespace holdfast::wire {

// How many tasks of a queue may run at once: {"concurrency": 3}; 0: no limit.
struct LimitRequest {
  int concurrency = 0;

  bool operator==(const LimitRequest&) const = default;
};

void write(JsonWriter& writer, const LimitRequest& request);
// Fails with invalid_argument.
[[nodiscard]] Result<LimitRequest> read_limit_request(std::string_view json);

}  // namespace holdfast::wire
