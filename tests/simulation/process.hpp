#pragma once

#include <functional>
#include <memory>
#include <string>

#include "engine/engine.hpp"
#include "simulation/plan.hpp"
#include "simulation/planted_bugs.hpp"
#include "simulation/sim_witness.hpp"

namespace holdfast::simulation {

inline constexpr const char* kQueues[] = {"fast", "slow"};

// Tells the model of everything that one process has carried out.
class WatchedStore final : public ports::Store {
 public:
  WatchedStore(ports::Store& inner, StoreModel& model, int life)
      : inner_(&inner), model_(&model), life_(life) {}

  void carry_out(std::span<ports::Request> batch) override {
    inner_->carry_out(batch);
    for (const ports::Request& request : batch)
      model_->saw({life_}, request);
  }

 private:
  ports::Store* inner_;
  StoreModel* model_;
  int life_;
};

// One life of a simulated process: an engine, and everything that dies with it.
class Process {
 public:
  struct Parts {
    Schedule* schedule;
    ports::Store* store;          // shared, and outlives every process
    stores::MemoryStore* memory;  // what is behind it
    StoreModel* model;
    AttemptLedger* ledger;
    Stats* stats;
    Trace* trace;
    const bool* faults_on;
    WitnessFile* witness_file;
    bool witness_can_tell = true;
    int life = 0;
    std::string owner;
    std::optional<Bug> bug;
    std::function<void()> crash;
  };
  Process(Parts parts, const Plan& plan, SimRandom random);

  // At once, in the middle of whatever it did.
  void die();
  // The engine alone is thrown away: its loop, lanes and handlers live on, until die().
  void lose_engine() { engine_.reset(); }

  [[nodiscard]] engine::Engine* engine() const noexcept { return engine_.get(); }
  [[nodiscard]] int life() const noexcept { return life_; }
  // It waits for nothing that the store has to say.
  [[nodiscard]] bool is_idle() const noexcept { return writer_.is_idle() && reader_.is_idle(); }

 private:
  const int life_;
  SimRandom random_;
  SimLoop loop_;
  WatchedStore watched_;
  std::optional<BuggyStore> buggy_;
  SimLane writer_;
  SimLane reader_;
  SimWitness witness_;
  SimRandom engine_random_;
  std::shared_ptr<SimHandler> handler_;
  std::unique_ptr<engine::Engine> engine_;
};

}  // namespace holdfast::simulation
