#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "stores/memory/memory_store.hpp"

namespace holdfast::simulation {

// Mistakes that are known to happen, made on purpose, so that a test can say that the simulation
// finds each of them.
enum class Bug : std::uint8_t {
  // of an engine
  settle_without_token,   // a settlement is carried out whatever claim it was made from
  rescue_by_id,           // a rescue does not look whether the task has moved on
  retry_without_backoff,  // a retry is due at once
  attempt_not_counted,    // an error spends nothing
  shutdown_spends,        // what is handed back counts as an attempt
  lease_never_ends,       // nobody looks for leases that have ended
  claim_ahead,            // claims what is due in an hour
  replay_twice,           // a replay is carried out again when its task has died again
  // of a store
  store_ignores_token,  // as settle_without_token, and nothing else notices
  lost_retry,           // a retry is written, but not to where it would be found again
  ack_before_commit,    // a submit is answered and forgotten
  duplicate_claim,      // a running task is given out a second time
  purge_of_dead,        // a purge of results takes a dead letter along
  counter_drift,        // the counts go their own way
  paused_queue_claims,  // a pause is forgotten
};
inline constexpr std::size_t kBugs = static_cast<std::size_t>(Bug::paused_queue_claims) + 1;

[[nodiscard]] std::string_view to_string(Bug bug) noexcept;  // "rescue_by_id"
[[nodiscard]] std::optional<Bug> bug_named(std::string_view name) noexcept;

// Bugs of an engine change what it asks for; those of a store, what is done and answered.
[[nodiscard]] constexpr bool is_engine_bug(Bug bug) noexcept {
  return bug < Bug::store_ignores_token;
}

// Hands everything on, but for one bug. `memory` is where it ends up, for a look at the present.
class BuggyStore final : public ports::Store {
 public:
  BuggyStore(ports::Store& inner, stores::MemoryStore& memory, Bug bug)
      : inner_(&inner), memory_(&memory), bug_(bug) {}

  void carry_out(std::span<ports::Request> batch) override;

 private:
  void before(ports::Asked<ports::Change>& asked);
  void before(ports::Asked<ports::Claim>& asked);
  void before(ports::Asked<ports::Overdue>& asked);
  void before(ports::Asked<ports::Submit>& asked);
  void before(ports::Asked<ports::Configure>& asked);
  template <class Other>
  void before(Other&) {}
  void after(ports::Asked<ports::Submit>& asked);
  void after(ports::Asked<ports::Claim>& asked);
  void after(ports::Asked<ports::Purge>& asked);
  void after(ports::Asked<ports::Count>& asked);
  void after(ports::Asked<ports::Change>& asked);
  template <class Other>
  void after(Other&) {}
  void change(ports::Change::One& one);
  [[nodiscard]] const ports::TaskRecord* find(const TaskId& id) const;

  ports::Store* inner_;
  stores::MemoryStore* memory_;
  Bug bug_;
  std::uint64_t count_ = 0;
  std::vector<TaskId> forgotten_;
  std::optional<ports::Change::One> replayed_;
};

}  // namespace holdfast::simulation
