#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <holdfast/verdict.hpp>

#include "engine/floor.hpp"
#include "ports/store.hpp"

namespace holdfast::engine {

// From how an attempt ended to what the store is to do: classify, decide, find its group. And says
// in the log what became of it, once the store has done so.
class Judge {
 public:
  explicit Judge(Floor& floor) : floor_(floor) {}

  struct Judged {
    ports::Change::One change;
    Verdict verdict = {};
  };
  // `said`: the verdict, where somebody else has classified the failure.
  [[nodiscard]] Judged judge(const ports::TaskRecord& record, const TaskType& type,
                             core::Outcome outcome, const Verdict* said = nullptr);

  // A success is not worth a line.
  void log(const ports::TaskRecord& record, const ports::Change::One& change) const;

  // Normalizing an error costs more than all the rest of its settlement, and errors come in
  // thousands of the same text.
  [[nodiscard]] Fingerprint group_of(const core::Transition& transition);

 private:
  struct Known {
    std::string text;
    Fingerprint fingerprint;
  };

  [[nodiscard]] Result<core::Transition> decide_safely(const ports::TaskRecord& record,
                                                       const TaskType& type,
                                                       const core::Outcome& outcome,
                                                       const Verdict& verdict);

  Floor& floor_;
  std::array<Known, 64> known_{};
};

}  // namespace holdfast::engine
