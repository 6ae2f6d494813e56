#include <chrono>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <holdfast/failure.hpp>

namespace holdfast::retry_after_test {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kNow{784111777s};  // Sun, 06 Nov 1994 08:49:37 GMT, the date RFC 9110 uses

std::optional<Duration> after(std::string_view value) {
  return parse_retry_after(value, kNow);
}

// C1.7
TEST(RetryAfter, reads_seconds) {
  EXPECT_EQ(after("120"), 120s);
  EXPECT_EQ(after("0"), 0s);
  EXPECT_EQ(after(" 7\t"), 7s);
  EXPECT_EQ(after("0000000000000000000000000000001"), 1s);
}

TEST(RetryAfter, seconds_that_do_not_fit_stop_at_the_longest_wait) {
  EXPECT_EQ(after("9223372036"), 9223372036s);
  EXPECT_EQ(after("9223372037"), Duration::max());
  EXPECT_EQ(after("99999999999999999999999999999999"), Duration::max());
}

TEST(RetryAfter, reads_the_three_date_forms_of_http) {
  EXPECT_EQ(after("Sun, 06 Nov 1994 08:50:07 GMT"), 30s);
  EXPECT_EQ(after("Sunday, 06-Nov-94 08:50:07 GMT"), 30s);
  EXPECT_EQ(after("Sun Nov  6 08:50:07 1994"), 30s);
  EXPECT_EQ(after("Wed Nov 16 08:49:37 1994"), 240h);
  EXPECT_EQ(after("Tue, 29 Feb 2000 00:00:00 GMT"),
            std::chrono::sys_days(std::chrono::year(2000) / 2 / 29) - kNow);
}

TEST(RetryAfter, a_date_in_the_past_is_no_wait) {
  EXPECT_EQ(after("Sun, 06 Nov 1994 08:49:37 GMT"), 0s);
  EXPECT_EQ(after("Sat, 05 Nov 1994 08:49:37 GMT"), 0s);
  EXPECT_EQ(after("Thu, 01 Jan 0001 00:00:00 GMT"), 0s);
}

TEST(RetryAfter, keeps_the_fraction_of_now) {
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:38 GMT", kNow + 250ms), 750ms);
}

TEST(RetryAfter, a_two_digit_year_is_within_fifty_years) {
  const auto year_of = [](std::string_view value, WallTime now) {
    const auto wait = parse_retry_after(value, now);
    const auto date = std::chrono::floor<std::chrono::days>(now + wait.value_or(0s));
    return static_cast<int>(std::chrono::year_month_day(date).year());
  };
  EXPECT_EQ(year_of("Sunday, 06-Nov-44 08:49:37 GMT", kNow), 2044);
  EXPECT_EQ(after("Sunday, 06-Nov-45 08:49:37 GMT"), 0s);  // 1945
  const WallTime in_2099{4073846400s};
  EXPECT_EQ(year_of("Friday, 01-Jan-10 00:00:00 GMT", in_2099), 2110);
}

TEST(RetryAfter, dates_beyond_the_range_stop_at_the_longest_wait) {
  EXPECT_EQ(after("Fri, 31 Dec 9999 23:59:59 GMT"), Duration::max());
  EXPECT_EQ(parse_retry_after("Wed, 01 Jan 2250 00:00:00 GMT", WallTime::min()), Duration::max());
}

TEST(RetryAfter, what_is_neither_is_nothing) {
  for (const std::string_view value :
       {"", " ", "-1", "+1", "1.5", "12s", "1 2", "soon", "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 GMT+1", "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 94 08:49:37 GMT", "1994-11-06T08:49:37Z"}) {
    EXPECT_EQ(after(value), std::nullopt) << value;
  }
}

RC_GTEST_PROP(RetryAfter, any_bytes_at_any_time_give_nothing_or_a_wait,
              (const std::string& bytes)) {
  const WallTime now{Duration(*rc::gen::arbitrary<std::int64_t>())};
  const auto wait = parse_retry_after(bytes, now);
  RC_ASSERT(wait.value_or(Duration::zero()) >= Duration::zero());
}

}  // namespace
}  // namespace holdfast::retry_after_test
