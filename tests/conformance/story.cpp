#include "conformance/story.hpp"

#include <array>
#include <iterator>
#include <ostream>

#include "conformance/store_conformance.hpp"

namespace holdfast::conformance {
namespace {

template <class T, std::size_t N>
const T& one_of(const std::array<T, N>& choices, std::uint32_t number) {
  return choices[number % N];
}

// Few of each, so that they meet.
constexpr std::array kQueues = {"mail", "scan", "m\xc3\xbcll"};
constexpr std::array kTypes = {"send", "check"};
constexpr std::array kKeys = {"", "", "", "k1", "k2", "k3"};
constexpr std::array kPayloads = {"", "one", "two"};
constexpr std::array kOwners = {"worker 1", "worker 2"};
constexpr std::array kPriorities = {
    0, 0, 0, 1, -1, ports::kHighestPriority, ports::kLowestPriority};
constexpr std::array<Duration, 6> kDelays = {0s, 0s, 0s, 1us, 5s, -5s};
constexpr std::array<Duration, 9> kTimePasses = {0s, 0s, 1us, 1s, 7s, 1min, 1h, -2s, 5h};
constexpr std::array kGroups = {Fingerprint(1), Fingerprint(0xffff'ffff'ffff'fffeU), Fingerprint()};
constexpr std::array kPeople = {"", "alice", "bob: not wanted any more"};
constexpr std::array kShelves = {"operations", "operations", "journal"};
// One is the beginning of another, and one is no text.
constexpr std::array kNoteKeys = {"a", "ab", "b", "\xff\x01", "ba"};
constexpr std::array kEnds = {State::succeeded, State::failed, State::dead, State::canceled,
                              State::running};

Failure some_failure(std::uint32_t how) {
  constexpr std::array<const char*, 3> kMessages = {"connection reset", "timeout after 31 ms", ""};
  constexpr std::array kKinds = {FailureKind::error, FailureKind::timeout, FailureKind::crash};
  Failure failure = how % 2 == 0 ? full_failure() : Failure();
  failure.message = one_of(kMessages, how);
  failure.kind = one_of(kKinds, how / 3);
  return failure;
}

core::Outcome some_outcome(std::uint32_t how) {
  switch (how % 8) {
    case 0:
    case 1: return core::Success{"result " + std::to_string(how)};
    case 2: return core::HandedBack();
    case 3: return core::BreakerOpen{4s};
    case 4: return core::Expired();
    default: return some_failure(how / 8);
  }
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Step& step) {
  return out << "{" << step.kind << ", " << step.which << ", " << step.how << ", " << step.time
             << "}";
}

ports::Request Story::next(const Step& step) {
  now_ += one_of(kTimePasses, step.time);
  switch (step.kind % 31) {
    default: return ports::Asked<ports::Submit>{submit(step)};
    case 5:
    case 6:
    case 7:
    case 8:
    case 9: return ports::Asked<ports::Claim>{claim(step)};
    case 10:
    case 11:
    case 12:
    case 13:
    case 14:
    case 15:
    case 16: return ports::Asked<ports::Change>{change(step)};
    case 17: return ports::Asked<ports::Renew>{renew(step)};
    case 18:
      return ports::Asked<ports::Overdue>{
          {.now = now_,
           .sole_owner = step.how % 2 == 0 ? "" : one_of(kOwners, step.which),
           .max = step.how % 3 == 0 ? 2U : 1000U}};
    case 19: return ports::Asked<ports::Purge>{purge(step)};
    case 20: return ports::Asked<ports::Configure>{configure(step)};
    case 21: return ports::Asked<ports::Find>{{some_task(step).id}};
    case 22: return ports::Asked<ports::Count>{};
    case 23: return ports::Asked<ports::Groups>{groups(step)};
    case 24: return ports::Asked<ports::Carried>{carried(step)};
    case 25: return ports::Asked<ports::Uncarried>{{one_of(kQueues, step.which), "", 1000}};
    case 26: return ports::Asked<ports::Withdraw>{{{some_task(step).id, some_task(step).id}}};
    case 27: return ports::Asked<ports::Claim>{claim_only(step)};
    case 28:
    case 29: return ports::Asked<ports::Jot>{jot(step)};
    case 30: return ports::Asked<ports::Notes>{notes(step)};
  }
}

ports::Submit Story::submit(const Step& step) {
  ports::Submit verb;
  for (std::uint32_t i = 0; i < step.how % 4; ++i) {
    const std::uint32_t number = step.which + i * 7;
    ports::NewTask task;
    // Now and then an id that was there before.
    task.id = number % 13 == 0 && ids_ > 0 ? id_of(1 + number % ids_) : id_of(++ids_);
    task.type = one_of(kTypes, number / 2);
    task.queue = one_of(kQueues, number);
    task.payload = one_of(kPayloads, number / 3);
    task.key = one_of(kKeys, number / 5);
    task.priority = one_of(kPriorities, number / 7);
    task.created = now_;
    task.due = now_ + one_of(kDelays, number / 11);
    if (number % 4 == 0) task.deadline = now_ + 10s;
    if (number % 5 == 0) task.limits = {.attempts = 2, .timeout = 5s};
    if (number % 6 == 0) task.carried = true;
    if (number % 9 == 0) task.delivered = true;
    if (number % 7 == 0) task.attempts = static_cast<int>(number % 3);
    if (number % 8 == 0) task.retry_on_failure = true;
    if (number % 3 == 0) task.trace = "trace " + std::to_string(number % 7);
    verb.tasks.push_back(std::move(task));
  }
  return verb;
}

ports::Claim Story::claim(const Step& step) const {
  return {.queue = one_of(kQueues, step.which),
          .max = step.how % 5,
          .owner = one_of(kOwners, step.how / 5),
          .lease = step.how % 2 == 0 ? Duration(3s) : Duration(10min),
          .now = now_};
}

ports::Claim Story::claim_only(const Step& step) {
  ports::Claim verb = claim(step);
  verb.only.emplace();
  for (std::uint32_t i = 0; i < step.how % 4; ++i)
    verb.only->push_back(some_task({step.kind, 4 * (step.which + i), step.how / 4, 0}).id);
  return verb;
}

ports::Carried Story::carried(const Step& step) {
  ports::Carried verb;
  for (std::uint32_t i = 0; i < step.how % 4; ++i) {
    const auto task = some_task({step.kind, 4 * (step.which + i), step.how / 4, 0});
    verb.tasks.push_back({task.id, task.task.token});
  }
  return verb;
}

ports::Renew Story::renew(const Step& step) {
  ports::Renew verb{.claims = {}, .lease_end = now_ + 1min};
  for (std::uint32_t i = 0; i < step.how % 4; ++i) {
    const auto task = some_task({step.kind, step.which + i, step.how / 4, 0});
    verb.claims.push_back({task.id, task.task.token});
  }
  return verb;
}

ports::Change Story::change(const Step& step) {
  ports::Change verb;
  for (std::uint32_t i = 0; i < 1 + step.how % 3; ++i) {
    const std::uint32_t how = step.how / 3 + i * 5;
    const auto task = some_task({step.kind, step.which + i * 3, how, 0});
    ports::Change::One one{.id = task.id,
                           .token = task.task.token,
                           .transition = some_transition(task.task, how),
                           .result = {},
                           .fingerprint = {},
                           .again = how % 2 == 0,
                           .by = one_of(kPeople, how / 2)};
    for (ports::Change::One& earlier : verb.changes) {
      if (earlier.id == one.id) earlier.again = one.again = false;  // as the port asks
    }
    if (one.transition.to == State::succeeded) one.result = "done " + std::to_string(how % 10);
    if (one.transition.to == State::failed || one.transition.to == State::dead) {
      one.fingerprint = one_of(kGroups, how);
    }
    verb.changes.push_back(std::move(one));
  }
  return verb;
}

ports::Purge Story::purge(const Step& step) const {
  return {.state = one_of(kEnds, step.which),
          .ended_before = now_ - (step.how % 2 == 0 ? Duration(-1us) : Duration(7s)),
          .max = step.how % 3 == 0 ? 1U : 1000U};
}

ports::Configure Story::configure(const Step& step) const {
  ports::Configure verb{.queue = one_of(kQueues, step.which)};
  // Resumed more often than paused: or all stands still before long.
  if (step.how % 2 == 0) verb.paused = step.how % 6 == 0;
  if (step.how % 3 == 0) verb.concurrency = static_cast<int>(step.how / 3 % 5) - 1;
  // Mostly none: or nothing is accepted before long.
  if (step.how % 5 == 0) verb.backlog = std::max(static_cast<int>(step.how / 5 % 9) - 4, -1);
  return verb;
}

ports::Groups Story::groups(const Step& step) {
  ports::Groups verb{.limit = 1000};
  if (step.how % 3 == 0) verb.only = one_of(kGroups, step.which);
  return verb;
}

ports::Jot Story::jot(const Step& step) {
  ports::Jot verb{.shelf = one_of(kShelves, step.which), .key = one_of(kNoteKeys, step.which / 3)};
  if (step.how % 4 != 0) verb.text = one_of(kPayloads, step.how / 4);
  if (step.how % 3 == 0) verb.version = step.how / 3 % 4;
  return verb;
}

ports::Notes Story::notes(const Step& step) {
  ports::Notes verb{.shelf = one_of(kShelves, step.which),
                    .latest_first = step.how % 2 == 0,
                    .limit = step.how % 4};
  if (step.which % 4 == 0) verb.only = one_of(kNoteKeys, step.how);
  if (step.which % 4 == 1) verb.beyond = one_of(kNoteKeys, step.how / 2);
  return verb;
}

ports::TaskRecord Story::some_task(const Step& step) {
  const auto& tasks = model_->tasks();
  if (tasks.empty()) return {};
  if (step.how % 5 == 4 && !past_.empty()) return past_[step.which % past_.size()];
  // Of what runs three times out of four: most moves begin there.
  std::vector<const ports::TaskRecord*> all;
  std::vector<const ports::TaskRecord*> running;
  for (const auto& [id, task] : tasks) {
    all.push_back(&task.record);
    if (task.record.task.state == State::running) running.push_back(&task.record);
  }
  const auto& choices = step.which % 4 == 0 || running.empty() ? all : running;
  past_.push_back(*choices[step.which / 4 % choices.size()]);
  return past_.back();
}

core::Transition Story::some_transition(const core::Task& task, std::uint32_t how) {
  constexpr std::array kVerdicts = {VerdictKind::retry,     VerdictKind::retry,
                                    VerdictKind::throttle,  VerdictKind::give_up,
                                    VerdictKind::ambiguous, VerdictKind::success};
  const core::TaskPolicy policy{.attempts = 3,
                                .crashes = 2,
                                .deferrals = 4,
                                .replays = 2,
                                .wait = retry::fixed(how / 2 % 2 == 0 ? 0s : 2s)};
  Verdict verdict;
  verdict.kind = one_of(kVerdicts, how / 7);
  Result<core::Transition> transition =
      core::decide(task, some_outcome(how), verdict, policy, now_, random_);
  if (!transition || how % 11 == 10) {
    transition = how % 2 == 0
                     ? core::replay(task, {.reset = how % 4 == 0, .insist = true}, policy, now_)
                     : core::discard(task, now_);
  }
  if (how % 9 == 8) {
    auto closed = core::close(task, static_cast<int>(how % 4), now_);
    if (closed) transition = std::move(closed);
  }
  if (!transition) transition = core::cancel(task, now_);
  if (transition) return *transition;
  // Nothing is allowed any more, so this must be refused by the store.
  return transition_of({State::running, Event::success, State::succeeded}, task, now_);
}

}  // namespace holdfast::conformance
