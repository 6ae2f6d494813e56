// docs/STATES.md is written from kMoves here, and compared with the file, so that it cannot go
// stale.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/states.hpp"

namespace holdfast::core::states_page_test {
namespace {

constexpr State kStates[] = {State::pending, State::running, State::retrying, State::succeeded,
                             State::failed,  State::dead,    State::canceled};
constexpr DeadReason kDeadReasons[] = {DeadReason::out_of_attempts,    DeadReason::crashes,
                                       DeadReason::ambiguous,          DeadReason::deadline,
                                       DeadReason::throttled_too_long, DeadReason::replays};

std::string words(auto value) {
  return std::string(to_string(value));
}

std::string meaning(State state) {
  switch (state) {
    case State::pending: return "Accepted and durable; to be run as soon as a worker claims it.";
    case State::running:
      return "Claimed: one attempt is under way, under a lease and with the token of this claim.";
    case State::retrying: return "To be run again, but not before its due time.";
    case State::succeeded:
      return "Done. The handler gave a result, or the failure said that the work was done before.";
    case State::failed:
      return "Given up at once: the classifier says that trying again cannot help. Its error "
             "begins "
             "with `[NON_RETRYABLE]`. Or a dead letter that its queue gives up "
             "(`on_dead`): `[DLQ]`.";
    case State::dead:
      return "A dead letter: kept, with its last failure and one of the reasons below.";
    case State::canceled:
      return "Taken back by whoever submitted it, or a dead letter thrown away. A late settlement "
             "is refused.";
  }
  return "";
}

std::string meaning(DeadReason reason) {
  switch (reason) {
    case DeadReason::out_of_attempts: return "Its last attempt ended with an error or a timeout.";
    case DeadReason::crashes: return "It took its worker down too often.";
    case DeadReason::ambiguous:
      return "It may have happened in spite of the error, so it is never retried blindly.";
    case DeadReason::deadline: return "Its next attempt could not begin before its deadline.";
    case DeadReason::throttled_too_long: return "Throttles and open breakers put it off too often.";
    case DeadReason::replays: return "It died again after as many replays as its policy allows.";
  }
  return "";
}

std::string condition(const Move& move) {
  const bool crashed = move.spends == Spends::crash;
  if (move.event == Event::close) {
    return move.from == State::dead ? "its queue gives up dead letters"
                                    : "its broker has put its message among the dead letters";
  }
  if (move.to == State::retrying) return "within its limit and its deadline";
  if (move.dead_reason == DeadReason::replays) {
    const bool by_limit = move.spends != Spends::nothing && !crashed;
    return std::string(by_limit ? "its limit or its deadline" : "its deadline") +
           ", after the last replay";
  }
  if (move.event == Event::expire) return "its deadline had passed before it could begin";
  if (move.dead_reason == DeadReason::deadline) return "due only after its deadline";
  if (move.dead_reason && move.dead_reason != DeadReason::ambiguous) return "its limit is reached";
  switch (move.event) {
    case Event::claim: return "due";
    case Event::success: return "the handler gave a result";
    case Event::already_done: return "a failure with verdict success";
    case Event::give_up: return crashed ? "a crash, verdict give up" : "verdict give up";
    case Event::ambiguous: return crashed ? "a crash, verdict ambiguous" : "verdict ambiguous";
    case Event::hand_back: return "the worker shuts down; due at once";
    case Event::replay: return "not quarantined and replays left, or somebody insists";
    default: return "somebody asks for it";
  }
}

// One arrow for all events that lead from one state to another.
std::string diagram() {
  std::string text = "```mermaid\nstateDiagram-v2\n  [*] --> pending: submit\n";
  std::set<std::pair<State, State>> drawn;
  for (const Move& move : kMoves) {
    if (!drawn.emplace(move.from, move.to).second) continue;
    std::vector<Event> events;
    for (const Move& other : kMoves) {
      const bool known = std::ranges::find(events, other.event) != events.end();
      if (other.from == move.from && other.to == move.to && !known) events.push_back(other.event);
    }
    std::string label = words(events.front());
    for (std::size_t i = 1; i < events.size(); ++i)
      label += ", " + words(events[i]);
    text += "  " + words(move.from) + " --> " + words(move.to) + ": " + label + "\n";
  }
  for (const State state : kStates) {
    if (is_terminal(state)) text += "  " + words(state) + " --> [*]\n";
  }
  return text + "```\n";
}

std::string states_table() {
  std::string text = "| state | meaning | terminal |\n|---|---|---|\n";
  for (const State state : kStates) {
    text += "| `" + words(state) + "` | " + meaning(state) + " | " +
            (is_terminal(state) ? "yes" : "no") + " |\n";
  }
  return text;
}

std::string reasons_table() {
  std::string text = "| reason | meaning | quarantined |\n|---|---|---|\n";
  for (const DeadReason reason : kDeadReasons) {
    text += "| " + words(reason) + " | " + meaning(reason) + " | " +
            (needs_person(reason) ? "yes" : "no") + " |\n";
  }
  return text;
}

std::string moves_table() {
  std::string text = "| from | event | when | to | spends |\n|---|---|---|---|---|\n";
  for (const Move& move : kMoves) {
    const std::string reason = move.dead_reason ? " (" + words(*move.dead_reason) + ")" : "";
    text += "| " + words(move.from) + " | " + words(move.event) + " | " + condition(move) + " | " +
            words(move.to) + reason + " | " + words(move.spends) + " |\n";
  }
  return text;
}

std::string page() {
  return "# The states of a task\n\n"
         "<!-- Written from kMoves (src/core/states.hpp) by src/core/states_page_test.cpp. Change "
         "it\n"
         "there, then: HOLDFAST_REGENERATE=1 build/dev/core_test --gtest_filter='StatesPage.*' "
         "-->\n\n"
         "A task is submitted once and run by attempts until it comes to one of four ends. How an\n"
         "attempt ended is its *outcome*; what the classifier says of a failure is the *verdict*; "
         "the\n"
         "rules (`decide()` in src/core/rules.hpp) make of both a *transition*, which the store "
         "then\n"
         "carries out. A terminal state is left only by a person's hand: by a *replay*, or a "
         "*discard*.\n"
         "Dead letters also by their queue's own rule ([dead-letters.md](dead-letters.md)): by a "
         "replay,\n"
         "or a *close*.\n\n" +
         diagram() + "\n" + states_table() +
         "\n## Why a task is dead\n\n"
         "Quarantine is not a state but a property of the reason: a quarantined task is brought "
         "back\n"
         "only by a replay that insists, for a task that somebody has looked at.\n\n" +
         reasons_table() +
         "\n## Every move\n\n"
         "Each claim has a new token, greater than the one before; a settlement with an older "
         "token\n"
         "is refused. So has each move of a task that does not run, so that who decided it can be "
         "noted\n"
         "in its history. Attempts, crashes and deferrals each have a limit of their own in the "
         "task's\n"
         "policy; the one that reaches it is the last.\n\n" +
         moves_table();
}

TEST(StatesPage, is_what_the_table_of_moves_says) {
  const std::string path = HOLDFAST_SOURCE_DIR "/docs/STATES.md";
  if (std::getenv("HOLDFAST_REGENERATE")) {
    std::ofstream out(path, std::ios::binary);
    out << page();
    ASSERT_TRUE(out.flush()) << "cannot write " << path;
  }
  std::ifstream in(path, std::ios::binary);
  ASSERT_TRUE(in) << "cannot read " << path;
  const std::string found{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(found, page()) << "docs/STATES.md is stale. To write it anew:\n  HOLDFAST_REGENERATE=1 "
                              "build/dev/core_test --gtest_filter='StatesPage.*'";
}

TEST(States, a_terminal_state_is_left_by_a_persons_hand_or_as_a_dead_letter_only) {
  for (const Move& move : kMoves) {
    if (!is_terminal(move.from)) continue;
    const bool closes = move.from == State::dead && move.event == Event::close;
    EXPECT_TRUE(move.event == Event::replay || move.event == Event::discard || closes);
  }
}

TEST(States, every_move_into_dead_has_a_reason_and_stays_known_when_it_is_closed) {
  for (const Move& move : kMoves) {
    const bool closes = move.from == State::dead && move.event == Event::close;
    EXPECT_EQ(move.dead_reason.has_value(), move.to == State::dead || closes) << words(move.event);
  }
}

TEST(States, no_move_is_listed_twice) {
  for (const Move& move : kMoves) {
    EXPECT_EQ(std::ranges::count(kMoves, move), 1) << words(move.from) << " " << words(move.event);
  }
}

TEST(States, every_state_can_be_reached) {
  for (const State state : kStates) {
    EXPECT_TRUE(std::ranges::any_of(kMoves, [&](const Move& move) { return move.to == state; }))
        << words(state);
  }
}

}  // namespace
}  // namespace holdfast::core::states_page_test
