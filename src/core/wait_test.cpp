#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <holdfast/retry/wait.hpp>

namespace holdfast::retry::wait_test {
namespace {

using namespace std::chrono_literals;

// Says the same unit value every time.
class ScriptedRandom final : public Random {
 public:
  explicit ScriptedRandom(double unit) : bits_(static_cast<std::uint64_t>(unit * 0x1.0p53) << 11) {}
  std::uint64_t next() noexcept override {
    ++asked_;
    return bits_;
  }
  int asked() const { return asked_; }

 private:
  const std::uint64_t bits_;
  int asked_ = 0;
};

constexpr double kAlmostOne = 1 - 0x1.0p-53;
constexpr int kLateRetry = 1'000'000;

// The first `count` waits, each told of the one before.
std::vector<Duration> table(const Wait& wait, int count, double unit = 0.5) {
  ScriptedRandom random(unit);
  std::vector<Duration> waits;
  Duration previous{};
  for (int retry = 1; retry <= count; ++retry) {
    previous = wait.next({.retry = retry, .previous = previous}, random);
    waits.push_back(previous);
  }
  return waits;
}

Duration at(const Wait& wait, int retry, double unit = 0.5) {
  ScriptedRandom random(unit);
  return wait.next({.retry = retry}, random);
}

Duration after(const Wait& wait, std::optional<Duration> retry_after, double unit = 0.5) {
  ScriptedRandom random(unit);
  FailureView failure;
  failure.retry_after = retry_after;
  return wait.next({.retry = 1, .failure = &failure}, random);
}

using Waits = std::vector<Duration>;

TEST(Wait, is_no_wait_by_default) {
  EXPECT_EQ(table(Wait(), 3), (Waits{0s, 0s, 0s}));
  EXPECT_EQ(table(no_wait(), 3), (Waits{0s, 0s, 0s}));
}

TEST(Wait, fixed_is_the_same_for_ever) {
  EXPECT_EQ(table(fixed(10s), 3), (Waits{10s, 10s, 10s}));
  EXPECT_EQ(at(fixed(10s), kLateRetry), 10s);
}

TEST(Wait, list_goes_on_with_its_last) {
  EXPECT_EQ(table(list({1s, 5s, 30s}), 5), (Waits{1s, 5s, 30s, 30s, 30s}));
  EXPECT_EQ(at(list({1s, 5s, 30s}), kLateRetry), 30s);
  EXPECT_EQ(at(list({}), 1), 0s);
}

TEST(Wait, linear_grows_by_its_step_up_to_the_cap) {
  const Wait wait = linear({.first = 1s, .step = 2s, .cap = 6s});
  EXPECT_EQ(table(wait, 5), (Waits{1s, 3s, 5s, 6s, 6s}));
  EXPECT_EQ(at(wait, kLateRetry), 6s);
}

// R1: 1 s, 2 s, 4 s, 8 s, cap 16 s. R3: 1 s, 2 s, cap 8 s.
TEST(Wait, R1_R3_exponential_doubles_up_to_the_cap) {
  EXPECT_EQ(table(exponential({.cap = 16s}), 6), (Waits{1s, 2s, 4s, 8s, 16s, 16s}));
  EXPECT_EQ(table(exponential({.cap = 8s}), 5), (Waits{1s, 2s, 4s, 8s, 8s}));
}

// T1: capped at 5 min.
TEST(Wait, T1_exponential_without_options_is_capped_at_five_minutes) {
  EXPECT_EQ(table(exponential(), 11),
            (Waits{1s, 2s, 4s, 8s, 16s, 32s, 64s, 128s, 256s, 300s, 300s}));
  EXPECT_EQ(at(exponential(), kLateRetry), 5min);
}

TEST(Wait, exponential_takes_a_factor_that_is_not_whole) {
  EXPECT_EQ(table(exponential({.first = 100ms, .factor = 1.5, .cap = 1s}), 7),
            (Waits{100ms, 150ms, 225ms, 337500us, 506250us, 759375us, 1s}));
}

TEST(Wait, a_cap_below_the_first_wait_holds_from_the_beginning) {
  EXPECT_EQ(at(exponential({.first = 10s, .cap = 3s}), 1), 3s);
  EXPECT_EQ(at(linear({.first = 10s, .cap = 3s}), 1), 3s);
}

TEST(Wait, full_jitter_spreads_from_nothing_to_the_wait) {
  const Wait wait = exponential({.cap = 16s, .jitter = Jitter::full});
  EXPECT_EQ(table(wait, 5, 0), (Waits{0s, 0s, 0s, 0s, 0s}));
  EXPECT_EQ(table(wait, 3, 0.25), (Waits{250ms, 500ms, 1s}));
  const Duration most = at(wait, 3, kAlmostOne);
  EXPECT_LE(most, 4s);
  EXPECT_GE(most, 4s - 1us);
}

TEST(Wait, equal_jitter_keeps_half_of_the_wait) {
  const Wait wait = linear({.first = 2s, .step = 2s, .jitter = Jitter::equal});
  EXPECT_EQ(table(wait, 3, 0), (Waits{1s, 2s, 3s}));
  EXPECT_EQ(table(wait, 3, 0.5), (Waits{1500ms, 3s, 4500ms}));
  const Duration most = at(wait, 2, kAlmostOne);
  EXPECT_LE(most, 4s);
  EXPECT_GE(most, 4s - 1us);
}

TEST(Wait, decorrelated_jitter_grows_from_the_wait_before) {
  const Wait wait = exponential({.cap = 1min, .jitter = Jitter::decorrelated});
  EXPECT_EQ(table(wait, 3, 0), (Waits{1s, 1s, 1s}));
  // Half way from 1 s to 3 × the wait before: 1…3 s, 1…6 s, 1…10.5 s.
  EXPECT_EQ(table(wait, 3, 0.5), (Waits{2s, 3500ms, 5750ms}));
}

TEST(Wait, decorrelated_jitter_depends_on_memory_not_on_the_retry_number) {
  const Wait wait = exponential({.cap = 1min, .jitter = Jitter::decorrelated});
  ScriptedRandom random(0.5);
  EXPECT_EQ(wait.next({.retry = 2, .previous = 7s}, random), 11s);
  EXPECT_EQ(wait.next({.retry = 9, .previous = 7s}, random), 11s);
}

TEST(Wait, decorrelated_jitter_stays_below_the_cap) {
  const Wait wait = exponential({.cap = 16s, .jitter = Jitter::decorrelated});
  EXPECT_EQ(table(wait, 12, kAlmostOne).back(), 16s);
  ScriptedRandom random(kAlmostOne);
  EXPECT_EQ(wait.next({.retry = 2, .previous = Duration::max()}, random), 16s);
}

TEST(Wait, jittered_spreads_any_schedule) {
  EXPECT_EQ(table(list({2s, 4s}).jittered(Jitter::full), 3), (Waits{1s, 2s, 2s}));
  EXPECT_EQ(table(fixed(10s).jittered(Jitter::decorrelated), 2), (Waits{20s, 35s}));
  EXPECT_EQ(table(fixed(10s).jittered(Jitter::none), 2, 0), (Waits{10s, 10s}));
}

TEST(Wait, jitter_asks_for_one_random_value_and_other_schedules_for_none) {
  ScriptedRandom random(0.5);
  (void)exponential().next({}, random);
  EXPECT_EQ(random.asked(), 0);
  (void)exponential({.jitter = Jitter::full}).next({}, random);
  EXPECT_EQ(random.asked(), 1);
}

TEST(Wait, then_follows_what_times_covers) {
  const Wait wait = fixed(1s).times(2).then(fixed(10s));
  EXPECT_EQ(table(wait, 4), (Waits{1s, 1s, 10s, 10s}));
  EXPECT_EQ(at(wait, kLateRetry), 10s);
}

TEST(Wait, then_follows_a_list) {
  EXPECT_EQ(table(list({1s, 2s}).then(fixed(9s)), 4), (Waits{1s, 2s, 9s, 9s}));
  EXPECT_EQ(table(list({}).then(fixed(9s)), 2), (Waits{9s, 9s}));
}

TEST(Wait, the_rest_counts_from_its_own_beginning) {
  const Wait wait = fixed(500ms).times(3).then(exponential({.cap = 16s}));
  EXPECT_EQ(table(wait, 6), (Waits{500ms, 500ms, 500ms, 1s, 2s, 4s}));
}

TEST(Wait, the_rest_begins_without_a_wait_before_it) {
  const Wait wait =
      fixed(20s).times(1).then(exponential({.cap = 1min, .jitter = Jitter::decorrelated}));
  EXPECT_EQ(table(wait, 3), (Waits{20s, 2s, 3500ms}));
}

TEST(Wait, chains_go_on_as_long_as_their_parts_end) {
  const Wait wait = list({1s, 2s}).then(fixed(5s).times(2)).then(list({7s, 8s})).then(fixed(9s));
  EXPECT_EQ(table(wait, 8), (Waits{1s, 2s, 5s, 5s, 7s, 8s, 9s, 9s}));
}

TEST(Wait, a_chain_can_be_one_part_of_another) {
  const Wait inner = list({1s}).then(exponential({.first = 2s}));
  EXPECT_EQ(table(inner.times(3).then(fixed(1min)), 5), (Waits{1s, 2s, 4s, 1min, 1min}));
}

TEST(Wait, nothing_follows_a_wait_without_an_end) {
  EXPECT_EQ(at(fixed(1s).then(fixed(9s)), kLateRetry), 1s);
  EXPECT_EQ(table(fixed(1s).times(0).then(fixed(9s)), 2), (Waits{9s, 9s}));
  EXPECT_EQ(table(fixed(1s).times(-3).then(fixed(9s)), 2), (Waits{9s, 9s}));
  EXPECT_EQ(table(fixed(1s).times(2), 3), (Waits{1s, 1s, 1s}));
}

TEST(Wait, the_last_retry_number_there_is_does_not_overflow_a_chain) {
  constexpr int last = std::numeric_limits<int>::max();
  const Wait wait = fixed(1s).times(last - 1).then(fixed(2s).times(last - 1)).then(fixed(3s));
  EXPECT_EQ(at(wait, last - 1), 1s);
  EXPECT_EQ(at(wait, last), 2s);
}

TEST(Wait, the_error_says_how_long) {
  const Wait wait = from_error(exponential({.cap = 16s}));
  EXPECT_EQ(after(wait, 42s), 42s);
  EXPECT_EQ(after(wait, 0s), 0s);
  EXPECT_EQ(after(wait, -5s), 0s);
  EXPECT_EQ(after(wait, std::nullopt), 1s);
  EXPECT_EQ(at(wait, 2), 2s);
}

TEST(Wait, what_the_error_asks_for_is_capped_but_never_jittered) {
  EXPECT_EQ(after(from_error(fixed(1s)).capped(30s), 1h), 30s);
  const Wait jittered = from_error(fixed(1s)).jittered(Jitter::full);
  EXPECT_EQ(after(jittered, 42s, 0), 42s);
  EXPECT_EQ(after(jittered, std::nullopt, 0), 0s);
  EXPECT_EQ(after(from_error(fixed(1s)).times(3).capped(1h).jittered(Jitter::full), 42s, 0), 42s);
}

TEST(Wait, capped_holds_before_and_after_jitter) {
  const Wait grows = exponential({.cap = Duration::max()});
  EXPECT_EQ(table(grows.capped(3s), 4), (Waits{1s, 2s, 3s, 3s}));
  EXPECT_EQ(table(grows.capped(3s).jittered(Jitter::full), 3), (Waits{500ms, 1s, 1500ms}));
  EXPECT_EQ(table(fixed(2s).capped(3s).jittered(Jitter::decorrelated), 3, kAlmostOne).back(), 3s);
  EXPECT_EQ(at(fixed(2s).capped(-1s), 1), 0s);
}

TEST(Wait, sums_wait_for_both) {
  const Wait wait = fixed(1s) + exponential({.cap = 4s});
  EXPECT_EQ(table(wait, 4), (Waits{2s, 3s, 5s, 5s}));
  const Wait spread = fixed(1s) + fixed(2s).jittered(Jitter::full);
  EXPECT_EQ(at(spread, 1, 0), 1s);
  EXPECT_EQ(at(fixed(Duration::max()) + fixed(1s), 1), Duration::max());
}

TEST(Wait, a_sum_begins_where_its_capped_parts_begin) {
  const Wait sum = fixed(10s).capped(2s) + fixed(1s);
  EXPECT_EQ(at(sum.jittered(Jitter::decorrelated), 1, 0), 3s);
}

TEST(Wait, a_sum_covers_what_its_longer_part_covers) {
  EXPECT_EQ(table((fixed(1s) + list({1s, 2s})).then(fixed(9s)), 3), (Waits{2s, 3s, 9s}));
  EXPECT_EQ(table((list({1s}) + list({1s, 2s})).then(fixed(9s)), 3), (Waits{2s, 3s, 9s}));
}

TEST(Wait, custom_sees_what_is_known) {
  const Wait wait = custom(
      [](const WaitInput& input) {
        return input.retry * 1s + input.previous + (input.failure ? 100s : 0s);
      },
      "mine");
  EXPECT_EQ(table(wait, 3), (Waits{1s, 3s, 6s}));
  EXPECT_EQ(after(wait, std::nullopt), 101s);
  EXPECT_EQ(at(custom([](const WaitInput&) { return Duration(-1s); }, "bad"), 1), 0s);
  EXPECT_EQ(at(custom({}, "none"), 1), 0s);
}

TEST(Wait, bad_options_are_clamped) {
  EXPECT_EQ(at(fixed(-1s), 1), 0s);
  EXPECT_EQ(table(list({-1s, 2s}), 2), (Waits{0s, 2s}));
  EXPECT_EQ(table(linear({.first = -1s, .step = -2s}), 2), (Waits{0s, 0s}));
  EXPECT_EQ(at(linear({.cap = -1s}), 3), 0s);
  EXPECT_EQ(at(exponential({.first = -1s}), 5), 0s);
  EXPECT_EQ(at(exponential({.cap = -1s}), 5), 0s);
  EXPECT_EQ(table(exponential({.factor = 0.5}), 3), (Waits{1s, 1s, 1s}));
  EXPECT_EQ(table(exponential({.factor = -2}), 3), (Waits{1s, 1s, 1s}));
  EXPECT_EQ(table(exponential({.factor = std::nan("")}), 3), (Waits{1s, 1s, 1s}));
  EXPECT_EQ(table(exponential({.factor = std::numeric_limits<double>::infinity()}), 2),
            (Waits{1s, 5min}));
  EXPECT_EQ(at(exponential({.first = 0s, .factor = 1e300}), kLateRetry), 0s);
}

TEST(Wait, a_retry_number_below_one_counts_as_one) {
  for (const int retry : {0, -1, std::numeric_limits<int>::min()}) {
    EXPECT_EQ(at(exponential(), retry), 1s);
    EXPECT_EQ(at(linear({}), retry), 1s);
    EXPECT_EQ(at(list({3s, 4s}), retry), 3s);
    EXPECT_EQ(at(list({3s}).then(fixed(9s)), retry), 3s);
  }
}

TEST(Wait, stops_at_the_end_of_the_range) {
  EXPECT_EQ(at(exponential({.cap = Duration::max()}), kLateRetry), Duration::max());
  EXPECT_EQ(at(linear({.step = Duration::max(), .cap = Duration::max()}), kLateRetry),
            Duration::max());
  EXPECT_LE(at(fixed(Duration::max()).jittered(Jitter::full), 1, kAlmostOne), Duration::max());
}

TEST(Wait, says_itself_in_words) {
  EXPECT_EQ(no_wait().text(), "no wait");
  EXPECT_EQ(fixed(10s).text(), "10s");
  EXPECT_EQ(list({1s, 5s, 30s}).text(), "1s, 5s, 30s");
  EXPECT_EQ(list({1s, 2s, 3s, 4s, 5s, 6s, 7s, 8s}).text(), "1s, 2s, 3s, 4s, 5s, 6s … 8s");
  EXPECT_EQ(list({}).text(), "no wait");
  EXPECT_EQ(linear({.cap = 10s}).text(), "1s, 2s, 3s … at most 10s");
  EXPECT_EQ(exponential({.cap = 16s}).text(), "1s, 2s, 4s … at most 16s");
  EXPECT_EQ(exponential({.cap = 2s}).text(), "1s, 2s");
  EXPECT_EQ(exponential({.cap = Duration::max()}).text(), "1s, 2s, 4s …");
  EXPECT_EQ(exponential({.cap = 16s, .jitter = Jitter::full}).text(),
            "1s, 2s, 4s … at most 16s, full jitter");
  EXPECT_EQ(custom({}, "when the moon is up").text(), "when the moon is up");
}

TEST(Wait, says_its_parts_in_words) {
  EXPECT_EQ(fixed(1s).times(3).then(fixed(10s)).text(), "1s (3 times), then 10s");
  EXPECT_EQ(fixed(1s).times(1).then(fixed(10s)).text(), "1s (once), then 10s");
  EXPECT_EQ(list({1s, 2s}).then(fixed(10s)).jittered(Jitter::equal).text(),
            "(1s, 2s, then 10s), equal jitter");
  EXPECT_EQ((fixed(1s) + fixed(2s).jittered(Jitter::full)).text(), "1s plus 2s, full jitter");
  EXPECT_EQ(from_error(exponential({.cap = 16s})).capped(30s).text(),
            "(what the error asks for, else 1s, 2s, 4s … at most 16s), at most 30s");
}

Duration any_duration() {
  return Duration(*rc::gen::arbitrary<std::int64_t>());
}

// Any jitter, over any schedule that has a cap.
Wait any_capped_wait(Duration cap) {
  const auto first = any_duration();
  const auto jitter =
      *rc::gen::element(Jitter::none, Jitter::full, Jitter::equal, Jitter::decorrelated);
  const auto factor = *rc::gen::arbitrary<double>();
  const auto times = *rc::gen::inRange(-1, 5);
  const Wait parts[] = {
      exponential({.first = first, .factor = factor, .cap = cap, .jitter = jitter}),
      linear({.first = first, .step = any_duration(), .cap = cap, .jitter = jitter}),
      fixed(first).capped(cap).jittered(jitter),
      from_error(fixed(first)).jittered(jitter).capped(cap),
      (fixed(first) + list({first, first / 2})).jittered(jitter).capped(cap),
  };
  const Wait head = *rc::gen::elementOf(std::vector<Wait>(std::begin(parts), std::end(parts)));
  const Wait rest = *rc::gen::elementOf(std::vector<Wait>(std::begin(parts), std::end(parts)));
  return head.times(times).then(rest);
}

RC_GTEST_PROP(WaitProperty, is_never_negative_and_never_over_the_cap, ()) {
  const auto cap = Duration(*rc::gen::nonNegative<std::int64_t>());
  const Wait wait = any_capped_wait(cap);
  FailureView failure;
  if (*rc::gen::arbitrary<bool>()) failure.retry_after = any_duration();
  ScriptedRandom random(*rc::gen::inRange(0, 1000) / 1000.0);
  const WaitInput input{
      .retry = *rc::gen::arbitrary<int>(), .previous = any_duration(), .failure = &failure};
  const Duration given = wait.next(input, random);
  RC_ASSERT(given >= Duration::zero());
  RC_ASSERT(given <= cap);
}

}  // namespace
}  // namespace holdfast::retry::wait_test
