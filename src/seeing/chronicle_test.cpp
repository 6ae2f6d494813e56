#include "seeing/chronicle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/testing/fake_clock.hpp>

namespace holdfast::seeing::chronicle_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Span = Chronicle::Span;
using namespace std::chrono_literals;

struct ChronicleTest : ::testing::Test {
  void step(Duration after = 10s, std::optional<Depths> depths = Depths{}) {
    clock.advance(after);
    chronicle.add({.now = clock.now(), .wall_now = clock.wall_now(), .totals = totals}, depths);
  }

  holdfast::testing::FakeClock clock;
  Chronicle chronicle{clock.now(), clock.wall_now()};
  Totals totals;
};

TEST_F(ChronicleTest, has_nothing_to_tell_at_first) {  // T9
  EXPECT_EQ(chronicle.json(Span::hour),
            R"({"step_seconds":10,"from":"2030-01-01T00:00:00.000000Z","times":[],"submitted":[],)"
            R"("succeeded":[],"failed":[],"retried":[],"timeouts":[],"dead":[],"attempts":[],)"
            R"("waiting":[],"running":[],"dead_letters":[]})");
  EXPECT_THAT(chronicle.json(Span::day), StartsWith(R"({"step_seconds":300,)"));
}

TEST_F(ChronicleTest, tells_rates_of_each_step_and_depths_at_its_end) {
  totals = {.submitted = 20,
            .attempts = 10,
            .succeeded = 5,
            .failed = 1,
            .retried = 2,
            .dead = 3,
            .timeouts = 4};
  step(10s, Depths{.waiting = 7, .running = 8, .dead = 9});
  totals.submitted += 30;
  step(20s, std::nullopt);
  EXPECT_EQ(
      chronicle.json(Span::hour),
      R"({"step_seconds":10,"from":"2030-01-01T00:00:00.000000Z","times":[1893456010,1893456030],)"
      R"("submitted":[2,1.5],"succeeded":[0.5,0],"failed":[0.1,0],"retried":[0.2,0],)"
      R"("timeouts":[0.4,0],"dead":[0.3,0],"attempts":[1,0],)"
      R"("waiting":[7,null],"running":[8,null],"dead_letters":[9,null]})");
}

TEST_F(ChronicleTest, forgets_what_is_older_than_an_hour_or_a_day) {
  for (Duration gone; gone < 50h; gone += 10s) {
    ++totals.succeeded;
    step();
  }
  ASSERT_EQ(chronicle.size(Span::hour), Chronicle::kFineSteps);
  ASSERT_EQ(chronicle.size(Span::day), Chronicle::kCoarseSteps);
  for (const auto& [span, long_ago] : {std::pair(Span::hour, Duration(1h)), {Span::day, 24h}}) {
    const Duration step = long_ago / chronicle.size(span);
    for (std::size_t i = 0; i < chronicle.size(span); ++i) {
      const Chronicle::Sample& sample = chronicle.at(span, i);
      EXPECT_EQ(sample.end, clock.wall_now() - long_ago + step * (i + 1));
      EXPECT_EQ(sample.span, step);
      EXPECT_EQ(sample.grown.succeeded, static_cast<std::uint64_t>(step / 10s));
    }
  }
}

TEST_F(ChronicleTest, a_timer_that_is_late_by_a_little_makes_no_step_longer) {
  for (int i = 0; i < 60; ++i)
    step(10s + 3ms);
  EXPECT_EQ(chronicle.size(Span::day), 2U);
  for (int i = 0; i < 60; ++i)
    step(10s - 3ms);
  EXPECT_EQ(chronicle.size(Span::day), 4U);
}

TEST_F(ChronicleTest, a_step_that_took_long_is_told_as_what_it_was) {
  step();
  totals.submitted = 3600;
  step(1h);  // the machine slept
  EXPECT_EQ(chronicle.at(Span::hour, 1).span, 1h);
  EXPECT_EQ(chronicle.size(Span::day), 1U);
  EXPECT_THAT(chronicle.json(Span::hour), HasSubstr(R"("submitted":[0,1])"));
}

TEST(Depths, are_those_of_all_queues) {
  const ports::Count::Answer queues = {{.queue = "a", .by_state = {1, 2, 3, 4, 5, 6, 7}},
                                       {.queue = "b", .by_state = {10, 20, 30, 40, 50, 60, 70}}};
  EXPECT_EQ(depths_of(queues), (Depths{.waiting = 44, .running = 22, .dead = 66}));
}

}  // namespace
}  // namespace holdfast::seeing::chronicle_test
