#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulation/store_model.hpp"
#include "simulation/task_types.hpp"

namespace holdfast::simulation {

// What the world knows of one life of a process.
struct LifeFacts {
  std::string owner;
  bool dead = false;  // it crashed, or has shut down to the end
  bool shutting_down = false;
  // Its witness can tell what the life before was working on, and there was no other.
  bool knows_last_life = true;  // its witness could tell what the life before was working on
  int last_life = 0;            // on the same machine; 0: none
  std::size_t concurrency = 0;  // of each queue
};

// What really happened to attempts, as handlers and people know it, and whether what engines make
// of it is true: a success needs a handler that said so, a crash a process that died, a shutdown
// spends nothing. Kept outside of every engine, and across their deaths.
class AttemptLedger {
 public:
  AttemptLedger(StoreModel::Parts parts) : parts_(parts) {}

  int new_life(LifeFacts facts);  // from 1
  [[nodiscard]] LifeFacts& life(int number) {
    return lives_.at(static_cast<std::size_t>(number - 1));
  }

  // What a person asked for, or is about to.
  void person_asks(core::Event event, const TaskId& id) { ++asked_[{id, event}]; }

  // How often a task may be brought back that asks for it; below 0: dead letters are kept.
  void set_redrive_rounds(int rounds) { redrive_rounds_ = rounds; }

  // One attempt of a task. By its number and not its id: a task that was purged may be submitted
  // again under the same one.
  struct Attempt {
    int task = 0;
    std::uint64_t token = 0;

    auto operator<=>(const Attempt&) const = default;
  };

  // What handlers say.
  void begun(int life, const Attempt& attempt, const ports::TaskRecord& task);
  void heartbeat(const Attempt& attempt);
  void reported(int life, const Attempt& attempt, const std::string& queue, Report report);
  void dropped(int life, const Attempt& attempt, const std::string& queue);

  // Whether it began, and its handler has said how it ended, or has let it go.
  [[nodiscard]] bool has_ended(const Attempt& attempt) const;

  // What the store carried out.
  void on_claim(Asker asker, const KnownTask& before, const ports::Claim& claim);
  void on_move(Asker asker, const KnownTask& before, const ports::Change::One& one);

 private:
  struct Facts {
    int claimed_by = 0;
    bool begun = false;
    bool ended = false;
    SteadyTime beat{};  // when it began, or its last heartbeat
    WallTime wall_beat{};
    std::optional<Report> report;
    bool dropped = false;
    bool settled = false;
  };

  [[nodiscard]] bool is_true(Asker asker, const KnownTask& before, const ports::Change::One& one,
                             const Facts& facts) const;
  [[nodiscard]] bool may_be_error(const KnownTask& before, const Facts& facts) const;
  [[nodiscard]] bool may_be_crash(Asker asker, const KnownTask& before, const Facts& facts) const;
  [[nodiscard]] bool may_be_handed_back(Asker asker, const Facts& facts) const;
  [[nodiscard]] bool may_be_redriven(const KnownTask& before) const;
  [[nodiscard]] bool has_timed_out(const KnownTask& before, const Facts& facts) const;

  StoreModel::Parts parts_;
  std::vector<LifeFacts> lives_;
  std::map<Attempt, Facts> facts_;
  std::map<std::pair<TaskId, core::Event>, int> asked_;
  int redrive_rounds_ = -1;
  std::map<std::pair<int, std::string>, std::size_t> working_;  // by life and queue
};

}  // namespace holdfast::simulation
