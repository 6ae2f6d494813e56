#pragma once

#include <functional>
#include <string>

#include "engine/engine.hpp"
#include "engine/floor.hpp"

namespace holdfast::engine {

// What people decide about single tasks: read it, ask the rules, have the store carry it out if the
// task still is what was read; else from the beginning, a few times.
class Decisions {
 public:
  using Rule = std::function<Result<core::Transition>(const ports::TaskRecord&)>;
  using Carried = std::function<void(const ports::TaskRecord&, const core::Transition&)>;

  // `carried` hears of each decision that the store has carried out.
  Decisions(Floor& floor, Carried carried) : floor_(floor), carried_(std::move(carried)) {}

  void cancel(TaskId id, Engine::Decided then, std::string by);
  void replay(TaskId id, core::ReplayOptions options, Engine::Decided then, std::string by);
  void discard(TaskId id, Engine::Decided then, std::string by);
  [[nodiscard]] Result<core::Transition> would_replay(const ports::TaskRecord& record,
                                                      const core::ReplayOptions& options) const;

 private:
  struct Asking {
    std::string operation;
    TaskId id;
    Rule rule;
    Engine::Decided then;
    std::string by;
    int tries_left = 8;
  };

  void look(Asking asking);
  void carry_out(Asking asking, ports::TaskRecord record);
  void carried_out(Asking asking, const ports::TaskRecord& record,
                   const ports::Asked<ports::Change>& asked);

  Floor& floor_;
  const Carried carried_;
};

}  // namespace holdfast::engine
