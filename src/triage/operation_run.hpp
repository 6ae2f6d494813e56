#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/clock.hpp>
#include <holdfast/log.hpp>

#include "core/rules.hpp"
#include "engine/backoff.hpp"
#include "ports/loop.hpp"
#include "ports/store_lane.hpp"
#include "triage/operation_rules.hpp"
#include "triage/search.hpp"
#include "wire/operation_json.hpp"

namespace holdfast::triage {

// What triage stands on. All of it must outlive it.
struct Parts {
  ports::Loop& loop;
  ports::StoreLane& writer;
  ports::StoreLane& reader;
  Clock& clock;
  Random& random;
  Logger log = {};
  std::string runner = {};  // which process this is: one name for each life
  bool is_shared = false;   // others work on the same store

  struct Decision {
    OperationAction action = OperationAction::replay;
    core::ReplayOptions options = {};
    std::string by = {};
  };
  using Decisions = std::vector<Result<core::Transition>>;
  // Decides about each by itself, and answers in their order.
  std::function<void(std::vector<TaskId>, Decision, std::move_only_function<void(Decisions)>)>
      decide = {};
  // What a replay would come to.
  std::function<Result<core::Transition>(const ports::TaskRecord&, const core::ReplayOptions&)>
      would_replay = {};
};

inline constexpr std::string_view kOperations = "operations";  // their shelf

// One operation on its way (N2). It is written down before each step what the step is about, so
// that whoever goes on after a crash can tell what of it has happened: nothing is brought back
// twice for it, and nothing is left out. Threads: the loop's.
class OperationRun : public std::enable_shared_from_this<OperationRun> {
 public:
  struct Hooks {
    std::function<void(const Operation&)> on_change = {};  // a few times a second at most
    std::function<void(OperationRun&)> on_rest = {};       // it has stopped by itself, or ended
    std::function<void(OperationRun&)> on_lost = {};       // another process has it now
  };

  OperationRun(const Parts& parts, wire::OperationNote note, std::uint64_t version, Hooks hooks);

  [[nodiscard]] const Operation& operation() const noexcept { return note_.operation; }
  // It stands still, and nobody waits for it.
  [[nodiscard]] bool is_idle() const { return !busy_ && orders_.empty() && !is_moving(); }
  // Goes on from where it stands; does nothing while it is to stand still.
  void go_on();

  using Stepped = std::move_only_function<void(Result<Operation>)>;
  // `change` is made as soon as what is under way has come to an end, and written down.
  using Change = std::move_only_function<Result<void>(wire::OperationNote&)>;
  void steer(Change change, Stepped then);

 private:
  struct Order {
    Change change;
    Stepped then;
  };

  [[nodiscard]] WallTime now() const { return parts_.clock.wall_now(); }
  [[nodiscard]] bool is_moving() const;
  void follow(Order order);
  void plan_page();
  void planned();
  void begin();
  using Claim = wire::OperationNote::Claim;
  void settle_flight(void (*then)(OperationRun&));
  void settle(const std::vector<Claim>& flight,
              const std::vector<Result<ports::Find::Answer>>& records);
  void count_done(const Claim& claim);
  void look_at_watched();
  void judged(const Claim& claim, Fate fate);
  void work();
  [[nodiscard]] std::size_t room() const;
  void send(std::size_t most);
  void take_page(Found found);
  void decide();
  void decided(const Parts::Decisions& decisions);
  void refused();
  void stage_is_over();
  void rest(OperationState state, std::string why);
  void sleep(Duration wait);
  void stumble(const Error& error);
  void save(std::move_only_function<void()> then);
  void saved(Result<ports::Jot::Answer> answer, std::move_only_function<void()> then);
  void tell(bool always);
  // Runs `work` if the run is still there, and calls it under way until then.
  template <class Work>
  auto next_step(Work work);

  const Parts& parts_;
  wire::OperationNote note_;
  std::uint64_t version_ = 0;
  const Hooks hooks_;
  std::vector<Order> orders_;
  Stepped answering_;  // of the order that is being written down
  bool busy_ = false;
  bool lost_ = false;
  std::string plan_cursor_;
  FailureRate rate_;
  engine::Backoff backoff_;
  SteadyTime look_at_{};
  SteadyTime next_send_{};
  SteadyTime told_{};
  SteadyTime saved_{};
  std::unique_ptr<ports::Loop::Timer> timer_;
};

}  // namespace holdfast::triage
