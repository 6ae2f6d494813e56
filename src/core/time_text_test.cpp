#include "core/time_text.hpp"

#include <chrono>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace holdfast::time_text_test {
namespace {

using namespace std::chrono_literals;

// 2026-03-01T12:34:56Z
constexpr WallTime kNoon =
    std::chrono::sys_days(std::chrono::year(2026) / 3 / 1) + 12h + 34min + 56s;

std::string micros(WallTime time) {
  std::string out;
  append_rfc3339_micros(out, time);
  return out;
}

TEST(TimeText, times_are_written_to_the_microsecond_and_cut_there) {
  EXPECT_EQ(micros(kNoon), "2026-03-01T12:34:56.000000Z");
  EXPECT_EQ(micros(kNoon + 123456999ns), "2026-03-01T12:34:56.123456Z");
  EXPECT_EQ(micros(WallTime(-1ns)), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(micros(WallTime::max()), "2262-04-11T23:47:16.854775Z");
  EXPECT_EQ(micros(WallTime::min()), "1677-09-21T00:12:43.145224Z");
}

TEST(TimeText, every_form_of_rfc_3339_is_read) {
  EXPECT_EQ(parse_rfc3339("2026-03-01T12:34:56Z"), kNoon);
  EXPECT_EQ(parse_rfc3339("2026-03-01t12:34:56z"), kNoon);
  EXPECT_EQ(parse_rfc3339("2026-03-01 12:34:56+00:00"), kNoon);
  EXPECT_EQ(parse_rfc3339("2026-03-01T14:04:56.5+01:30"), kNoon + 500ms);
  EXPECT_EQ(parse_rfc3339("2026-02-28T23:34:56-13:00"), kNoon);
  EXPECT_EQ(parse_rfc3339("2026-03-01T12:34:56.123456789000Z"), kNoon + 123456789ns);
  EXPECT_EQ(parse_rfc3339("2016-12-31T23:59:60Z"), parse_rfc3339("2017-01-01T00:00:00Z"));
  EXPECT_EQ(parse_rfc3339("2024-02-29T00:00:00Z").has_value(), true);
}

std::string complaint(std::string_view text) {
  const auto read = parse_rfc3339(text);
  if (read) return "was read";
  EXPECT_EQ(read.error().code, ErrorCode::invalid_argument);
  return read.error().message;
}

TEST(TimeText, errors_say_what_is_expected_where) {
  EXPECT_EQ(complaint("tomorrow"),
            "\"tomorrow\": expected a year from 1678 to 2262 at offset 0; a time is "
            "\"2026-03-01T12:34:56Z\"");
  const auto expects = [](std::string_view text, std::string_view part) {
    EXPECT_NE(complaint(text).find(part), std::string::npos) << complaint(text);
  };
  expects("", "a year");
  expects("2026-13-01T12:34:56Z", "a month from 01 to 12 at offset 5");
  expects("2026-02-29T12:34:56Z", "a day that this month has at offset 8");
  expects("2026-03-01", "\"T\" at offset 10");
  expects("2026-03-01T24:00:00Z", "hours from 00 to 23 at offset 11");
  expects("2026-03-01T12:34:61Z", "seconds at offset 17");
  expects("2026-03-01T12:34:56", "a zone such as \"+02:00\" at offset 19");
  expects("2026-03-01T12:34:56+0200", "\":\" at offset 22");
  expects("2026-03-01T12:34:56.Z", "a digit after the point at offset 20");
  expects("2026-03-01T12:34:56.1234567891Z", "nothing finer than a nanosecond at offset 29");
  expects("2026-03-01T12:34:56Z ", "nothing more at offset 20");
  expects("9999-12-31T23:59:59Z", "a year from 1678 to 2262");
  expects("2262-04-11T23:47:17Z", "a time from 1678-01-01T00:00:00Z to 2262");
  expects("1678-01-01T00:00:00+00:01", "a time from 1678-01-01T00:00:00Z to 2262");
}

RC_GTEST_PROP(TimeText, a_written_time_reads_back_as_itself, ()) {
  const auto first = std::chrono::sys_days(std::chrono::year(1678) / 1 / 1);
  const auto least = std::chrono::microseconds(first.time_since_epoch()).count();
  const auto most = std::chrono::floor<std::chrono::microseconds>(Duration::max()).count();
  const WallTime time(std::chrono::microseconds(*rc::gen::inRange(least, most)));
  RC_ASSERT(parse_rfc3339(micros(time)).value() == time);
}

}  // namespace
}  // namespace holdfast::time_text_test
