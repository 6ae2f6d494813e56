#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/task_id.hpp>
#include <holdfast/time.hpp>

// Bringing back or throwing away many dead letters as one thing that is planned first, can be
// watched and stopped, and goes on after a crash (N2). Values only.
namespace holdfast {

enum class OperationAction : std::uint8_t { replay, discard };

enum class OperationState : std::uint8_t {
  planning,  // what matches is looked at; nothing is changed
  planned,   // waits for somebody to start it
  running,
  waiting,  // a canary is out: what becomes of its tasks decides how it goes on
  paused,   // by a person
  stopped,  // by itself: too many of what was brought back have failed again
  done,
  canceled,
  failed,  // it could not go on; `why` says what to do
};

[[nodiscard]] std::string_view to_string(OperationAction action) noexcept;
[[nodiscard]] std::string_view to_string(OperationState state) noexcept;

// It changes no more.
[[nodiscard]] constexpr bool has_ended(OperationState state) noexcept {
  return state == OperationState::done || state == OperationState::canceled ||
         state == OperationState::failed;
}

// It goes on by itself.
[[nodiscard]] constexpr bool is_moving(OperationState state) noexcept {
  return state == OperationState::planning || state == OperationState::running ||
         state == OperationState::waiting;
}

struct OperationOptions {
  // One task first, then ten, then the rest: each only if what went before has not failed again.
  bool canary = false;
  // The share of failures that stops it, from 0 to 1: what is more does.
  double stop_at = 0.1;
  std::optional<double> rate = {};        // at most so many a second
  std::optional<std::uint64_t> cap = {};  // at most so many in all
  bool reset = true;                      // of a replay: attempts begin anew
  // Also what needs a person (quarantined): with ids only.
  bool insist = false;

  bool operator==(const OperationOptions&) const = default;
};

struct OperationRequest {
  OperationAction action = OperationAction::replay;
  std::string query = {};        // which: docs/queries.md
  std::vector<TaskId> ids = {};  // or these
  OperationOptions options = {};
  std::string reason = {};
  bool start = false;  // as soon as it is planned

  bool operator==(const OperationRequest&) const = default;
};

struct OperationPlan {
  struct Part {
    std::string name = {};
    std::uint64_t count = 0;
    bool paused = false;  // of queues

    bool operator==(const Part&) const = default;
  };
  struct Refused {
    std::string why = {};
    std::uint64_t count = 0;
    TaskId example = {};

    bool operator==(const Refused&) const = default;
  };

  bool complete = false;
  std::uint64_t looked = 0;
  std::uint64_t matching = 0;
  std::uint64_t possible = 0;  // of these
  std::vector<Part> queues = {};
  std::vector<Part> types = {};
  std::vector<Refused> refused = {};

  bool operator==(const OperationPlan&) const = default;
};

struct OperationStage {
  int number = 1;
  std::optional<std::uint64_t> size = {};  // nothing: all that are left
  std::uint64_t done = 0;                  // brought back
  std::uint64_t succeeded = 0;             // of those that are watched
  std::uint64_t failed = 0;
  std::uint64_t waiting = 0;

  bool operator==(const OperationStage&) const = default;
};

struct OperationProgress {
  std::uint64_t total = 0;
  std::uint64_t done = 0;
  std::uint64_t refused = 0;
  // What became of those that were brought back. Of a canary only: nobody waits for the others.
  std::uint64_t succeeded = 0;
  std::uint64_t failed = 0;

  bool operator==(const OperationProgress&) const = default;
};

struct Operation {
  std::string id = {};
  OperationAction action = OperationAction::replay;
  OperationState state = OperationState::planning;
  std::string query = {};
  std::vector<TaskId> ids = {};
  OperationOptions options = {};
  std::string by = {};
  std::string reason = {};
  std::string why = {};  // where it stands still
  WallTime created = {};
  WallTime as_of = {};  // what came to be dead or failed before is looked at, and nothing later
  WallTime changed = {};
  std::optional<WallTime> started = {};
  std::optional<WallTime> ended = {};
  OperationPlan plan = {};
  std::optional<OperationStage> stage = {};  // of a canary
  OperationProgress progress = {};

  bool operator==(const Operation&) const = default;
};

struct OperationPage {
  std::vector<Operation> operations = {};  // latest first
  std::string next = {};

  bool operator==(const OperationPage&) const = default;
};

// What can be done with an operation that is there.
enum class OperationStep : std::uint8_t { start, pause, resume, cancel };
[[nodiscard]] std::string_view to_string(OperationStep step) noexcept;

// What somebody did, kept for ever.
struct AuditEntry {
  std::string id = {};
  WallTime time = {};
  std::string who = {};     // the name of their token; "schedule NAME" of a recovery
  std::string action = {};  // "replay", "discard", "pause", "recover" …
  std::string what = {};    // "group:92ab…", "task 0193…", "queue mail"
  std::uint64_t count = 0;
  std::uint64_t refused = 0;
  std::string reason = {};
  std::string operation = {};  // its id, where it was one

  bool operator==(const AuditEntry&) const = default;
};

struct AuditPage {
  std::vector<AuditEntry> entries = {};  // latest first
  std::string next = {};

  bool operator==(const AuditPage&) const = default;
};

// How many tasks match: of what is counted at once, else as far as was looked.
struct TaskCount {
  std::uint64_t count = 0;
  std::uint64_t looked = 0;
  std::string next = {};  // empty: that is all; else ask on with it, and add up

  bool operator==(const TaskCount&) const = default;
};

}  // namespace holdfast
