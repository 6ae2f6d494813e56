#include <gtest/gtest.h>

#include <holdfast/retry/stop.hpp>

namespace holdfast::retry::stop_test {
namespace {

using namespace std::chrono_literals;

constexpr SteadyTime kStart{100s};

StopInput after(int attempts, Duration elapsed) {
  return {.attempts = attempts, .started = kStart, .next = kStart + elapsed};
}

TEST(Stop, never_stops_by_default) {
  EXPECT_EQ(Stop().reached(after(1'000'000, 1000h)), std::nullopt);
  EXPECT_EQ(never().deadline(kStart), std::nullopt);
}

TEST(Stop, counts_attempts) {
  EXPECT_EQ(attempts(3).reached(after(2, 0s)), std::nullopt);
  EXPECT_EQ(attempts(3).reached(after(3, 0s)), GiveUp::attempts);
}

TEST(Stop, allows_one_attempt_at_least) {
  EXPECT_EQ(attempts(-5).reached(after(1, 0s)), GiveUp::attempts);
}

TEST(Stop, elapsed_time_is_asked_about_the_next_attempt) {
  EXPECT_EQ(elapsed(10s).reached(after(1, 9999ms)), std::nullopt);
  EXPECT_EQ(elapsed(10s).reached(after(1, 10s)), GiveUp::time);
  EXPECT_EQ(elapsed(10s).deadline(kStart), kStart + 10s);
}

TEST(Stop, a_deadline_does_not_depend_on_the_start) {
  EXPECT_EQ(deadline(kStart + 5s).reached(after(1, 5s)), GiveUp::time);
  EXPECT_EQ(deadline(kStart + 5s).reached(after(1, 4s)), std::nullopt);
  EXPECT_EQ(deadline(kStart + 5s).deadline(SteadyTime()), kStart + 5s);
}

TEST(Stop, an_elapsed_limit_at_the_end_of_time_does_not_wrap) {
  EXPECT_EQ(elapsed(Duration::max()).reached(after(1, 1h)), std::nullopt);
}

TEST(Stop, a_token_stops_when_asked) {
  std::stop_source source;
  const Stop stop = requested(source.get_token());
  EXPECT_EQ(stop.reached(after(1, 0s)), std::nullopt);
  source.request_stop();
  EXPECT_EQ(stop.reached(after(1, 0s)), GiveUp::stop_requested);
  EXPECT_EQ(stop.tokens().size(), 1U);
}

TEST(Stop, any_stops_at_the_first) {
  const Stop stop = attempts(3) | elapsed(10s);
  EXPECT_EQ(stop.reached(after(3, 1s)), GiveUp::attempts);
  EXPECT_EQ(stop.reached(after(1, 10s)), GiveUp::time);
  EXPECT_EQ(stop.reached(after(2, 9s)), std::nullopt);
  EXPECT_EQ((elapsed(10s) | elapsed(5s)).deadline(kStart), kStart + 5s);
  EXPECT_EQ(stop.deadline(kStart), kStart + 10s);
}

TEST(Stop, all_stops_only_when_both_say_so) {
  const Stop stop = attempts(3) & elapsed(10s);
  EXPECT_EQ(stop.reached(after(3, 1s)), std::nullopt);
  EXPECT_EQ(stop.reached(after(1, 10s)), std::nullopt);
  EXPECT_EQ(stop.reached(after(3, 10s)), GiveUp::attempts);
  EXPECT_EQ(stop.deadline(kStart), std::nullopt);
  EXPECT_EQ((elapsed(10s) & elapsed(5s)).deadline(kStart), kStart + 10s);
}

TEST(Stop, never_is_neutral_in_any_and_wins_in_all) {
  EXPECT_EQ((never() | attempts(1)).reached(after(1, 0s)), GiveUp::attempts);
  EXPECT_EQ((attempts(1) | never()).reached(after(1, 0s)), GiveUp::attempts);
  EXPECT_EQ((never() & attempts(1)).reached(after(1, 0s)), std::nullopt);
}

TEST(Stop, says_whether_it_needs_the_time) {
  EXPECT_FALSE((attempts(3) | requested({})).timed());
  EXPECT_TRUE((attempts(3) & (never() | elapsed(1s))).timed());
  EXPECT_TRUE(deadline(kStart).timed());
}

TEST(Stop, collects_the_tokens_of_all_parts) {
  std::stop_source a;
  std::stop_source b;
  const Stop stop = (requested(a.get_token()) & attempts(2)) | requested(b.get_token());
  EXPECT_EQ(stop.tokens().size(), 2U);
}

TEST(GiveUp, every_reason_has_a_name) {
  for (int i = 0; i <= static_cast<int>(GiveUp::breaker_open); ++i) {
    EXPECT_FALSE(to_string(static_cast<GiveUp>(i)).empty());
  }
  EXPECT_EQ(to_string(GiveUp::time), "out of time");
}

}  // namespace
}  // namespace holdfast::retry::stop_test
