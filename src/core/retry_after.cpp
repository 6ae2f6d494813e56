// The Retry-After header of RFC 9110: a number of seconds, or a date in one of three forms.
#include <array>
#include <chrono>
#include <optional>
#include <string_view>

#include <holdfast/failure.hpp>

#include "core/text_shapes.hpp"

namespace holdfast {
namespace {

namespace chrono = std::chrono;

constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> kDays{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
constexpr std::array<std::string_view, 7> kLongDays{"Monday", "Tuesday",  "Wednesday", "Thursday",
                                                    "Friday", "Saturday", "Sunday"};

// Takes a date apart from left to right. After the first thing that is not as expected, everything
// fails, so that only the end needs to be looked at.
class DateReader {
 public:
  explicit DateReader(std::string_view text) : rest_(text) {}

  void literal(std::string_view expected) noexcept {
    if (!rest_.starts_with(expected)) return give_up();
    rest_.remove_prefix(expected.size());
  }

  // One of the names; its place in the list.
  template <std::size_t N>
  unsigned one_of(const std::array<std::string_view, N>& names) noexcept {
    for (unsigned i = 0; i < N; ++i) {
      if (!rest_.starts_with(names[i])) continue;
      rest_.remove_prefix(names[i].size());
      return i;
    }
    give_up();
    return 0;
  }

  int number(std::size_t digits) noexcept {
    if (rest_.size() < digits) return give_up(), 0;
    int value = 0;
    for (const char c : rest_.substr(0, digits)) {
      if (!shapes::is_digit(c)) return give_up(), 0;
      value = value * 10 + (c - '0');
    }
    rest_.remove_prefix(digits);
    return value;
  }

  // asctime() pads the day of the month with a space.
  int padded_day() noexcept {
    if (!rest_.starts_with(' ')) return number(2);
    rest_.remove_prefix(1);
    return number(1);
  }

  void time_of_day() noexcept {
    const int hours = number(2);
    literal(":");
    const int minutes = number(2);
    literal(":");
    const int seconds = number(2);
    if (hours > 23 || minutes > 59 || seconds > 60) give_up();  // 60: a leap second
    time_ = chrono::hours(hours) + chrono::minutes(minutes) + chrono::seconds(seconds);
  }

  [[nodiscard]] std::optional<chrono::sys_seconds> finish(int year, unsigned month,
                                                          int day) const noexcept {
    if (failed_ || !rest_.empty()) return std::nullopt;
    const chrono::year_month_day date{chrono::year(year), chrono::month(month + 1),
                                      chrono::day(static_cast<unsigned>(day))};
    if (!date.ok()) return std::nullopt;
    return chrono::sys_days(date) + time_;
  }

 private:
  void give_up() noexcept {
    failed_ = true;
    rest_ = {};
  }

  std::string_view rest_;
  chrono::seconds time_{};
  bool failed_ = false;
};

// Sun, 06 Nov 1994 08:49:37 GMT
[[nodiscard]] std::optional<chrono::sys_seconds> read_imf_fixdate(std::string_view text) noexcept {
  DateReader reader(text);
  reader.one_of(kDays);
  reader.literal(", ");
  const int day = reader.number(2);
  reader.literal(" ");
  const unsigned month = reader.one_of(kMonths);
  reader.literal(" ");
  const int year = reader.number(4);
  reader.literal(" ");
  reader.time_of_day();
  reader.literal(" GMT");
  return reader.finish(year, month, day);
}

// Sunday, 06-Nov-94 08:49:37 GMT. RFC 9110: a year that seems more than 50 years ahead is the most
// recent one in the past with the same last digits.
[[nodiscard]] std::optional<chrono::sys_seconds> read_rfc850(std::string_view text,
                                                             WallTime now) noexcept {
  DateReader reader(text);
  reader.one_of(kLongDays);
  reader.literal(", ");
  const int day = reader.number(2);
  reader.literal("-");
  const unsigned month = reader.one_of(kMonths);
  reader.literal("-");
  const int short_year = reader.number(2);
  reader.literal(" ");
  reader.time_of_day();
  reader.literal(" GMT");
  const chrono::year_month_day today(chrono::floor<chrono::days>(now));
  const int this_year = static_cast<int>(today.year());
  int year = this_year - this_year % 100 + short_year;
  if (year > this_year + 50) year -= 100;
  if (year <= this_year - 50) year += 100;
  return reader.finish(year, month, day);
}

// Sun Nov  6 08:49:37 1994
[[nodiscard]] std::optional<chrono::sys_seconds> read_asctime(std::string_view text) noexcept {
  DateReader reader(text);
  reader.one_of(kDays);
  reader.literal(" ");
  const unsigned month = reader.one_of(kMonths);
  reader.literal(" ");
  const int day = reader.padded_day();
  reader.literal(" ");
  reader.time_of_day();
  reader.literal(" ");
  const int year = reader.number(4);
  return reader.finish(year, month, day);
}

[[nodiscard]] std::optional<Duration> read_seconds(std::string_view text) noexcept {
  constexpr auto kMost = chrono::floor<chrono::seconds>(Duration::max()).count();
  chrono::seconds::rep seconds = 0;
  for (const char c : text) {
    if (!shapes::is_digit(c)) return std::nullopt;
    // Once past the end it stays there: a server that says 10^30 seconds means "do not come back".
    if (seconds <= kMost) seconds = seconds * 10 + (c - '0');
  }
  if (seconds > kMost) return Duration::max();
  return chrono::seconds(seconds);
}

[[nodiscard]] std::string_view without_spaces_around(std::string_view text) noexcept {
  const auto start = text.find_first_not_of(" \t");
  if (start == text.npos) return {};
  return text.substr(start, text.find_last_not_of(" \t") - start + 1);
}

// From `now` to `date`; dates may lie outside of what nanoseconds can count.
[[nodiscard]] Duration time_until(chrono::sys_seconds date, WallTime now) noexcept {
  if (date <= chrono::floor<chrono::seconds>(now)) return Duration::zero();
  if (date > chrono::floor<chrono::seconds>(WallTime::max())) return Duration::max();
  const WallTime until(date.time_since_epoch());
  // Before 1970 the difference itself may be too long.
  if (now < WallTime{} && until.time_since_epoch() > Duration::max() + now.time_since_epoch()) {
    return Duration::max();
  }
  return until - now;
}

}  // namespace

std::optional<Duration> parse_retry_after(std::string_view value, WallTime now) noexcept {
  const std::string_view text = without_spaces_around(value);
  if (text.empty()) return std::nullopt;
  if (shapes::is_digit(text.front())) return read_seconds(text);
  auto date = read_imf_fixdate(text);
  if (!date) date = read_rfc850(text, now);
  if (!date) date = read_asctime(text);
  if (!date) return std::nullopt;
  return time_until(*date, now);
}

}  // namespace holdfast
