#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "engine/floor.hpp"
#include "engine/judge.hpp"

namespace holdfast::engine {

// Lends tasks to workers elsewhere, who ask for them and say later what became of them.
//
// Nothing of a loan is held here: whoever has its id and token may settle it, also after this
// process was restarted meanwhile. One that is neither settled nor extended ends with its lease,
// and the rescuer finds it. What is kept are those who wait for a task; one that leaves before it
// is answered loses nothing: what was claimed for it is handed back.
class Lending {
 public:
  using Carried = std::function<void(const ports::TaskRecord&, const core::Transition&)>;

  // `carried` hears of each settlement that the store has carried out.
  Lending(Floor& floor, Judge& judge, Carried carried)
      : floor_(floor), judge_(judge), carried_(std::move(carried)) {}

  [[nodiscard]] Engine::Ticket lend(Engine::Loan loan, Engine::Lent then);
  void withdraw(Engine::Ticket ticket);
  std::size_t withdraw(const std::string& worker);
  void settle(ports::Held claim, core::Outcome outcome, std::optional<Engine::Ruled> ruled,
              Engine::Decided then);
  void extend(ports::Held claim, Duration lease, Engine::Extended then);

  // Before the store is asked to make it so; run_once() then claims.
  void due_at(const std::string& queue, WallTime due);
  void news(const std::string& queue);  // there may be tasks that are due
  void any_news();                      // in any of them
  void run_once();
  // Nobody waits any more. What claims under way bring is handed back.
  void stop();
  // The store has not answered yet what is not to be left with nobody.
  [[nodiscard]] bool is_claiming() const noexcept { return under_way_ > 0; }
  [[nodiscard]] std::size_t queue_count() const noexcept { return desks_.size(); }  // waited at

 private:
  struct Waiting {
    Engine::Ticket ticket;
    Engine::Loan loan;
    Engine::Lent then;
    std::unique_ptr<ports::Loop::Timer> patience = {};
    bool asked = false;   // the store is being asked for it
    bool patient = true;  // would wait on if there is nothing
  };
  struct Desk {
    std::list<Waiting> waiting;  // in the order they came
    bool dry = true;             // gave nothing, or nobody has asked
    std::uint64_t news = 0;
    WallTime noted_due = WallTime::max();
    std::unique_ptr<ports::Loop::Timer> wake = {};
    SteadyTime wake_time{};  // of `wake`, if there is one
  };
  using Desks = std::map<std::string, Desk, std::less<>>;
  using LookedUp = std::move_only_function<void(Result<ports::TaskRecord>)>;

  void ask(const std::string& queue, Desk& desk, Waiting& waiting);
  void answered(const std::string& queue, Engine::Ticket ticket, std::uint64_t news,
                ports::Asked<ports::Claim>& asked);
  void went_dry(const std::string& queue, Desk& desk, const ports::Claim::Answer& answer);
  void wake_at(const std::string& queue, Desk& desk, WallTime due);
  void out_of_patience(const std::string& queue, Engine::Ticket ticket);
  void take_late(std::vector<ports::TaskRecord>& tasks);
  void take_too_much(std::vector<ports::TaskRecord>& tasks);
  void give_back(std::vector<ports::TaskRecord> tasks, const core::Outcome& outcome);
  void carry_out(ports::TaskRecord record, core::Outcome outcome,
                 const std::optional<Engine::Ruled>& ruled, Engine::Decided then);
  void look_up(TaskId id, LookedUp then);
  void recall(ports::Held claim, core::Outcome gist, Engine::Decided then);
  [[nodiscard]] ports::Change::One judge(const ports::TaskRecord& record, core::Outcome outcome,
                                         const std::optional<Engine::Ruled>& ruled);
  [[nodiscard]] std::list<Waiting>::iterator find(Desk& desk, Engine::Ticket ticket);
  [[nodiscard]] Engine::Lent take_out(Desks::iterator desk, std::list<Waiting>::iterator waiting);

  Floor& floor_;
  Judge& judge_;
  const Carried carried_;
  Desks desks_;                // where somebody waits
  std::size_t under_way_ = 0;  // claims, and what is handed back
  bool stopped_ = false;
};

}  // namespace holdfast::engine
