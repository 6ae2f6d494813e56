#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/operation.hpp>
#include <holdfast/result.hpp>

#include "ports/records.hpp"
#include "triage/query.hpp"

// The rules of operations (N2): pure functions and values.
namespace holdfast::triage {

// What has become of a task since it was brought back.
enum class Fate : std::uint8_t {
  unknown,  // it waits, runs, or was put off without an attempt
  succeeded,
  failed,  // an attempt of it has, whether it is tried again or not
  gone,    // removed, or taken back by a person: it says nothing
};

// `token`: the one that it got when it was brought back.
[[nodiscard]] Fate fate_of(const std::optional<ports::TaskRecord>& record, core::Token token);

// Whether it was this operation that changed the task since it had that token: `by` is what it
// signs with.
[[nodiscard]] bool was_decided_by(const ports::TaskRecord& record, core::Token before,
                                  std::string_view by);

// Who is said to have decided, in the history of a task: "alice: reason", of which the beginning is
// enough there. The audit has all of it.
[[nodiscard]] std::string signed_by(std::string_view who, std::string_view reason);
[[nodiscard]] std::string signature_of(const Operation& operation);

// What a step makes of an operation; conflict where its state does not allow it.
[[nodiscard]] Result<void> take_step(Operation& operation, OperationStep step, WallTime now);

// Which tasks it is about: of what was dead or failed when it was planned, so that what dies again
// is not brought back by it a second time.
[[nodiscard]] Result<Query> query_of(const Operation& operation);

// The stages of a canary: one, ten, the rest.
inline constexpr int kStages = 3;
[[nodiscard]] OperationStage stage_numbered(int number);
[[nodiscard]] bool is_full(const OperationStage& stage);

// How those that were brought back have fared, to tell when to stop. Of a stage of known size all
// of them count; of the rest those that were seen last.
class FailureRate {
 public:
  static constexpr std::size_t kLatest = 100;
  static constexpr std::size_t kFewest = 10;  // of the rest: fewer say nothing

  void add(bool failed);
  void clear() { latest_.clear(); }
  // Why it is to stop; nothing: it may go on.
  [[nodiscard]] std::optional<std::string> too_high(const OperationStage& stage,
                                                    double stop_at) const;

 private:
  std::deque<bool> latest_;
};

// Adds a task to a plan; `refused`: why it would not be done.
void add_to_plan(OperationPlan& plan, const ports::TaskRecord& record,
                 const std::optional<Error>& refused);
// The largest come first; what a page can show is bounded.
void sort_plan(OperationPlan& plan);

}  // namespace holdfast::triage
