#pragma once

#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/result.hpp>

#include "wire/json_writer.hpp"
#include "wire/task_json.hpp"

namespace holdfast::wire {

// A problem document of RFC 9457: what an HTTP answer says when it is not what was asked for.
struct Problem {
  struct Part {
    std::string where = {};  // "[3].delay"
    std::string detail = {};

    bool operator==(const Part&) const = default;
  };

  std::string type = "about:blank";  // for programs: "urn:holdfast:not-found"
  std::string title = {};            // for people, the same for every problem of its type
  int status = 500;                  // of HTTP
  std::string detail = {};           // for people: what happened this time
  std::string instance = {};         // which request, where it is known
  std::vector<Part> errors = {};

  bool operator==(const Problem&) const = default;
};

inline constexpr std::string_view kProblemMediaType = "application/problem+json";

// Each code has one status, one type and one title, which stay as they are.
[[nodiscard]] Problem problem_of(const Error& error);
// The way back, for a client. Problems that are not of our codes (401, 413, 429 …) become the code
// nearest to their status.
[[nodiscard]] Error error_of(const Problem& problem, std::string operation);

void write(JsonWriter& writer, const Problem& problem);
// Fails with corrupt.
[[nodiscard]] Result<Problem> read_problem(std::string_view json);

// The answer to an array of submissions: one for each, in their order.
using Answer = std::expected<Accepted, Problem>;

void write(JsonWriter& writer, std::span<const Answer> answers);
[[nodiscard]] Result<std::vector<Answer>> read_answers(std::string_view json);

}  // namespace holdfast::wire
