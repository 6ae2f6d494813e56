#include "conformance/story.hpp"

#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "conformance/store_conformance.hpp"

namespace holdfast::conformance::story_test {
namespace {

// A comparison is worth what the stories lead to: every move there is, every answer to one, refused
// submissions, purges and full queues.
TEST(Story, leads_everywhere) {
  stores::MemoryStore store;
  Story story(store);
  std::mt19937 numbers(1);  // always the same story
  std::set<std::tuple<State, Event, State>> moves;
  std::set<Done> done;
  std::set<bool> existed;
  std::size_t refused = 0;
  std::size_t blocked = 0;
  std::size_t purged = 0;
  std::size_t noted = 0;  // of who decided
  std::set<bool> jotted;  // whether the note had that version
  std::size_t days = 0;   // groups that have slots far apart
  for (int i = 0; i < 5000; ++i) {
    const auto number = [&] { return static_cast<std::uint32_t>(numbers() % 10'000); };
    ports::Request request = story.next({number(), number(), number(), number()});
    store.carry_out({&request, 1});
    if (const auto* change = std::get_if<ports::Asked<ports::Change>>(&request)) {
      for (std::size_t one = 0; one < change->verb.changes.size(); ++one) {
        const Done answer = change->answer.value()[one];
        const auto& transition = change->verb.changes[one].transition;
        done.insert(answer);
        if (answer != Done::applied) continue;
        moves.insert({transition.from, transition.event, transition.to});
        if (transition.from != State::running && !change->verb.changes[one].by.empty()) ++noted;
      }
    } else if (const auto* submit = std::get_if<ports::Asked<ports::Submit>>(&request)) {
      for (const auto& answer : submit->answer.value()) {
        answer ? void(existed.insert(answer->existed)) : void(++refused);
      }
    } else if (const auto* claim = std::get_if<ports::Asked<ports::Claim>>(&request)) {
      if (claim->answer->blocked) ++blocked;
    } else if (const auto* purge = std::get_if<ports::Asked<ports::Purge>>(&request)) {
      purged += purge->answer.value_or(0);
    } else if (const auto* jot = std::get_if<ports::Asked<ports::Jot>>(&request)) {
      jotted.insert(jot->answer.value().has_value());
    } else if (const auto* groups = std::get_if<ports::Asked<ports::Groups>>(&request)) {
      days += std::ranges::count_if(groups->answer->groups, [](const ports::Group& group) {
        return group.trend.back().slot - group.trend.front().slot > 12h;
      });
    }
  }
  for (const core::Move& move : core::kMoves) {
    if (move.event == Event::claim) continue;
    EXPECT_TRUE(moves.contains({move.from, move.event, move.to}))
        << to_string(move.from) << " " << to_string(move.event) << " " << to_string(move.to);
  }
  EXPECT_EQ(done.size(), 3U);
  EXPECT_EQ(existed.size(), 2U);
  EXPECT_GT(refused, 10U);
  EXPECT_GT(blocked, 10U);
  EXPECT_GT(purged, 10U);
  EXPECT_GT(noted, 10U);
  EXPECT_EQ(jotted.size(), 2U);
  EXPECT_GT(days, 10U);
  EXPECT_TRUE(ports::ask(store, ports::Audit())->clean());
}

}  // namespace
}  // namespace holdfast::conformance::story_test
