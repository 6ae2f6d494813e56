#pragma once

#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "ports/store_lane.hpp"
#include "simulation/sim_loop.hpp"
#include "simulation/stats.hpp"

namespace holdfast::simulation {

// What may go wrong between an engine and its store; each is a probability for one batch.
struct LaneFaults {
  double unavailable = 0;
  double exhausted = 0;
  double lost = 0;
  double cut = 0;
  double late = 0;
  double claim_doubled = 0;
  Duration latest = std::chrono::seconds(90);  // of a late answer
};

// Carries what an engine asks to a store and back, taking simulated time both ways. Keeps the
// promises of StoreLane (order, batches, answers on the loop), and breaks what a store's answer may
// break: see LaneFaults. The store outlives a crash; what is in flight here does not.
class SimLane final : public ports::StoreLane {
 public:
  struct Parts {
    Schedule* schedule;
    SimLoop* loop;  // where answers come back
    ports::Store* store;
    Stats* stats;
    const bool* faults_on;
  };
  SimLane(Parts parts, const LaneFaults& faults, SimRandom random);

  void ask(ports::Request request, Done done) override;

  // Nothing is on its way, in either direction.
  [[nodiscard]] bool is_idle() const noexcept {
    return state_->gathered.empty() && state_->answers.empty();
  }

  // The process dies. What was asked and not yet sent is carried out or not, by the seed.
  void die();

 private:
  struct Waiting {
    ports::Request request;
    Done done;
  };
  using Batch = std::vector<Waiting>;
  // Outlives the lane: what is scheduled refers to it.
  struct State : std::enable_shared_from_this<State> {
    State(Parts p, const LaneFaults& f, SimRandom r) : parts(p), faults(f), random(r) {}

    void schedule_batch();
    void carry_out_batch();
    [[nodiscard]] bool refuse(Batch& batch);
    void carry_out(Batch& batch);
    void answer(Batch batch);
    [[nodiscard]] bool happens(double probability) {
      return *parts.faults_on && random.chance(probability);
    }

    Parts parts;
    LaneFaults faults;
    SimRandom random;
    bool alive = true;
    bool busy = false;
    Batch gathered;
    std::deque<Batch> answers;
    SteadyTime last_answer{};
  };

  std::shared_ptr<State> state_;
};

}  // namespace holdfast::simulation
