#include "engine/judge.hpp"

#include <exception>
#include <functional>

#include <holdfast/failure.hpp>

#include "core/rules.hpp"
#include "core/utf8.hpp"
#include "engine/task_log.hpp"

namespace holdfast::engine {
namespace {

constexpr std::size_t kLoggedBytes = 1000;
constexpr std::size_t kRememberedBytes = 512;

Result<core::Transition> decide(const ports::TaskRecord& record, const TaskType& type,
                                const core::Outcome& outcome, const Verdict& verdict, WallTime now,
                                Random& random) {
  // A policy is copied only where it must be.
  if (!record.limits.attempts) {
    return core::decide(record.task, outcome, verdict, type.options.policy, now, random);
  }
  return core::decide(record.task, outcome, verdict, type.policy_of(record.limits), now, random);
}

// Adds to a record which task it is about.
class OfTask final : public LogSink {
 public:
  OfTask(const Logger& log, const ports::TaskRecord& task) : log_(log), task_(task) {}

  void write(const LogRecord& record) noexcept override {
    log_task(log_, {record.level, record.event, record.message}, task_, record.fields);
  }

 private:
  const Logger& log_;
  const ports::TaskRecord& task_;
};

Verdict classify(const Classifier& classifier, const Failure& failure,
                 const ports::TaskRecord& task, const Parts& parts) {
  if (!parts.log.enabled(Level::warning)) return classifier.classify(failure.view()).verdict;
  OfTask sink(parts.log, task);
  return classifier.classify(failure.view(), Logger(sink, parts.clock, Level::debug)).verdict;
}

}  // namespace

Judge::Judged Judge::judge(const ports::TaskRecord& record, const TaskType& type,
                           core::Outcome outcome, const Verdict* said) {
  static const Classifier retry_everything;
  Judged judged;
  if (said) {
    judged.verdict = *said;
  } else if (const auto* failure = std::get_if<Failure>(&outcome)) {
    const Classifier& classifier =
        type.options.classifier ? *type.options.classifier : retry_everything;
    judged.verdict = classify(classifier, *failure, record, floor_.parts);
  }
  auto transition = decide_safely(record, type, outcome, judged.verdict);
  ports::Change::One& change = judged.change;
  change.id = record.id;
  change.token = record.task.token;
  // What a store hands out as running can be settled; one that does not is a bug of ours.
  change.transition = std::move(transition).value();
  if (auto* success = std::get_if<core::Success>(&outcome)) {
    change.result = std::move(success->result);
  }
  const core::State to = change.transition.to;
  if (to == core::State::failed || to == core::State::dead) {
    change.fingerprint = group_of(change.transition);
  }
  return judged;
}

// A wait may be a function of the user's, and throw: that is no reason to stop everything.
Result<core::Transition> Judge::decide_safely(const ports::TaskRecord& record, const TaskType& type,
                                              const core::Outcome& outcome,
                                              const Verdict& verdict) {
  const WallTime now = floor_.wall_now();
  try {
    return decide(record, type, outcome, verdict, now, floor_.parts.random);
  } catch (...) {
    log_task(floor_.parts.log,
             {Level::error, "task.wait_threw",
              "the wait of this type threw: the usual wait is taken instead"},
             record, {{"error", to_failure(std::current_exception()).message}});
    core::TaskPolicy policy = type.policy_of(record.limits);
    policy.wait = core::TaskPolicy().wait;
    return core::decide(record.task, outcome, verdict, policy, now, floor_.parts.random);
  }
}

Fingerprint Judge::group_of(const core::Transition& transition) {
  std::string_view text;
  if (transition.failure) {
    text = transition.failure->message;
  } else if (transition.dead_reason) {
    text = core::to_string(*transition.dead_reason);
  }
  if (text.size() > kRememberedBytes) return fingerprint(text);
  Known& known = known_[std::hash<std::string_view>()(text) % known_.size()];
  if (known.text != text || known.fingerprint == Fingerprint()) {
    known = {std::string(text), fingerprint(text)};
  }
  return known.fingerprint;
}

void Judge::log(const ports::TaskRecord& record, const ports::Change::One& change) const {
  const core::Transition& transition = change.transition;
  if (transition.to == core::State::succeeded) return;
  const std::string_view error = transition.failure
                                     ? utf8_prefix(transition.failure->message, kLoggedBytes)
                                     : std::string_view("");
  const int attempts = transition.spent.attempts + transition.spent.crashes;
  const Logger& log = floor_.parts.log;
  switch (transition.to) {
    case core::State::retrying:
      log_task(log, {Level::info, "task.retry", "tried again later"}, record,
               {{"outcome", core::to_string(transition.event)},
                {"attempt", attempts},
                {"wait", transition.wait},
                {"error", error}});
      return;
    case core::State::failed:
      log_task(log, {Level::warning, "task.failed", "given up at once: trying again cannot help"},
               record, {{"attempts", attempts}, {"error", error}});
      return;
    case core::State::dead:
      log_task(log, {Level::warning, "task.dead", "a dead letter"}, record,
               {{"reason", transition.dead_reason ? core::to_string(*transition.dead_reason) : ""},
                {"attempts", attempts},
                {"error", error}});
      return;
    default:
      log_task(log, {Level::debug, "task.handed_back", "pending again, nothing spent"}, record);
  }
}

}  // namespace holdfast::engine
