#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/failure.hpp>
#include <holdfast/task_id.hpp>
#include <holdfast/time.hpp>

// The words of <holdfast/client.hpp> and <holdfast/worker.hpp>: what is handed in, and what can be
// seen of it afterwards. Values only.
namespace holdfast {

// Where a task stands. docs/STATES.md draws it.
enum class TaskState : std::uint8_t {
  pending,    // to be run as soon as somebody claims it
  running,    // claimed: one attempt is under way
  retrying,   // to be run again, but not before its due time
  succeeded,  // done, with a result
  failed,     // given up: trying again cannot help, or its queue gives up dead letters
  dead,       // a dead letter; DeadReason says why
  canceled,   // somebody took it back, or threw the dead letter away
};

// Why a task is dead. There is no state of its own for quarantine: see needs_person().
enum class DeadReason : std::uint8_t {
  out_of_attempts,
  crashes,             // took its worker down too often
  ambiguous,           // may have happened in spite of the error
  deadline,            // could not be run before its deadline
  throttled_too_long,  // was told to wait too often
  replays,             // died again after as many replays as its policy allows
};

[[nodiscard]] std::string_view to_string(TaskState state) noexcept;
[[nodiscard]] std::string_view to_string(DeadReason reason) noexcept;  // "out of attempts"

// A terminal state is left by a person's hand only: a replay, or a discard. Dead letters also by
// their queue's own rule (on_dead): brought back, or given up.
[[nodiscard]] constexpr bool is_terminal(TaskState state) noexcept {
  return state != TaskState::pending && state != TaskState::running && state != TaskState::retrying;
}

// Quarantined: running it again unseen may do harm, so only a replay that insists brings it back.
[[nodiscard]] constexpr bool needs_person(DeadReason reason) noexcept {
  return reason == DeadReason::crashes || reason == DeadReason::ambiguous ||
         reason == DeadReason::replays;
}

// A task to be handed in.
struct Submission {
  std::string type = {};  // which handler runs it: "mail.send"
  std::string queue = "default";
  std::string payload = {};               // any bytes
  int priority = 0;                       // from -100 to 100; the greater the sooner
  Duration delay = {};                    // not to be run before so much time has passed …
  std::optional<WallTime> due = {};       // … or before this time; give one of the two
  std::optional<WallTime> deadline = {};  // no attempt begins after it
  // Of idempotency: the same key with the same type, queue and payload is the same task, however
  // often it is handed in; with others it is a conflict. It is remembered as long as its task is
  // kept: 24 hours after a success or a cancel, and as long as there is a failed or dead one.
  std::string key = {};
  std::optional<int> attempts = {};      // in place of what its type has
  std::optional<Duration> timeout = {};  // likewise
  std::string trace = {};  // W3C traceparent of whoever handed it in; handed on to the handler
  // When it is a dead letter: whether a queue with on_dead = "redrive" brings it back by itself.
  bool retry_on_failure = false;

  bool operator==(const Submission&) const = default;
};

// One attempt of a task that has ended, or was not made.
struct TaskAttempt {
  std::uint64_t token = 0;
  std::string event = {};  // "success", "error", "crash", "hand back" …: docs/STATES.md
  WallTime started = {};
  WallTime ended = {};
  std::string owner = {};  // which process
  std::optional<Failure> failure = {};

  bool operator==(const TaskAttempt&) const = default;
};

// A task as it stands.
struct TaskInfo {
  TaskId id = {};
  std::string type = {};
  std::string queue = {};
  // Of find() only, as are `key`, `trace`, `retry_on_failure`, `result` and `history`.
  std::string payload = {};
  std::string key = {};
  int priority = 0;
  TaskState state = TaskState::pending;
  std::optional<DeadReason> dead_reason = {};  // of a dead task, and of a failed one that was dead
  WallTime created = {};
  WallTime due = {};      // pending, retrying: not to be run before
  WallTime changed = {};  // since when it is in its state
  std::optional<WallTime> deadline = {};
  std::string trace = {};  // W3C traceparent of whoever handed it in; handed on to the handler
  bool retry_on_failure = false;  // as it was handed in

  // What it has used up.
  int attempts = 0;   // by errors and timeouts
  int crashes = 0;    // by taking its worker down
  int deferrals = 0;  // by throttles and open breakers
  int replays = 0;    // by being brought back

  std::optional<std::string> result = {};  // of a success: what the handler returned
  std::optional<Failure> last_failure = {};
  std::string group = {};  // of a failed or dead task: see FailureGroup
  // The latest, oldest first; also what people did with it, with who they are as the owner.
  std::vector<TaskAttempt> history = {};
  // Of find() only: the task that this is a mended copy of, or that was handed in in its place.
  std::optional<TaskId> edited_from = {};
  std::optional<TaskId> edited_as = {};

  bool operator==(const TaskInfo&) const = default;
};

// Tasks to look for. What is not given does not matter.
struct TaskFilter {
  std::string query = {};  // docs/queries.md; what follows must hold as well
  std::optional<TaskState> state = {};
  std::string queue = {};
  std::string type = {};
  std::string group = {};
  std::string cursor = {};  // TaskPage::next of the page before
  std::size_t limit = 100;
};

// May hold fewer than were asked for and still have a next one.
struct TaskPage {
  std::vector<TaskInfo> tasks = {};
  std::string next = {};  // empty: that was the last page

  bool operator==(const TaskPage&) const = default;
};

struct QueueInfo {
  std::string name = {};
  std::array<std::uint64_t, 7> by_state = {};  // index: TaskState
  bool paused = false;
  int concurrency = 0;                      // most tasks of it that run at once; 0: no limit
  int backlog = 0;                          // most that wait in it; 0: no limit
  std::optional<WallTime> oldest_due = {};  // of those that wait, the first to be run

  [[nodiscard]] std::uint64_t count(TaskState state) const {
    return by_state[static_cast<std::size_t>(state)];
  }
  bool operator==(const QueueInfo&) const = default;
};

// Failures that differ only in their numbers, ids and addresses belong together.
struct FailureGroup {
  struct Part {
    std::string name = {};
    std::uint64_t count = 0;  // tasks of it that are in the group now

    bool operator==(const Part&) const = default;
  };

  std::string id = {};                // 16 hexadecimal digits
  TaskState state = TaskState::dead;  // dead or failed
  std::uint64_t count = 0;            // tasks in it now
  WallTime first_seen = {};
  WallTime last_seen = {};
  std::string example = {};      // the error text that came first
  std::vector<Part> types = {};  // the largest first
  std::vector<Part> queues = {};
  std::array<std::uint64_t, 3> came_by = {};  // all that ever came; index: FailureKind
  std::uint64_t last_hour = 0;                // that came, whether they are in it still or not
  std::uint64_t last_day = 0;
  std::vector<std::uint64_t> trend = {};  // the same by the hour: 24 of them, this hour last

  bool operator==(const FailureGroup&) const = default;
};

struct GroupPage {
  std::vector<FailureGroup> groups = {};  // latest seen first
  std::string next = {};                  // empty: that was the last page

  bool operator==(const GroupPage&) const = default;
};

}  // namespace holdfast
