#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/rules.hpp"

namespace holdfast::simulation {

// What goes wrong on purpose, and what people and processes do. Each is counted, so that a test can
// say that every one of them really happens.
enum class Happening : std::uint8_t {
  batch_unavailable,   // nothing done, answered `unavailable`
  batch_exhausted,     // nothing done, answered `exhausted`
  answer_lost,         // done, answered `unavailable`
  batch_cut,           // a part of it done, all answered `unavailable`
  answer_late,         // done, answered after leases have ended
  claim_doubled,       // a claim carried out twice, the first answer lost
  crash_before_batch,  // the process died, its batch was not carried out
  crash_after_batch,   // the process died, its batch was carried out, nobody heard
  process_crash,
  machine_crash,  // as a process crash, and the witness cannot tell afterwards
  engine_lost,    // destroyed, while the process and its handlers live on
  shutdown,
  forced_shutdown,
  shared_store,  // two engines on one store
  wall_forward,
  wall_backward,
  handler_slow,
  handler_endless,  // until it is stopped
  handler_deaf,     // ignores a stop for a while
  handler_dropped,  // the run is let go without a word
  handler_twice,    // finishes a second time
  handler_late,     // begins long after it was given the run
  handler_unbegun,  // finishes without having begun
  handler_crash,    // takes the process down
  handler_heartbeat,
  submit_duplicate,  // the same key and body again
  submit_conflict,   // the same key, another body
  submit_retried,    // the same id again, after an answer was lost
  submit_refused,    // as many wait in its queue as may
  cancel,
  replay,
  discard,
  pause,
  concurrency,    // a queue's limit is changed
  backlog,        // likewise, of those that wait
  claimed_again,  // what failed was claimed again in one step with its settlement
  stale_change,   // a settlement that comes too late was refused by the store
  purge,
};
inline constexpr std::size_t kHappenings = static_cast<std::size_t>(Happening::purge) + 1;
[[nodiscard]] std::string_view to_string(Happening happening) noexcept;

// How often what happened, over any number of seeds.
struct Stats {
  std::array<std::uint64_t, core::kMoves.size()> moves{};  // by the row of kMoves
  std::array<std::uint64_t, kHappenings> happenings{};
  std::uint64_t seeds = 0;
  std::uint64_t tasks = 0;
  std::uint64_t attempts = 0;
  std::uint64_t events = 0;
  double simulated_s = 0;

  void count(Happening happening) { ++happenings[static_cast<std::size_t>(happening)]; }
  void add(const Stats& other);
  // What never happened: rows of kMoves and happenings, a line each; empty if all did.
  [[nodiscard]] std::string missing() const;
  [[nodiscard]] std::string text() const;
};

[[nodiscard]] std::string to_text(const core::Move& move);

}  // namespace holdfast::simulation
