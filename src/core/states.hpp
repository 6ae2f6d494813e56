#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include <holdfast/task.hpp>

namespace holdfast::core {

// Public names; here they are as short as the rules want them.
using State = TaskState;
using holdfast::DeadReason;

// What happened to a task. Also the word in its log record.
enum class Event : std::uint8_t {
  claim,
  success,
  already_done,  // the error says that the work was done before
  error,         // an error or a timeout that may recover
  crash,
  throttle,
  breaker_open,
  give_up,
  ambiguous,
  hand_back,  // the worker shuts down (T3)
  expire,     // claimed only after its deadline: not run any more
  cancel,
  replay,
  discard,  // a person does not want a dead letter any more
  close,    // the dead-letter consumer of its queue gives it up
};

// What a move counts. Errors, crashes and deferrals have limits of their own.
enum class Spends : std::uint8_t { nothing, attempt, crash, deferral, replay };

using holdfast::to_string;
[[nodiscard]] std::string_view to_string(Event event) noexcept;
[[nodiscard]] std::string_view to_string(Spends spends) noexcept;

using holdfast::is_terminal;
using holdfast::needs_person;

struct Move {
  State from;
  Event event;
  State to;
  Spends spends = Spends::nothing;
  std::optional<DeadReason> dead_reason = {};

  bool operator==(const Move&) const = default;
};

// Every move there is. What rules.hpp decides is always one of these; a test holds it to that.
inline constexpr auto kMoves = std::to_array<Move>({
    {State::pending, Event::claim, State::running},
    {State::retrying, Event::claim, State::running},

    {State::running, Event::success, State::succeeded},
    {State::running, Event::already_done, State::succeeded},

    {State::running, Event::error, State::retrying, Spends::attempt},
    {State::running, Event::error, State::dead, Spends::attempt, DeadReason::out_of_attempts},
    {State::running, Event::error, State::dead, Spends::attempt, DeadReason::deadline},
    {State::running, Event::error, State::dead, Spends::attempt, DeadReason::replays},

    {State::running, Event::crash, State::retrying, Spends::crash},
    {State::running, Event::crash, State::dead, Spends::crash, DeadReason::crashes},
    {State::running, Event::crash, State::dead, Spends::crash, DeadReason::deadline},
    {State::running, Event::crash, State::dead, Spends::crash, DeadReason::replays},

    {State::running, Event::throttle, State::retrying, Spends::deferral},
    {State::running, Event::throttle, State::dead, Spends::deferral,
     DeadReason::throttled_too_long},
    {State::running, Event::throttle, State::dead, Spends::deferral, DeadReason::deadline},
    {State::running, Event::throttle, State::dead, Spends::deferral, DeadReason::replays},

    {State::running, Event::breaker_open, State::retrying},
    {State::running, Event::breaker_open, State::dead, Spends::nothing, DeadReason::deadline},
    {State::running, Event::breaker_open, State::dead, Spends::nothing, DeadReason::replays},

    {State::running, Event::give_up, State::failed, Spends::attempt},
    {State::running, Event::give_up, State::failed, Spends::crash},
    {State::running, Event::ambiguous, State::dead, Spends::attempt, DeadReason::ambiguous},
    {State::running, Event::ambiguous, State::dead, Spends::crash, DeadReason::ambiguous},

    {State::running, Event::hand_back, State::pending},

    {State::running, Event::expire, State::dead, Spends::nothing, DeadReason::deadline},
    {State::running, Event::expire, State::dead, Spends::nothing, DeadReason::replays},

    {State::pending, Event::cancel, State::canceled},
    {State::retrying, Event::cancel, State::canceled},
    {State::running, Event::cancel, State::canceled},

    {State::failed, Event::replay, State::pending, Spends::replay},
    {State::dead, Event::replay, State::pending, Spends::replay},

    {State::failed, Event::discard, State::canceled},
    {State::dead, Event::discard, State::canceled},

    // Of a dead letter: why it was dead stays known, so that what is quarantined stays so.
    {State::dead, Event::close, State::failed, Spends::nothing, DeadReason::out_of_attempts},
    {State::dead, Event::close, State::failed, Spends::nothing, DeadReason::crashes},
    {State::dead, Event::close, State::failed, Spends::nothing, DeadReason::ambiguous},
    {State::dead, Event::close, State::failed, Spends::nothing, DeadReason::deadline},
    {State::dead, Event::close, State::failed, Spends::nothing, DeadReason::throttled_too_long},
    {State::dead, Event::close, State::failed, Spends::nothing, DeadReason::replays},
    // Of one whose message a broker itself has given up.
    {State::pending, Event::close, State::failed},
    {State::retrying, Event::close, State::failed},
});

}  // namespace holdfast::core
