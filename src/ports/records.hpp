#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/fingerprint.hpp"
#include "core/states.hpp"
#include "core/task.hpp"
#include "core/uuid.hpp"

// What stores keep: values only. Times and spans are kept to the microsecond, so what is read back
// may be up to a microsecond earlier (or shorter) than what was given. Texts may hold any bytes.
namespace holdfast::ports {

// What is larger is refused: data belongs elsewhere, and a task says where it is.
inline constexpr std::size_t kMostPayloadBytes = std::size_t{256} << 20U;

// The greater the sooner.
inline constexpr int kLowestPriority = -100;
inline constexpr int kHighestPriority = 100;

// A task may have limits other than those of its type.
struct OwnLimits {
  std::optional<int> attempts = {};
  std::optional<Duration> timeout = {};

  bool operator==(const OwnLimits&) const = default;
};

// A task as it is handed in.
struct NewTask {
  TaskId id = {};
  std::string type = {};
  std::string queue = {};
  std::string payload = {};
  int priority = 0;
  WallTime created{};
  WallTime due{};  // not to be claimed before
  std::optional<WallTime> deadline = {};
  std::string key = {};  // of idempotency; empty: none
  OwnLimits limits = {};
  std::string trace = {};  // W3C traceparent; empty: none
  int attempts = 0;        // spent before it came here, in another system (R9)
  bool carried = false;    // a broker has a message for it: see Carried
  bool delivered = false;  // by a broker, which has it already: no backlog keeps it out
  // Whether its queue may bring it back by itself when it is a dead letter (C2.1).
  bool retry_on_failure = false;
};

// One claim that has ended: an attempt, or one that was not made (an open breaker, a cancel, a
// worker that shut down); or what was noted of a task that did not run: see Change. Which of them
// are kept: see kKeptAttempts.
struct PastAttempt {
  core::Token token;  // of the claim, or after the change
  core::Event event{};
  WallTime started{};  // when it was claimed
  WallTime ended{};
  std::string owner;
  std::optional<Failure> failure = {};

  bool operator==(const PastAttempt&) const = default;
};

// The history of a task is its latest attempts, at most so many: one that is put off a thousand
// times must not grow without end.
inline constexpr int kKeptAttempts = 20;
// No failure's message is kept longer, nor a group's example. Cut at the end, at the border of a
// character.
inline constexpr std::size_t kKeptMessageBytes = 4096;

// A task as it is kept.
struct TaskRecord {
  TaskId id;
  std::string type;
  std::string queue;
  std::string payload;  // of Claim and Find, and of List where it is asked for
  int priority = 0;
  std::string key;  // of Find only
  OwnLimits limits;
  std::string trace;              // as it was handed in; List leaves it out
  bool retry_on_failure = false;  // likewise
  core::Task task;     // what the rules know; the due time of one that does not wait is `changed`
  WallTime changed{};  // since when it is in its state

  // Of Claim only: how it has waited, pending or retrying, and since when it was due.
  core::State waited_as = core::State::pending;
  WallTime was_due{};

  std::string owner;     // of a running task
  WallTime lease_end{};  // of a running task

  std::optional<std::string> result;  // of Find, once succeeded: what the handler gave
  Fingerprint fingerprint;            // of a failed or dead task: its group
  std::vector<PastAttempt> attempts;  // of Find only, oldest first; the last may have succeeded
};

struct QueueCounts {
  std::string queue;
  std::array<std::uint64_t, 7> by_state{};  // index: core::State
  bool paused = false;
  int concurrency = 0;                   // most tasks of it that run at once; 0: no limit
  int backlog = 0;                       // most tasks of it that wait; 0: no limit
  std::optional<WallTime> oldest_due{};  // of those that wait, due or not, the earliest

  [[nodiscard]] std::uint64_t count(core::State state) const {
    return by_state[static_cast<std::size_t>(state)];
  }
};

// Failures that belong together (N1). Kept as counters, so listing them reads no task.
struct Group {
  // Tasks of one type and queue that are in it now.
  struct Part {
    std::string queue;
    std::string type;
    std::uint64_t count = 0;

    bool operator==(const Part&) const = default;
  };
  // How many came to it in one slot of time, whether they have left again or not.
  struct Arrivals {
    WallTime slot{};  // its beginning, a multiple of kSlot
    std::uint64_t count = 0;

    bool operator==(const Arrivals&) const = default;
  };
  static constexpr Duration kSlot = std::chrono::minutes(10);
  // Slots of the last day are kept: of any that begin later than its latest less so much.
  static constexpr Duration kTrend = std::chrono::hours(24);

  core::State state = core::State::dead;  // dead or failed
  Fingerprint fingerprint;
  std::uint64_t count = 0;  // tasks in it now
  WallTime first_seen{};    // when its first task came to it, which may have left again
  WallTime last_seen{};     // the latest that one came to it, likewise
  std::string example;      // the error text of the first; without one, why it is dead
  // How all that ever came to it did: index: FailureKind. Those that came before this was counted
  // are missing here, in `parts` and in `trend`.
  std::array<std::uint64_t, 3> came_by{};
  std::vector<Part> parts = {};      // the largest first, then by queue and type
  std::vector<Arrivals> trend = {};  // oldest first; slots without any are left out
};

// A text that belongs to no task and outlives the process: what operations have come to, who did
// what. On a shelf, under a key; keys go by the order of their bytes.
struct Note {
  std::string key;
  std::string text;
  std::uint64_t version = 1;  // grows with each change

  bool operator==(const Note&) const = default;
};

// One thing that cannot be, found by an audit.
struct Finding {
  std::string what;  // for people: which record, what is wrong with it
  std::string task;  // its id, where there is one
  bool repaired = false;
};

// Conservation (N5): accepted = the sum of present + the sum of removed.
struct AuditReport {
  std::uint64_t accepted = 0;
  std::array<std::uint64_t, 7> present{};  // index: core::State
  std::array<std::uint64_t, 7> removed{};  // by Purge, by the state they were in
  std::uint64_t found = 0;                 // how many in all; `findings` holds the first of them
  std::uint64_t repaired = 0;              // of these
  std::vector<Finding> findings;
  // False: what is stored is damaged below the level of tasks. The findings say how; nothing else
  // was looked at or repaired.
  bool readable = true;

  [[nodiscard]] bool clean() const { return found == 0; }
};

}  // namespace holdfast::ports
