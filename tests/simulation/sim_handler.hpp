#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>

#include "ports/handler.hpp"
#include "simulation/attempt_ledger.hpp"
#include "simulation/sim_loop.hpp"

namespace holdfast::simulation {

// How badly handlers behave: each is a probability for one attempt.
struct HandlerFaults {
  double slow = 0;
  double endless = 0;
  double deaf = 0;
  double dropped = 0;
  double twice = 0;
  double late = 0;
  double unbegun = 0;
  double crash = 0;
  double heartbeat = 0;
  double inline_work = 0;  // all of it from within start()
  double fails = 0.3;      // with whatever else a Report can say
  double throttled = 0;    // of those that fail
};

// Handlers of a simulated process: everything that the contract of ports::Handler allows, and a
// little more, by the seed.
class SimHandler final : public ports::Handler {
 public:
  struct Parts {
    Schedule* schedule;
    AttemptLedger* ledger;
    const StoreModel* model;
    Stats* stats;
    Trace* trace;
    const bool* faults_on;
    int life = 0;
    std::size_t backlog = 0;
    std::size_t threads = 1;      // for each queue: what it works on at once
    std::function<void()> crash;  // takes the process down
  };
  SimHandler(Parts parts, const HandlerFaults& faults, SimRandom random)
      : parts_(std::move(parts)), faults_(faults), random_(random) {}

  void start(std::shared_ptr<ports::Run> run) noexcept override;
  [[nodiscard]] std::size_t backlog() const noexcept override { return parts_.backlog; }

  // The process is dead: its attempts are gone without a word.
  void die();

 private:
  // One attempt, and what it is going to do.
  struct Work {
    std::uint64_t place = 0;
    AttemptLedger::Attempt attempt;
    std::shared_ptr<ports::Run> run;
    Report report = Report::success;
    Duration begins_after{};
    Duration takes{};
    std::optional<Duration> beats;  // how often
    bool endless = false;
    Duration stops_after{};
    bool drops = false;
    bool twice = false;
    bool crashes = false;
    bool unbegun = false;
    bool has_begun = false;
    std::optional<std::stop_callback<std::function<void()>>> on_stop;
  };
  using WorkPtr = std::shared_ptr<Work>;

  [[nodiscard]] WorkPtr plan(std::shared_ptr<ports::Run> run);
  [[nodiscard]] Report draw_report();
  [[nodiscard]] bool happens(double probability, Happening happening);
  void begin(const WorkPtr& work);
  void begin_next(const std::string& queue);
  void forget(const WorkPtr& work);
  void go_on(const WorkPtr& work, Duration rest);
  void end(const WorkPtr& work);
  void finish(const WorkPtr& work, Report report);
  void later(Duration wait, const WorkPtr& work, void (SimHandler::*what)(const WorkPtr&));
  void line(const WorkPtr& work, std::string_view words, std::string_view note = {});

  Parts parts_;
  HandlerFaults faults_;
  SimRandom random_;
  std::uint64_t next_place_ = 0;
  std::map<std::uint64_t, WorkPtr> works_;
  struct Pool {
    std::size_t working = 0;
    std::deque<std::weak_ptr<Work>> waiting;  // for a thread
  };
  std::map<std::string, Pool> pools_;  // by queue
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace holdfast::simulation
