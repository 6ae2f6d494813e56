#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <holdfast/clock.hpp>
#include <holdfast/result.hpp>

#include "core/rules.hpp"
#include "ports/news.hpp"
#include "ports/records.hpp"

// The seam between the engine and what keeps its tasks. Some verbs, each a value that says what
// is asked and has a type for the answer; a store carries out many of them at once.
//
// Stores decide nothing. What becomes of a task is said by the rules (core/rules.hpp) as a
// Transition; a store carries it out if the task still is what the rules looked at.
namespace holdfast::ports {

// Accepts tasks. Each has its own answer: one that is refused keeps no other from being accepted.
// - A key seen before, with the same type, queue and payload: the task of that time, and
//   `existed`. With others: conflict. A key is free again when its task is purged. Keys are one
//   space, whatever the queue, and are looked at before ids.
// - An id that exists, with the same type, queue, payload and key: the same. With others: conflict.
// - A queue in which as many tasks wait (pending or retrying) as its backlog allows takes no new
//   one: overloaded. What waits again, or is brought back, is not kept from it.
struct Submit {
  struct Accepted {
    TaskId id;
    bool existed = false;
    // Said by the engine, not by the store: it is recorded, and a broker has no message for it yet.
    bool outbound = false;
  };
  using Answer = std::vector<Result<Accepted>>;
  std::vector<NewTask> tasks;
};

// How the names of owners begin that live elsewhere, and so do not die with the process that holds
// the store: their claims end with their leases only.
inline constexpr std::string_view kAway = "away:";

// Takes up to `max` due tasks of one queue: by priority, then by due time, then in the order they
// were submitted. Each is running afterwards, with the next token, until its lease ends. A paused
// queue gives none, nor does one that has as many running as its concurrency allows.
//
// Where a store is shared and one asks in vain, the store's News tell when to ask again. Such a
// store goes by a clock of its own, and takes `now` of Claim and Overdue as a hint.
//
// With `only`: of these, in this order, whatever their priority. Those that are not taken are told
// of in `left`; one that waits and is due is left because there was no room for it. `next_due` is
// not told then.
struct Claim {
  struct Left {
    TaskId id;
    std::optional<core::State> state = {};  // nothing: there is no such task in that queue
    core::Token token = {};
    WallTime due{};        // of one that waits
    bool carried = false;  // as it stands now: see Carried
  };
  struct Answer {
    std::vector<TaskRecord> tasks;
    std::optional<WallTime> next_due;  // of what is left waiting, due or not, the earliest
    // Paused, or with these tasks at its limit of concurrency: what waits does so for that, and
    // `next_due` is no reason to ask again.
    bool blocked = false;
    std::vector<Left> left = {};
  };
  std::string queue;
  std::size_t max = 1;
  std::string owner;  // who claims: one name for each life of a process
  Duration lease = std::chrono::seconds(30);
  WallTime now{};
  std::optional<std::vector<TaskId>> only = {};
};

// What is running under a claim: no more, no less.
struct Held {
  TaskId id;
  core::Token token;
};

// Moves the end of leases, also to an earlier time. False for a claim that is lost: its task has
// another token, or is not running.
struct Renew {
  using Answer = std::vector<bool>;
  std::vector<Held> claims;
  WallTime lease_end{};
};

// Carries out what the rules decided, each change by itself: only if the task is in
// `transition.from` with `token` (N6). So a settlement by a lost claim, a rescue that comes too
// late and a second cancel all change nothing, and are told so. Of two changes of one task the
// second sees what the first has done.
//
// The task is then what core::apply makes of it, and `changed` is transition.due less its wait. The
// end of a running state, however it ends, is an attempt of the task's history. So is a change with
// a failure of a task that does not run: by nobody (no owner), begun and ended when it changed,
// with the token that it has afterwards, which must be a new one. Likewise a change of a task that
// does not run and that names who made it (`by`): with that as its owner (N3), cut as messages are.
// If it has no new token and no failure, nothing is noted. A transition to running is refused with
// invalid_argument, and all others with it: claims are made by Claim.
//
// With `again`, a task that ran and is retrying now, due at once (its wait is zero), is claimed in
// the same step by who had it, whatever else waits: with the next token, since it changed, under
// the lease that it had. Not where its queue is paused, or has as many running as it may: it waits
// then. These claims are made when all changes of the verb are carried out, in their order; a verb
// with such a change names its task once. A store that cannot do so leaves all of them waiting.
struct Change {
  struct One {
    TaskId id;
    core::Token token;  // of the task that the transition was made from
    core::Transition transition;
    std::string result = {};       // of a success
    Fingerprint fingerprint = {};  // if it goes to failed or dead: its group
    bool again = false;            // see above
    std::string by = {};           // who decided it, if a person did: for the task's history
  };
  // again: applied, and claimed again.
  enum class Done : std::uint8_t { applied, moved_on, unknown_task, again };
  using Answer = std::vector<Done>;
  std::vector<One> changes;
};

[[nodiscard]] inline bool is_to_be_claimed_again(const Change::One& one) noexcept {
  return one.again && one.transition.from == core::State::running &&
         one.transition.to == core::State::retrying && one.transition.wait <= Duration::zero();
}

// Running tasks whose lease has ended before `now`, or whose owner is gone: any owner but
// `sole_owner`, where that is given because no other can be alive, and but those that are away. In
// any order.
struct Overdue {
  using Answer = std::vector<TaskRecord>;
  WallTime now{};
  std::string sole_owner = {};
  std::size_t max = 1000;
};

// Removes tasks that ended in `state` before `ended_before`, with all that belongs to them (key,
// result, history, place in a group), and counts them as removed. Those that ended first go first,
// of those that ended together the first submitted. Answers how many; fewer than `max`: no more are
// there. A state that is not terminal is refused with invalid_argument.
struct Purge {
  using Answer = std::size_t;
  core::State state = core::State::succeeded;
  WallTime ended_before{};
  std::size_t max = 1000;
};

// A broker has a message for each of these, as they stand with this token: one to run a task that
// waits, or the dead letter of one that is dead. Said of a task that has moved on, or is not there,
// it changes nothing. Answers how many it was said of. The next time that the task waits or is dead
// it holds no more, since it has another token then, or another message.
struct Carried {
  using Answer = std::size_t;
  std::vector<Held> tasks;
};

// Tasks of a queue for which a broker is to have a message, and has none that we know of: those
// that wait, and those that are dead and had one while they lived. In any order, with payloads; a
// task that does not change meanwhile is on exactly one page. As pages of List are, one may be
// short.
struct Uncarried {
  struct Answer {
    std::vector<TaskRecord> tasks;
    std::string next;  // empty: that was the last page
  };
  std::string queue;
  std::string cursor = {};
  std::size_t limit = 100;
  // Also those that wait, were due before this and are said to have one: where their broker has
  // none any more, somebody has removed them there.
  std::optional<WallTime> due_before = {};
};

// Takes back what was submitted, as though it had not been: removes tasks that are pending, were
// never claimed and are not Carried, with all that belongs to them, and counts them as removed.
// False for one that is anything else, or not there.
struct Withdraw {
  using Answer = std::vector<bool>;
  std::vector<TaskId> tasks;
};

// Settings of a queue that outlive a process, and its last task. What is not given stays.
struct Configure {
  using Answer = std::monostate;
  std::string queue;
  std::optional<bool> paused = {};
  std::optional<int> concurrency = {};  // 0: no limit; below: invalid_argument
  std::optional<int> backlog = {};      // most that wait; likewise
};

struct Find {
  using Answer = std::optional<TaskRecord>;  // nothing: no such task
  TaskId id;
};

struct Filter {
  std::optional<core::State> state = {};
  std::string queue = {};                      // empty: any
  std::string type = {};                       // empty: any
  std::optional<Fingerprint> group = {};       // only failed and dead tasks have one
  std::optional<WallTime> created_from = {};   // at or after
  std::optional<WallTime> created_until = {};  // before
};

// A page of tasks. Waiting: queue by queue, each in the order they would be claimed; running: in
// any order; failed, dead, succeeded, canceled: latest change first; without a state: latest
// submitted first. A task that does not change meanwhile is on exactly one page. A page may hold
// fewer than `limit`, even none, and still have a next one: a store looks at a bounded number of
// tasks for each page, however few of them match.
struct List {
  struct Answer {
    std::vector<TaskRecord> tasks;
    std::string next;  // empty: that was the last page
  };
  Filter filter;
  // Empty: from the start. It goes with the filter of the page that gave it; one that no page gave
  // is refused with invalid_argument.
  std::string cursor = {};
  std::size_t limit = 100;  // 0 is taken as 1
  bool payloads = false;    // with their payloads
};

// Every queue that has a task, or a setting other than the default, by name (in the order of its
// bytes). From counters: costs the same at any size.
struct Count {
  using Answer = std::vector<QueueCounts>;
};

// Groups of failed and dead tasks, latest seen first. One that has no task any more is gone, and
// begins anew with the next. A group that does not change meanwhile is on exactly one page.
struct Groups {
  struct Answer {
    std::vector<Group> groups;
    std::string next;  // empty: that was the last page
  };
  std::size_t limit = 100;
  std::string cursor = {};               // as of List
  std::optional<Fingerprint> only = {};  // of this fingerprint, dead and failed; no more pages
};

// Puts a note on a shelf, in place of one of the same key, or takes it away. Only if the note there
// has that version, where one is given (0: there must be none): of two who want to change it, one
// does. Answers its version afterwards (0: there is none), or nothing where it was another. The
// first under a key has version 1, also after one that was taken away. An empty key is refused with
// invalid_argument.
struct Jot {
  using Answer = std::optional<std::uint64_t>;
  std::string shelf;
  std::string key;
  std::optional<std::string> text = {};  // nothing: take it away
  std::optional<std::uint64_t> version = {};
};

// What is on a shelf. A page may hold fewer than `limit` only if it is the last.
struct Notes {
  using Answer = std::vector<Note>;
  std::string shelf;
  std::string only = {};     // the one under this key, if any
  std::string beyond = {};   // those behind this key, in the order that is asked for; empty: all
  bool latest_first = true;  // by their keys
  std::size_t limit = 100;   // 0 is taken as 1
};

// Looks at everything kept and at how it hangs together (N5). May take long.
struct Audit {
  using Answer = AuditReport;
  bool repair = false;
};

// A verb, and the place for its answer. One that nobody has answered is an error.
template <class Verb>
struct Asked {
  Verb verb;
  Result<typename Verb::Answer> answer = fail(ErrorCode::internal, "store", "was not carried out");
};

using Request = std::variant<Asked<Submit>, Asked<Claim>, Asked<Renew>, Asked<Change>,
                             Asked<Overdue>, Asked<Purge>, Asked<Configure>, Asked<Find>,
                             Asked<List>, Asked<Count>, Asked<Groups>, Asked<Audit>, Asked<Carried>,
                             Asked<Uncarried>, Asked<Withdraw>, Asked<Jot>, Asked<Notes>>;

// Whether it can be answered by a reader: it changes nothing.
[[nodiscard]] bool is_query(const Request& request) noexcept;

// Keeps tasks. Blocks; threads: one at a time.
//
// What is answered with a value is durable, and each verb sees what those before it in the batch
// have done. What is answered with an error has changed nothing, unless the error is `unavailable`
// or `corrupt`: then it may have happened, or not. Errors that are worth acting on:
//   exhausted    no room (disk full): nothing is lost, and it works again when there is room
//   corrupt      what is stored cannot be what we wrote, or the disk did not keep it: everything
//                is refused from then on, until a new process has opened the store again
class Store {
 public:
  virtual ~Store() = default;
  virtual void carry_out(std::span<Request> batch) = 0;
};

// One verb by itself.
template <class Verb>
[[nodiscard]] Result<typename Verb::Answer> ask(Store& store, Verb verb) {
  Request request = Asked<Verb>{std::move(verb)};
  store.carry_out({&request, 1});
  return std::get<Asked<Verb>>(std::move(request)).answer;
}

// A store that somebody has opened. The reader answers queries and refuses the rest, on a thread of
// its own if one likes, and sees what was answered before; where it is missing, ask the writer.
struct OpenStore {
  std::unique_ptr<Store> writer;
  std::unique_ptr<Store> reader;
  // No other process can hold claims in it, so at start every claim there is belongs to the dead.
  bool sole_owner = false;
  // Of a store that several processes share: what the others do, and the time that all of them go
  // by. Without: nobody else does anything, and the time is the machine's.
  std::unique_ptr<News> news = {};
  std::shared_ptr<Clock> clock = {};
};

}  // namespace holdfast::ports
