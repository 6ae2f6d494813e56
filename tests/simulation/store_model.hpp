#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ports/store.hpp"
#include "simulation/sim_loop.hpp"
#include "simulation/stats.hpp"
#include "simulation/trace.hpp"
#include "stores/memory/memory_store.hpp"

namespace holdfast::simulation {

// The first invariant that was broken; what comes after it says little.
class Breach {
 public:
  void found(std::string what) {
    if (!what_) what_ = std::move(what);
  }
  [[nodiscard]] const std::optional<std::string>& what() const noexcept { return what_; }
  [[nodiscard]] bool is_found() const noexcept { return what_.has_value(); }

 private:
  std::optional<std::string> what_;
};

// A task as the model knows it.
struct KnownTask {
  int number = 0;  // short, for people
  ports::NewTask asked;
  core::Task task;
  WallTime changed{};
  std::string owner;
  WallTime lease_end{};
  std::optional<std::string> result;
  core::Token seen_overdue{};  // somebody was told that the claim with this token is overdue
};

// Who asked the store for something.
struct Asker {
  int life = 0;  // of which process
};

// What the store must say and hold, kept outside of it: every verb that was carried out is carried
// out here again, from the contract in ports/store.hpp and not from the store's code. Whatever the
// store answers or holds that is not so is a breach. So are moves that the rules do not know,
// limits passed, and waits cut short: nothing of that is left to the engine's word.
class StoreModel {
 public:
  struct Parts {
    Breach* breach;
    Stats* stats;
    Trace* trace;
    const SimClock* clock;
  };
  // Told of a claim and of a move that was carried out, before the model carries it out.
  using OnClaim = std::function<void(Asker, const KnownTask& before, const ports::Claim&)>;
  using OnMove = std::function<void(Asker, const KnownTask& before, const ports::Change::One&)>;

  StoreModel(Parts parts, OnClaim on_claim, OnMove on_move)
      : parts_(parts), on_claim_(std::move(on_claim)), on_move_(std::move(on_move)) {}

  // Whatever is not a breach is now known.
  void saw(Asker asker, const ports::Request& request);

  // Compares all that the store holds and counts with what it must.
  void compare(const stores::MemoryStore& kept, ports::Store& asked);

  [[nodiscard]] const std::map<TaskId, KnownTask>& tasks() const noexcept { return tasks_; }
  [[nodiscard]] bool was_purged(const TaskId& id) const { return purged_.contains(id); }
  [[nodiscard]] bool has_changed() const noexcept { return changed_; }
  [[nodiscard]] int number_of(const TaskId& id) const;
  [[nodiscard]] std::size_t unfinished() const;
  // Neither paused nor limited in any way.
  [[nodiscard]] bool is_open(const std::string& queue) const;

 private:
  struct Settings {
    bool paused = false;
    int concurrency = 0;
    int backlog = 0;
  };

  void saw(Asker asker, const ports::Submit& verb, const ports::Submit::Answer& answer);
  void saw(Asker asker, const ports::Claim& verb, const ports::Claim::Answer& answer);
  void saw(Asker asker, const ports::Renew& verb, const ports::Renew::Answer& answer);
  void saw(Asker asker, const ports::Change& verb, const ports::Change::Answer& answer);
  void saw(Asker asker, const ports::Overdue& verb, const ports::Overdue::Answer& answer);
  void saw(Asker asker, const ports::Purge& verb, const ports::Purge::Answer& answer);
  void saw(Asker asker, const ports::Configure& verb, const ports::Configure::Answer& answer);
  void saw(Asker asker, const ports::Find& verb, const ports::Find::Answer& answer);
  template <class Verb, class Answer>
  void saw(Asker, const Verb&, const Answer&) {}  // checked by compare()

  void accepted(const ports::NewTask& task, const Result<ports::Submit::Accepted>& answer);
  void claimed(Asker asker, const ports::Claim& verb, const ports::TaskRecord& record);
  void check_left(const ports::Claim& verb, const ports::Claim::Answer& answer);
  void changed(Asker asker, const ports::Change::One& one, ports::Change::Done done);
  void claimed_again(Asker asker, const KnownTask& before, ports::Change::Done done);
  void check_move(const KnownTask& task, const ports::Change::One& one);
  void check_wait(const KnownTask& task, const core::Transition& transition);
  void check_limits(const KnownTask& task);
  void compare_task(const KnownTask& known, const ports::TaskRecord& record);
  void compare_counts(ports::Store& asked);
  void compare_audit(ports::Store& asked);
  [[nodiscard]] int running_of(const std::string& queue) const;
  [[nodiscard]] bool is_full(const std::string& queue) const;
  [[nodiscard]] bool is_blocked(const std::string& queue) const;
  void broken(const KnownTask& task, std::string_view what);
  void line(std::string_view words, std::initializer_list<std::int64_t> numbers,
            std::string_view note = {});

  Parts parts_;
  OnClaim on_claim_;
  OnMove on_move_;
  std::map<TaskId, KnownTask> tasks_;
  std::map<TaskId, int> purged_;  // and their numbers
  std::map<std::string, TaskId> keys_;
  std::map<std::string, Settings> settings_;
  std::array<std::uint64_t, 7> removed_{};
  int next_number_ = 1;
  bool changed_ = false;  // since the last comparison, something may have
  bool moved_ = false;    // since the last comparison, a task has
};

}  // namespace holdfast::simulation
