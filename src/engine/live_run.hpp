#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include <holdfast/breaker.hpp>
#include <holdfast/clock.hpp>
#include <holdfast/verdict.hpp>

#include "core/task.hpp"
#include "ports/handler.hpp"
#include "ports/loop.hpp"
#include "ports/witness.hpp"

namespace holdfast::engine {

class LiveRun;
class Processor;
struct TaskType;

// Runs that have ended, on their way from any thread to the loop: one post for each burst.
class Inbox : public std::enable_shared_from_this<Inbox> {
 public:
  Inbox(ports::Loop& loop, std::function<void()> wake) : loop_(loop), wake_(std::move(wake)) {}

  void put(std::shared_ptr<LiveRun> run) noexcept;  // threads: any

  // Threads: the loop's.
  [[nodiscard]] std::vector<std::shared_ptr<LiveRun>> take();
  void close();  // from now on, what ends is dropped, and the loop is not touched

 private:
  ports::Loop& loop_;
  std::function<void()> wake_;  // loop only
  std::mutex mutex_;
  bool closed_ = false;
  std::vector<std::shared_ptr<LiveRun>> ended_;
};

// What has been decided about a run before its handler ended. Then its handler's word counts no
// more.
enum class Fate : std::uint8_t {
  open,
  timed_out,    // to be settled as a timeout
  handed_back,  // by a shutdown
  dropped,      // its task was canceled or its claim is lost: nothing to be settled
};

// One claimed task, from the answer of the store until its handler has ended and it is settled.
class LiveRun final : public ports::Run, public std::enable_shared_from_this<LiveRun> {
 public:
  struct Setup {
    const TaskType& type;
    Processor& processor;
    std::shared_ptr<Inbox> inbox;
    Clock& clock;
    ports::Witness* witness;
    WallTime now;  // when it was claimed
  };
  LiveRun(ports::TaskRecord record, Setup setup);

  // What the handler gets. When its last copy goes without finish(), the attempt has failed.
  [[nodiscard]] static std::shared_ptr<ports::Run> for_handler(std::shared_ptr<LiveRun> run);

  [[nodiscard]] const ports::TaskRecord& task() const noexcept override { return record_; }
  [[nodiscard]] int number() const noexcept override { return number_; }
  [[nodiscard]] bool begin() noexcept override;
  [[nodiscard]] WallTime end() const noexcept override;
  [[nodiscard]] std::stop_token stop() const noexcept override { return stop_.get_token(); }
  bool heartbeat() noexcept override;
  void finish(core::Outcome outcome) noexcept override;
  void give_up(Failure failure) noexcept override;

  // Keeps it from beginning. False: it has begun.
  [[nodiscard]] bool revoke() noexcept;
  [[nodiscard]] bool has_begun() const noexcept {
    return phase_.load(std::memory_order_acquire) == Phase::begun;
  }
  [[nodiscard]] bool has_finished() const noexcept {
    return finished_.load(std::memory_order_acquire);
  }
  void request_stop() noexcept { stop_.request_stop(); }

  // When its time is over. Of one that has not begun: the earliest that it could be if it began
  // now.
  [[nodiscard]] SteadyTime time_out_at(SteadyTime now, WallTime wall_now) const noexcept;
  [[nodiscard]] Duration allowed() const noexcept { return timeout_; }
  [[nodiscard]] const TaskType& type() const noexcept { return type_; }
  [[nodiscard]] Processor& processor() const noexcept { return processor_; }
  // How it ended, once it has come through the inbox.
  [[nodiscard]] core::Outcome take_outcome() noexcept { return std::move(outcome_); }
  // What its handler has said of that itself; nothing: the classifier is asked.
  [[nodiscard]] const Verdict* said() const noexcept { return said_ ? &*said_ : nullptr; }

  // Loop only.
  struct {
    Fate fate = Fate::open;
    bool started = false;   // its handler has it
    bool ended = false;     // its handler has really ended, or never had it: its place is free
    bool settling = false;  // the store is being told
    bool settled = false;   // the store has been told, or need not be: the claim is gone
    bool not_kept = false;  // the store could not keep how it ended
    bool stuck = false;     // was asked to stop and did not, for as long as it may
    bool again = false;     // its place is kept for its next attempt, while the store is asked
    int repeats = 0;        // how often in a row it was begun again where it is
    SteadyTime stop_by = SteadyTime::max();  // once it was asked to stop
    SteadyTime started_at{};                 // when its handler got it
    Duration ran{};                          // until it ended, or was given up on
    std::size_t place = 0;                   // in LiveRuns
    Breaker::Permit permit;
  } on_loop;

 private:
  enum class Phase : std::uint8_t { waiting, begun, revoked };

  void set_end() noexcept;
  void end_with(core::Outcome outcome, std::optional<Verdict> said) noexcept;

  // Constant.
  const ports::TaskRecord record_;
  const TaskType& type_;
  Processor& processor_;
  const std::shared_ptr<Inbox> inbox_;
  Clock& clock_;
  ports::Witness* const witness_;
  const int number_;
  const Duration timeout_;  // zero: none

  // Any thread.
  std::atomic<Phase> phase_ = Phase::waiting;
  std::atomic<bool> finished_ = false;
  std::atomic<std::int64_t> end_wall_ns_;
  std::atomic<std::int64_t> end_steady_ns_ = Duration::max().count();
  std::stop_source stop_;

  // Whoever begins and finishes it; the loop afterwards.
  ports::Witness::Place witness_place_ = 0;
  core::Outcome outcome_;
  std::optional<Verdict> said_;
};

// All runs at hand. Threads: the loop's.
class LiveRuns {
 public:
  void add(std::shared_ptr<LiveRun> run);
  // Forgets it if nothing is left to be done for it.
  void release(LiveRun& run);
  [[nodiscard]] std::shared_ptr<LiveRun> find(const ports::Held& claim) const;

  [[nodiscard]] std::size_t size() const noexcept { return runs_.size(); }
  [[nodiscard]] auto begin() const noexcept { return runs_.begin(); }
  [[nodiscard]] auto end() const noexcept { return runs_.end(); }

 private:
  std::vector<std::shared_ptr<LiveRun>> runs_;
};

}  // namespace holdfast::engine
