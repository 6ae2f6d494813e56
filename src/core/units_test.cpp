#include "core/units.hpp"

#include <chrono>
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace holdfast::units_test {
namespace {

using namespace std::chrono_literals;

std::string duration_error(std::string_view text) {
  const auto parsed = parse_duration(text);
  if (parsed) return "no error";
  EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(parsed.error().operation, "parse duration");
  return parsed.error().message;
}

std::string size_error(std::string_view text) {
  const auto parsed = parse_size(text);
  if (parsed) return "no error";
  EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(parsed.error().operation, "parse size");
  return parsed.error().message;
}

TEST(Units, reads_durations_as_people_write_them) {
  const std::vector<std::pair<std::string_view, Duration>> rows{
      {"1s", 1s},
      {"250ms", 250ms},
      {"5m", 5min},
      {"24h", 24h},
      {"7d", 168h},
      {"1h30m", 90min},
      {"1.5s", 1500ms},
      {"0s", 0s},
      {"10 s", 10s},
      {"1h 30m", 90min},
      {"3us", 3us},
      {"3µs", 3us},
      {"3\u03bcs", 3us},
      {"17ns", 17ns},
      {"0.5d", 12h},
      {"1.50s", 1500ms},
      {"1m0.000000001s", 60s + 1ns},
      {"1d2h3m4s5ms6us7ns", 26h + 3min + 4s + 5ms + 6us + 7ns},
      {"9223372036854775807ns", Duration::max()},
  };
  for (const auto& [text, span] : rows) {
    const auto parsed = parse_duration(text);
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(*parsed, span) << text;
  }
}

TEST(Units, a_bad_duration_is_an_error_that_shows_the_text_and_the_place) {
  EXPECT_EQ(duration_error("10 secs"),
            R"("10 secs": unknown unit "secs" at offset 3; use ns, us, ms, s, m, h or d)");
  EXPECT_EQ(duration_error(""), R"("": expected a number at offset 0)");
  EXPECT_EQ(duration_error(" 1s"), R"(" 1s": expected a number at offset 0)");
  EXPECT_EQ(duration_error("1s "), R"("1s ": unexpected space at offset 2)");
  EXPECT_EQ(duration_error("s"), R"("s": expected a number at offset 0)");
  EXPECT_EQ(duration_error("-1s"), R"("-1s": negative at offset 0)");
  EXPECT_EQ(duration_error("10"),
            R"("10": missing unit at offset 2; use ns, us, ms, s, m, h or d)");
  EXPECT_EQ(duration_error("1h30"),
            R"("1h30": missing unit at offset 4; use ns, us, ms, s, m, h or d)");
  EXPECT_EQ(duration_error("1s!"), R"("1s!": expected a number at offset 2)");
  EXPECT_EQ(duration_error("1,5s"), R"("1,5s": unexpected ",5s" at offset 1)");
  EXPECT_EQ(duration_error("1.s"), R"("1.s": expected a digit after the point at offset 2)");
  EXPECT_EQ(duration_error(".5s"), R"(".5s": expected a number at offset 0)");
  EXPECT_EQ(duration_error("1m1h"), R"("1m1h": unit "h" after one that is not larger at offset 3)");
  EXPECT_EQ(duration_error("1s1s"), R"("1s1s": unit "s" after one that is not larger at offset 3)");
  EXPECT_EQ(duration_error("1.5ns"), R"("1.5ns": finer than a nanosecond at offset 0)");
  EXPECT_EQ(duration_error("0.3333333333333333333s"),
            R"("0.3333333333333333333s": too many digits after the point at offset 0)");
  EXPECT_EQ(duration_error("106752d"), R"("106752d": longer than 292 years at offset 0)");
  EXPECT_EQ(duration_error("106751d24h"), R"("106751d24h": longer than 292 years at offset 7)");
  EXPECT_EQ(duration_error("99999999999999999999s"),
            R"("99999999999999999999s": too large at offset 0)");
}

TEST(Units, an_error_stays_one_short_line_whatever_the_text) {
  EXPECT_EQ(duration_error("1\n"), R"("1\n": unexpected "\n" at offset 1)");
  EXPECT_EQ(duration_error("1\xff"),
            R"("1\\xff": unknown unit "\\xff" at offset 1; use ns, us, ms, s, m, h or d)");
  EXPECT_LT(duration_error(std::string(1'000'000, '1')).size(), 200U);
  EXPECT_LT(duration_error("1" + std::string(1'000'000, 'x')).size(), 300U);
}

TEST(Units, reads_sizes_as_people_write_them) {
  const std::vector<std::pair<std::string_view, std::uint64_t>> rows{
      {"512", 512},
      {"512B", 512},
      {"256KiB", 262'144},
      {"1MB", 1'000'000},
      {"10 GiB", 10ULL << 30},
      {"1.5GiB", 3ULL << 29},
      {"1kB", 1000},
      {"1KB", 1000},
      {"0", 0},
      {"2TiB", 2ULL << 40},
      {"0.5KiB", 512},
      {"15EiB", 15ULL << 60},
      {"18446744073709551615", std::numeric_limits<std::uint64_t>::max()},
  };
  for (const auto& [text, size] : rows) {
    const auto parsed = parse_size(text);
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(*parsed, size) << text;
  }
}

TEST(Units, a_bad_size_is_an_error_that_shows_the_text_and_the_place) {
  EXPECT_EQ(size_error("10 G"),
            R"("10 G": unknown unit "G" at offset 3; use B, kB, MB, GB, TB, KiB, MiB, GiB or TiB)");
  EXPECT_EQ(size_error(""), R"("": expected a number at offset 0)");
  EXPECT_EQ(size_error("-1"), R"("-1": negative at offset 0)");
  EXPECT_EQ(size_error("KiB"), R"("KiB": expected a number at offset 0)");
  EXPECT_EQ(size_error("1KiB2"), R"("1KiB2": unexpected "2" at offset 4)");
  EXPECT_EQ(size_error("1 "), R"("1 ": unexpected space at offset 1)");
  EXPECT_EQ(size_error("1.5"), R"("1.5": not a whole number of bytes at offset 0)");
  EXPECT_EQ(size_error("16EiB"), R"("16EiB": too large at offset 0)");
  EXPECT_EQ(size_error("18446744073709551616"), R"("18446744073709551616": too large at offset 0)");
}

TEST(Units, writes_durations_short_and_exact) {
  EXPECT_EQ(format_duration(0s), "0s");
  EXPECT_EQ(format_duration(1s), "1s");
  EXPECT_EQ(format_duration(90s), "1m30s");
  EXPECT_EQ(format_duration(1500ms), "1.5s");
  EXPECT_EQ(format_duration(250ms), "250ms");
  EXPECT_EQ(format_duration(1500ns), "1.5us");
  EXPECT_EQ(format_duration(999ns), "999ns");
  EXPECT_EQ(format_duration(24h), "1d");
  EXPECT_EQ(format_duration(25h), "1d1h");
  EXPECT_EQ(format_duration(5min), "5m");
  EXPECT_EQ(format_duration(1s + 1ns), "1.000000001s");
  EXPECT_EQ(format_duration(-90s), "-1m30s");
  EXPECT_EQ(format_duration(Duration::max()), "106751d23h47m16.854775807s");
  EXPECT_EQ(format_duration(Duration::min()), "-106751d23h47m16.854775808s");
}

TEST(Units, writes_sizes_short_and_exact) {
  EXPECT_EQ(format_size(0), "0B");
  EXPECT_EQ(format_size(999), "999B");
  EXPECT_EQ(format_size(1000), "1kB");
  EXPECT_EQ(format_size(1024), "1KiB");
  EXPECT_EQ(format_size(262'144), "256KiB");
  EXPECT_EQ(format_size(1'000'000), "1MB");
  EXPECT_EQ(format_size(1'234'567), "1234567B");
  EXPECT_EQ(format_size(3ULL << 29), "1.5GiB");
  EXPECT_EQ(format_size(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615B");
}

// Spans of every magnitude; plain integers would nearly all be longer than a century.
rc::Gen<Duration> any_span() {
  return rc::gen::apply(
      [](std::int64_t value, int shift) {
        return Duration((value & std::numeric_limits<std::int64_t>::max()) >> shift);
      },
      rc::gen::arbitrary<std::int64_t>(), rc::gen::inRange(0, 63));
}

RC_GTEST_PROP(Units, a_written_duration_reads_back_as_itself, ()) {
  const Duration span = *any_span();
  const auto parsed = parse_duration(format_duration(span));
  RC_ASSERT(parsed.has_value());
  RC_ASSERT(*parsed == span);
}

RC_GTEST_PROP(Units, a_written_size_reads_back_as_itself, ()) {
  const std::uint64_t size = *rc::gen::arbitrary<std::uint64_t>() >> *rc::gen::inRange(0, 64);
  const auto parsed = parse_size(format_size(size));
  RC_ASSERT(parsed.has_value());
  RC_ASSERT(*parsed == size);
}

}  // namespace
}  // namespace holdfast::units_test
