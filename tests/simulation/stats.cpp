#include "simulation/stats.hpp"

#include <fmt/format.h>

namespace holdfast::simulation {

std::string_view to_string(Happening happening) noexcept {
  switch (happening) {
    case Happening::batch_unavailable: return "batch refused: unavailable";
    case Happening::batch_exhausted: return "batch refused: exhausted";
    case Happening::answer_lost: return "answer lost";
    case Happening::batch_cut: return "batch carried out in part";
    case Happening::answer_late: return "answer late";
    case Happening::claim_doubled: return "claim carried out twice";
    case Happening::crash_before_batch: return "crash before the batch";
    case Happening::crash_after_batch: return "crash after the batch";
    case Happening::process_crash: return "process crash";
    case Happening::machine_crash: return "machine crash";
    case Happening::engine_lost: return "engine destroyed in a living process";
    case Happening::shutdown: return "graceful shutdown";
    case Happening::forced_shutdown: return "forced shutdown";
    case Happening::shared_store: return "two engines on one store";
    case Happening::wall_forward: return "wall clock set forward";
    case Happening::wall_backward: return "wall clock set back";
    case Happening::handler_slow: return "handler slow";
    case Happening::handler_endless: return "handler endless";
    case Happening::handler_deaf: return "handler ignores stop";
    case Happening::handler_dropped: return "handler drops the run";
    case Happening::handler_twice: return "handler finishes twice";
    case Happening::handler_late: return "handler begins late";
    case Happening::handler_unbegun: return "handler finishes unbegun";
    case Happening::handler_crash: return "handler crashes the process";
    case Happening::handler_heartbeat: return "handler heartbeat";
    case Happening::submit_duplicate: return "submit: same key and body";
    case Happening::submit_conflict: return "submit: same key, other body";
    case Happening::submit_retried: return "submit: asked again after no answer";
    case Happening::submit_refused: return "submit: refused by a full queue";
    case Happening::cancel: return "cancel";
    case Happening::replay: return "replay";
    case Happening::discard: return "discard";
    case Happening::pause: return "pause";
    case Happening::concurrency: return "concurrency changed";
    case Happening::backlog: return "backlog changed";
    case Happening::claimed_again: return "claimed again in one step";
    case Happening::stale_change: return "change came too late";
    case Happening::purge: return "purge";
  }
  return "unknown";
}

std::string to_text(const core::Move& move) {
  std::string text =
      fmt::format("{} --{}--> {}", to_string(move.from), to_string(move.event), to_string(move.to));
  if (move.dead_reason) text += fmt::format(" ({})", to_string(*move.dead_reason));
  return text + fmt::format(", spends {}", to_string(move.spends));
}

void Stats::add(const Stats& other) {
  for (std::size_t i = 0; i < moves.size(); ++i)
    moves[i] += other.moves[i];
  for (std::size_t i = 0; i < happenings.size(); ++i)
    happenings[i] += other.happenings[i];
  seeds += other.seeds;
  tasks += other.tasks;
  attempts += other.attempts;
  events += other.events;
  simulated_s += other.simulated_s;
}

std::string Stats::missing() const {
  std::string text;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    // What waits is given up only where a broker has lost patience, and here is none.
    const core::Move& move = core::kMoves[i];
    if (move.event == core::Event::close && move.from != core::State::dead) continue;
    if (moves[i] == 0) text += "move: " + to_text(core::kMoves[i]) + "\n";
  }
  for (std::size_t i = 0; i < happenings.size(); ++i) {
    if (happenings[i] == 0) {
      text += fmt::format("happening: {}\n", to_string(static_cast<Happening>(i)));
    }
  }
  return text;
}

std::string Stats::text() const {
  std::string text = fmt::format(
      "{} seeds, {} tasks, {} attempts begun, {} events, {:.1f} simulated hours\n\nmoves\n", seeds,
      tasks, attempts, events, simulated_s / 3600);
  for (std::size_t i = 0; i < moves.size(); ++i) {
    text += fmt::format("{:>10}  {}\n", moves[i], to_text(core::kMoves[i]));
  }
  text += "\nhappenings\n";
  for (std::size_t i = 0; i < happenings.size(); ++i) {
    text += fmt::format("{:>10}  {}\n", happenings[i], to_string(static_cast<Happening>(i)));
  }
  return text;
}

}  // namespace holdfast::simulation
