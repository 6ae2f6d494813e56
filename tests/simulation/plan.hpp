#pragma once

#include "simulation/sim_handler.hpp"
#include "simulation/sim_lane.hpp"

namespace holdfast::simulation {

// What a seed has chosen. Each kind of fault is there in some seeds and absent in others: where
// everything goes wrong at once, nothing gets far enough to go wrong in an interesting way.
struct Plan {
  bool shared = false;  // two machines on one store; leases are all that tells who is dead
  int tasks = 0;
  Duration trouble_lasts{};
  LaneFaults lane;
  HandlerFaults handler;

  // Of whole processes: how often, on average; zero: never.
  Duration crash_every{};
  double machine_share = 0;  // of crashes that take the witness with them
  Duration shutdown_every{};
  double forced_share = 0;
  Duration jump_every{};
  Duration person_every{};

  // Of engines.
  Duration lease{};
  Duration sweep_every{};
  Duration janitor_every{};
  Duration keep{};
  std::size_t concurrency = 1;
  std::size_t backlog = 0;
  int redrive_rounds = -1;  // of dead letters that ask for it; below 0: dead letters are kept
  Duration dead_poll{};

  [[nodiscard]] static Plan draw(SimRandom& random);
};

}  // namespace holdfast::simulation
