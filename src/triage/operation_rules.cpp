#include "triage/operation_rules.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/json_text.hpp"
#include "core/utf8.hpp"

namespace holdfast::triage {
namespace {

constexpr std::size_t kMostParts = 100;
constexpr std::size_t kMostReasonInHistory = 100;

// Of these, an attempt was made and has failed.
bool is_failed_attempt(const ports::PastAttempt& attempt) {
  switch (attempt.event) {
    case core::Event::error:
    case core::Event::crash:
    case core::Event::give_up:
    case core::Event::ambiguous:
    case core::Event::expire: return true;
    default: return false;
  }
}

std::unexpected<Error> refuse(const Operation& operation, OperationStep step,
                              std::string_view what) {
  return fail(
      ErrorCode::conflict, std::string(to_string(step)),
      fmt::format("operation {} is {}: {}", operation.id, to_string(operation.state), what));
}

// Of an operation that is planned.
std::uint64_t total_of(const Operation& operation) {
  const std::uint64_t all = operation.progress.done + operation.plan.possible;
  return std::min(all, operation.options.cap.value_or(all));
}

void count_part(std::vector<OperationPlan::Part>& parts, const std::string& name) {
  auto found = std::ranges::find(parts, name, &OperationPlan::Part::name);
  if (found == parts.end()) {
    if (parts.size() >= kMostParts) return count_part(parts, "…");
    found = parts.insert(parts.end(), {.name = name});
  }
  ++found->count;
}

void sort_by_count(auto& entries, auto name) {
  std::ranges::sort(entries, [name](const auto& a, const auto& b) {
    return a.count != b.count ? a.count > b.count : a.*name < b.*name;
  });
}

}  // namespace

Fate fate_of(const std::optional<ports::TaskRecord>& record, core::Token token) {
  if (!record) return Fate::gone;
  const bool failed = std::ranges::any_of(record->attempts, [&](const auto& attempt) {
    return attempt.token > token && is_failed_attempt(attempt);
  });
  if (failed) return Fate::failed;
  switch (record->task.state) {
    case core::State::succeeded: return Fate::succeeded;
    case core::State::failed:
    case core::State::dead: return record->task.token > token ? Fate::failed : Fate::unknown;
    case core::State::canceled: return Fate::gone;
    default: return Fate::unknown;
  }
}

bool was_decided_by(const ports::TaskRecord& record, core::Token before, std::string_view by) {
  return std::ranges::any_of(record.attempts, [&](const ports::PastAttempt& attempt) {
    return attempt.token > before && attempt.owner == by;
  });
}

std::string signed_by(std::string_view who, std::string_view reason) {
  std::string text(who);
  if (!reason.empty()) text += ": " + std::string(utf8_prefix(reason, kMostReasonInHistory));
  return text;
}

std::string signature_of(const Operation& operation) {
  return signed_by(fmt::format("{}, operation {}", operation.by, operation.id), operation.reason);
}

Result<void> take_step(Operation& operation, OperationStep step, WallTime now) {
  using enum OperationState;
  const OperationState state = operation.state;
  if (has_ended(state)) return refuse(operation, step, "it has ended, and changes no more");
  switch (step) {
    case OperationStep::start:
      if (state != planned) return refuse(operation, step, "only what is planned can be started");
      operation.started = now;
      operation.state = running;
      operation.progress.total = total_of(operation);
      break;
    case OperationStep::pause:
      if (state != running && state != waiting) {
        return refuse(operation, step, "only what runs can be paused");
      }
      operation.state = paused;
      break;
    case OperationStep::resume:
      if (state != paused && state != stopped) {
        return refuse(operation, step, "only what is paused or stopped can be resumed");
      }
      // What has failed again meanwhile is among what is looked at anew.
      operation.state = state == stopped ? planning : running;
      break;
    case OperationStep::cancel:
      operation.state = canceled;
      operation.ended = now;
      break;
  }
  operation.why.clear();
  operation.changed = now;
  return {};
}

Result<Query> query_of(const Operation& operation) {
  auto query = operation.ids.empty() ? Query::parse(operation.query, operation.created)
                                     : Query::of_ids(operation.ids);
  if (!query) return query;
  return query->with_states({core::State::dead, core::State::failed}).with_until(operation.as_of);
}

OperationStage stage_numbered(int number) {
  OperationStage stage{.number = number};
  if (number == 1) stage.size = 1;
  if (number == 2) stage.size = 10;
  return stage;
}

bool is_full(const OperationStage& stage) {
  return stage.size && stage.done >= *stage.size;
}

void FailureRate::add(bool failed) {
  latest_.push_back(failed);
  if (latest_.size() > kLatest) latest_.pop_front();
}

std::optional<std::string> FailureRate::too_high(const OperationStage& stage,
                                                 double stop_at) const {
  const auto tell = [&](std::uint64_t failed, std::uint64_t of) -> std::optional<std::string> {
    const double share = static_cast<double>(failed) / static_cast<double>(of);
    if (failed == 0 || share <= stop_at) return std::nullopt;
    return fmt::format(
        "{} of {} that were brought back failed again ({:.0f} %, more than {:.0f} % stop it): mend "
        "the cause, then resume",
        failed, of, share * 100, stop_at * 100);
  };
  if (stage.size)
    return tell(stage.failed, std::min(*stage.size, std::max<std::uint64_t>(stage.done, 1)));
  if (latest_.size() < kFewest) return std::nullopt;
  const auto failed = static_cast<std::uint64_t>(std::ranges::count(latest_, true));
  return tell(failed, latest_.size());
}

void add_to_plan(OperationPlan& plan, const ports::TaskRecord& record,
                 const std::optional<Error>& refused) {
  ++plan.matching;
  if (!refused) {
    ++plan.possible;
    count_part(plan.queues, record.queue);
    count_part(plan.types, record.type);
    return;
  }
  const std::string& why = refused->message;
  auto found = std::ranges::find(plan.refused, why, &OperationPlan::Refused::why);
  if (found == plan.refused.end()) {
    found = plan.refused.insert(plan.refused.end(), {.why = why, .example = record.id});
  }
  ++found->count;
}

void sort_plan(OperationPlan& plan) {
  sort_by_count(plan.queues, &OperationPlan::Part::name);
  sort_by_count(plan.types, &OperationPlan::Part::name);
  sort_by_count(plan.refused, &OperationPlan::Refused::why);
}

}  // namespace holdfast::triage
