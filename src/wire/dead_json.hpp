#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/result.hpp>
#include <holdfast/task_id.hpp>
#include <holdfast/time.hpp>

#include "core/task.hpp"
#include "wire/json_writer.hpp"
#include "wire/problem.hpp"

// Bringing many dead letters back, or throwing them away, with one call. Readers of requests fail
// with invalid_argument, those of answers with corrupt.
namespace holdfast::wire {

struct DeadFilter {
  TaskState state = TaskState::dead;  // or failed
  std::string queue = {};
  std::string type = {};
  std::string group = {};

  bool operator==(const DeadFilter&) const = default;
};

// Which dead letters: those with these ids, or a page of those that match.
//   {"ids": ["0193…", …]}
//   {"filter": {"state": "dead", "queue": "mails", "type": "mail.send", "group": "92ab…"},
//    "limit": 1000, "cursor": "…"}
// What goes with both: "insist" and "deadline" of a replay.
struct DeadRequest {
  std::vector<TaskId> ids = {};
  std::optional<DeadFilter> filter = {};  // empty: all dead letters
  int limit = kMost;
  std::string cursor = {};  // DeadAnswer::next of the call before
  // Of a replay, and for ids only: nobody has looked at all that a filter may match.
  bool insist = false;
  std::optional<WallTime> deadline = {};
  bool reset = true;        // of a replay: attempts begin anew
  std::string reason = {};  // of a discard

  static constexpr int kMost = 1000;
  bool operator==(const DeadRequest&) const = default;
};

// One that was left as it is.
struct DeadRefused {
  TaskId id = {};
  Problem problem = {};

  bool operator==(const DeadRefused&) const = default;
};

// {"done": 998, "refused": [{"id": "0193…", "problem": {…}}], "next": "…"}
struct DeadAnswer {
  std::uint64_t done = 0;
  std::vector<DeadRefused> refused = {};  // as they were, each with its reason
  std::string next = {};                  // there may be more that match: call again with it

  bool operator==(const DeadAnswer&) const = default;
};

// A copy of a dead letter with another payload, queue or type, in its place: {"payload": …}.
struct EditRequest {
  std::optional<std::string> payload = {};
  std::string queue = {};  // empty: as it is
  std::string type = {};   // likewise

  bool operator==(const EditRequest&) const = default;
};

// {"id": "…", "original": "…"}
struct EditAnswer {
  TaskId id = {};
  TaskId original = {};

  bool operator==(const EditAnswer&) const = default;
};

void write(JsonWriter& writer, const EditRequest& request);
[[nodiscard]] Result<EditRequest> read_edit_request(std::string_view json);
void write(JsonWriter& writer, const EditAnswer& answer);
[[nodiscard]] Result<EditAnswer> read_edit_answer(std::string_view json);

// {"reason": "…"}; an empty body gives none.
[[nodiscard]] Result<std::string> read_reason(std::string_view json);

void write(JsonWriter& writer, const DeadRequest& request);
[[nodiscard]] Result<DeadRequest> read_dead_request(std::string_view json);

void write(JsonWriter& writer, const DeadAnswer& answer);
[[nodiscard]] Result<DeadAnswer> read_dead_answer(std::string_view json);

}  // namespace holdfast::wire
