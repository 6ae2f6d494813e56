#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "ports/store.hpp"

namespace holdfast::stores {

// A store in memory that is plain before all else: what can be found by looking at every task is
// found so, and not kept twice. It is what the simulation runs on, and the model that the other
// stores are compared with; for work it is too slow, and not durable.
//
// Deterministic: the same verbs give the same answers, to the last byte. A copy is a snapshot.
// Threads: one at a time.
class MemoryStore final : public ports::Store {
 public:
  struct Kept {
    ports::TaskRecord record;  // with all that Find tells
    std::int64_t number = 0;   // the how-manieth that was accepted
    // With which a broker had a message for it; nothing: none ever had.
    std::optional<core::Token> carried = {};
  };
  struct Settings {
    bool paused = false;
    int concurrency = 0;
    int backlog = 0;

    bool operator==(const Settings&) const = default;
  };

  struct Had {  // a claim, beside its token
    std::string owner = {};
    WallTime lease_end{};
  };

  void carry_out(std::span<ports::Request> batch) override;

  // What is in it, for checks after each step of a simulation.
  [[nodiscard]] const std::map<TaskId, Kept>& tasks() const noexcept { return tasks_; }
  [[nodiscard]] const std::map<std::string, Settings>& settings() const noexcept {
    return settings_;
  }
  [[nodiscard]] std::uint64_t accepted() const noexcept { return accepted_; }
  [[nodiscard]] const std::array<std::uint64_t, 7>& removed() const noexcept { return removed_; }

  // Changes a record behind the store's back, so that an audit has something to find. False: there
  // is no such task.
  bool damage(const TaskId& id, const std::function<void(ports::TaskRecord&)>& how);

 private:
  using GroupKey = std::pair<core::State, Fingerprint>;

  // One for each verb; `carry_out` finds them by their argument.
  Result<ports::Submit::Answer> run(const ports::Submit& verb);
  Result<ports::Claim::Answer> run(const ports::Claim& verb);
  Result<ports::Renew::Answer> run(const ports::Renew& verb);
  Result<ports::Change::Answer> run(const ports::Change& verb);
  Result<ports::Overdue::Answer> run(const ports::Overdue& verb);
  Result<ports::Purge::Answer> run(const ports::Purge& verb);
  Result<ports::Configure::Answer> run(const ports::Configure& verb);
  Result<ports::Find::Answer> run(const ports::Find& verb);
  Result<ports::List::Answer> run(const ports::List& verb);
  Result<ports::Count::Answer> run(const ports::Count& verb);
  Result<ports::Groups::Answer> run(const ports::Groups& verb);
  Result<ports::Audit::Answer> run(const ports::Audit& verb);
  Result<ports::Carried::Answer> run(const ports::Carried& verb);
  Result<ports::Uncarried::Answer> run(const ports::Uncarried& verb);
  Result<ports::Withdraw::Answer> run(const ports::Withdraw& verb);
  Result<ports::Jot::Answer> run(const ports::Jot& verb);
  Result<ports::Notes::Answer> run(const ports::Notes& verb);

  Result<ports::Submit::Accepted> accept(const ports::NewTask& task);
  Result<ports::Claim::Answer> claim_only(const ports::Claim& verb);
  Result<ports::TaskRecord> claim_one(const ports::Claim& verb, ports::TaskRecord& record);
  [[nodiscard]] bool is_blocked(const std::string& queue) const;
  [[nodiscard]] bool is_full(const std::string& queue) const;
  [[nodiscard]] std::optional<WallTime> next_due(const std::string& queue) const;
  ports::Change::Done change(const ports::Change::One& one);
  bool claim_again(ports::TaskRecord& record, const Had& had);  // false: it waits
  void enter_group(const ports::TaskRecord& record, const core::Transition& transition);
  void leave_group(const ports::TaskRecord& record);
  void audit_records(bool repair, ports::AuditReport& report);
  void audit_keys(bool repair, ports::AuditReport& report);
  void audit_groups(bool repair, ports::AuditReport& report);

  std::map<TaskId, Kept> tasks_;
  std::map<std::string, TaskId> keys_;
  std::map<std::string, Settings> settings_;
  std::map<GroupKey, ports::Group> groups_;
  std::map<std::string, std::map<std::string, ports::Note>> shelves_;
  std::uint64_t accepted_ = 0;
  std::array<std::uint64_t, 7> removed_{};
};

}  // namespace holdfast::stores
