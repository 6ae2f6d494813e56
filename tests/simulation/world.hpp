#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/uuid.hpp"
#include "simulation/process.hpp"

namespace holdfast::simulation {

struct RunOptions {
  std::optional<Bug> bug = {};
  bool whole_trace = false;
};

// How one run of one seed went.
struct RunReport {
  std::optional<std::string> breach;  // the invariant that was broken
  std::uint64_t hash = 0;             // of the trace
  std::vector<std::string> trace;     // the end of it, or all
  Stats stats;
};

// Everything there is in one simulated world, made from a seed alone: machines with engines on
// them, a store that outlives them, those who submit, those who decide, and what goes wrong. For a
// while there is trouble; then it ends, and everything must come to its end too.
class World {
 public:
  World(std::uint64_t seed, const RunOptions& options);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  [[nodiscard]] RunReport run();

 private:
  struct Machine {
    int number = 0;
    WitnessFile witness;
    std::unique_ptr<Process> process;  // nothing: it is down
    bool machine_died = false;
    bool shutting_down = false;

    [[nodiscard]] bool is_up() const { return process && process->engine() && !shutting_down; }
  };
  // A task that somebody wants to have run, until it is known to be accepted.
  struct Order {
    ports::NewTask task;
    bool done = false;
    bool asked = false;
  };

  // Machines.
  void boot(Machine& machine);
  void crash(Machine& machine, bool with_machine);
  void crash_later(Machine& machine, int life);
  void lose_engine(Machine& machine);
  void boot_later(Machine& machine);
  void shut_down(Machine& machine, bool forced);
  [[nodiscard]] Machine* any_up();

  // Who wants something.
  void plan_orders();
  [[nodiscard]] Order draw_order();
  void submit(std::vector<std::size_t> orders);
  void answered(const std::vector<std::size_t>& orders,
                const Result<ports::Submit::Answer>& answer);
  void person_acts();
  [[nodiscard]] TaskId choose_task();
  void decide(engine::Engine& engine, const TaskId& id);
  void change_queue(engine::Engine& engine);

  // Trouble, and its end.
  void every(Duration mean, std::function<void()> what);
  void trouble();
  void jump_wall();
  void calm();
  void open_queue(const std::string& queue);

  void step_and_check();
  [[nodiscard]] bool drained() const;
  void drain();
  void shut_all_down();
  void last_checks();
  void line(std::string_view words, std::initializer_list<std::int64_t> numbers = {});

  SimRandom random_;
  Plan plan_;
  std::optional<Bug> bug_;
  SimClock clock_;
  Trace trace_;
  Stats stats_;
  Breach breach_;
  bool faults_on_ = true;
  Schedule schedule_;
  stores::MemoryStore memory_;
  std::optional<BuggyStore> buggy_;
  ports::Store* store_;
  AttemptLedger ledger_;
  StoreModel model_;
  UuidSource ids_;
  std::vector<Order> orders_;
  std::vector<std::unique_ptr<Machine>> machines_;
  std::vector<std::unique_ptr<Process>>
      graves_;  // of processes: what is scheduled may refer to them
  Duration jumped_{};
  bool ending_ = false;  // nobody boots again
};

// Runs a seed twice: what broke, if anything, and "not deterministic" if the runs differ.
[[nodiscard]] RunReport simulate(std::uint64_t seed, const RunOptions& options = {});

}  // namespace holdfast::simulation
