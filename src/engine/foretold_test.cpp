#include "engine/foretold.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace holdfast::engine::foretold_test {
namespace {

using core::State;
using namespace std::chrono_literals;

constexpr WallTime kNoon = WallTime() + 24h * 20'000 + 12h;
constexpr WallTime kPast = kNoon - 24h * 30;

TEST(Foretold, knows_what_was_announced_and_when) {  // N9
  Foretold said;
  EXPECT_EQ(said.known_since(kNoon), WallTime::min());
  EXPECT_EQ(said.said_of(kPast), WallTime::max());
  said.say(kNoon, kPast);
  said.say(kNoon + 1h, kPast + 1h);
  EXPECT_EQ(said.known_since(kNoon - 1ns), WallTime::min());
  EXPECT_EQ(said.known_since(kNoon), kPast);
  EXPECT_EQ(said.known_since(kNoon + 59min), kPast);
  EXPECT_EQ(said.known_since(kNoon + 24h), kPast + 1h);
  EXPECT_EQ(said.said_of(kPast - 1ns), kNoon);
  EXPECT_EQ(said.said_of(kPast), kNoon + 1h) << "it had not ended before that";
  EXPECT_EQ(said.said_of(kPast + 1h), WallTime::max());
}

TEST(Foretold, is_as_old_as_its_first_announcement) {
  Foretold said;
  said.say(kNoon, kPast);
  said.say(kNoon + 1h, kPast);
  said.say(kNoon + 2h, kPast - 1h);  // now they are kept for longer
  EXPECT_EQ(said.said_of(kPast - 1ns), kNoon);
}

TEST(Foretold, does_not_count_what_a_clock_that_was_put_back_has_not_seen_yet) {
  Foretold said;
  said.say(kNoon, kPast);
  said.say(kNoon + 24h, kPast + 24h);
  said.say(kNoon + 1h, kPast + 1h);
  EXPECT_EQ(said.known_since(WallTime::max()), kPast + 1h);
}

TEST(Foretold, forgets_what_is_of_no_use_any_more) {
  Foretold said;
  for (int hour = 0; hour < 100; ++hour)
    said.say(kNoon + hour * 1h, kPast + hour * 1h);
  said.forget(kNoon + 90h + 30min);
  EXPECT_EQ(said.known_since(kNoon + 90h + 30min), kPast + 90h);
  EXPECT_EQ(said.known_since(kNoon + 89h), WallTime::min());
  std::string lines;
  said.append_lines(State::dead, lines);
  EXPECT_EQ(std::ranges::count(lines, '\n'), 10);
}

TEST(Foretold, is_written_and_read) {
  Foretold said;
  said.say(kNoon, kPast);
  said.say(kNoon + 1h, kPast + 1h);
  std::string lines;
  said.append_lines(State::dead, lines);
  EXPECT_EQ(lines,
            "dead 2024-10-04T12:00:00.000000Z 2024-09-04T12:00:00.000000Z\n"
            "dead 2024-10-04T13:00:00.000000Z 2024-09-04T13:00:00.000000Z\n");
  const Foretold again(State::dead, lines);
  EXPECT_EQ(again.known_since(kNoon), kPast);
  EXPECT_EQ(again.known_since(kNoon + 1h), kPast + 1h);
  EXPECT_EQ(Foretold(State::failed, lines).known_since(WallTime::max()), WallTime::min());
}

TEST(Foretold, passes_over_what_makes_no_sense) {
  for (const std::string_view lines :
       {"", "\n\n", "dead", "dead 2024-10-04T12:00:00Z", "dead yesterday 2024-10-04T12:00:00Z",
        "dead 2024-10-04T12:00:00Z 2024-09-04T12:00:00Z 2024-09-04T12:00:00Z", "\xff\xfe dead"}) {
    EXPECT_EQ(Foretold(State::dead, lines).known_since(WallTime::max()), WallTime::min()) << lines;
  }
}

}  // namespace
}  // namespace holdfast::engine::foretold_test
