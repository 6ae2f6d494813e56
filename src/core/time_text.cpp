#include "core/time_text.hpp"

#include <chrono>
#include <iterator>

#include <fmt/format.h>

#include "core/json_text.hpp"

namespace holdfast {

namespace chrono = std::chrono;

namespace {

// Takes a text apart from left to right, and remembers the first thing that is not as expected.
class DateScanner {
 public:
  explicit DateScanner(std::string_view text) : text_(text) {}

  [[nodiscard]] bool take_one_of(std::string_view letters) noexcept {
    if (at_ == text_.size() || letters.find(text_[at_]) == letters.npos) return false;
    ++at_;
    return true;
  }

  void literal(std::string_view letters, std::string_view name) {
    if (!take_one_of(letters)) complain(name, at_);
  }

  // Of so many digits, within the range.
  int number(std::size_t digits, int least, int most, std::string_view name) {
    const std::size_t start = at_;
    int value = 0;
    for (; at_ < start + digits; ++at_) {
      if (at_ >= text_.size() || text_[at_] < '0' || text_[at_] > '9')
        return complain(name, at_), 0;
      value = value * 10 + (text_[at_] - '0');
    }
    if (value < least || value > most) complain(name, start);
    return value;
  }

  chrono::sys_days date() {
    const chrono::year year(number(4, 1677, 2262, "a year from 1678 to 2262"));
    literal("-", "\"-\"");
    const chrono::month month(static_cast<unsigned>(number(2, 1, 12, "a month from 01 to 12")));
    literal("-", "\"-\"");
    const std::size_t day_at = at_;
    const chrono::day day(static_cast<unsigned>(number(2, 1, 31, "a day from 01 to 31")));
    const chrono::year_month_day all(year, month, day);
    if (!all.ok()) complain("a day that this month has", day_at);
    return complaint_.empty() ? chrono::sys_days(all) : chrono::sys_days();
  }

  chrono::seconds time_of_day() {
    const chrono::hours hours(number(2, 0, 23, "hours from 00 to 23"));
    literal(":", "\":\"");
    const chrono::minutes minutes(number(2, 0, 59, "minutes from 00 to 59"));
    literal(":", "\":\"");
    return hours + minutes + chrono::seconds(number(2, 0, 60, "seconds"));  // 60: a leap second
  }

  // What stands behind the point of the seconds, if there is one.
  Duration fraction() {
    if (!take_one_of(".")) return {};
    const std::size_t start = at_;
    Duration::rep nanoseconds = 0;
    Duration::rep digit_worth = 100'000'000;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      const int digit = text_[at_] - '0';
      if (digit_worth == 0 && digit != 0) complain("nothing finer than a nanosecond", at_);
      nanoseconds += digit * digit_worth;
      digit_worth /= 10;
    }
    if (at_ == start) complain("a digit after the point", at_);
    return Duration(nanoseconds);
  }

  [[nodiscard]] chrono::minutes zone() {
    if (take_one_of("Zz")) return {};
    const bool is_west = take_one_of("-");
    if (!is_west) literal("+", "\"Z\" or a zone such as \"+02:00\"");
    const chrono::hours hours(number(2, 0, 23, "the hours of a zone"));
    literal(":", "\":\"");
    const chrono::minutes all = hours + chrono::minutes(number(2, 0, 59, "minutes of a zone"));
    return is_west ? -all : all;
  }

  void end() {
    if (at_ < text_.size()) complain("nothing more", at_);
  }

  void complain(std::string_view expected, std::size_t at) {
    if (!complaint_.empty()) return;
    complaint_ = fmt::format("{}: expected {} at offset {}; a time is \"2026-03-01T12:34:56Z\"",
                             quoted(text_), expected, at);
  }

  [[nodiscard]] const std::string& complaint() const noexcept { return complaint_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::string complaint_;
};

void append_digits(std::string& out, unsigned value, int digits) {
  const std::size_t start = out.size();
  out.resize(start + static_cast<std::size_t>(digits));
  for (int i = digits; i-- > 0; value /= 10)
    out[start + static_cast<std::size_t>(i)] = static_cast<char>('0' + value % 10);
}

}  // namespace

void append_rfc3339(std::string& out, WallTime time) {
  const auto day = chrono::floor<chrono::days>(time);
  const chrono::year_month_day date(day);
  fmt::format_to(std::back_inserter(out), "{:04}-{:02}-{:02}T", static_cast<int>(date.year()),
                 static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  append_time_of_day(out, time);
  out += 'Z';
}

void append_rfc3339_micros(std::string& out, WallTime time) {
  const auto at = chrono::floor<chrono::microseconds>(time);
  const auto day = chrono::floor<chrono::days>(at);
  const chrono::year_month_day date(day);
  const chrono::hh_mm_ss clock(at - day);
  append_digits(out, static_cast<unsigned>(static_cast<int>(date.year())), 4);
  append_digits(out += '-', static_cast<unsigned>(date.month()), 2);
  append_digits(out += '-', static_cast<unsigned>(date.day()), 2);
  append_digits(out += 'T', static_cast<unsigned>(clock.hours().count()), 2);
  append_digits(out += ':', static_cast<unsigned>(clock.minutes().count()), 2);
  append_digits(out += ':', static_cast<unsigned>(clock.seconds().count()), 2);
  append_digits(out += '.', static_cast<unsigned>(clock.subseconds().count()), 6);
  out += 'Z';
}

Result<WallTime> parse_rfc3339(std::string_view text) {
  DateScanner scanner(text);
  const chrono::sys_days date = scanner.date();
  scanner.literal("Tt ", "\"T\"");
  const chrono::seconds clock = scanner.time_of_day();
  const Duration fraction = scanner.fraction();
  const chrono::sys_seconds whole = date + clock - scanner.zone();
  scanner.end();
  // Compared in seconds, of which none are too many.
  constexpr chrono::sys_days kFirst = chrono::year(1678) / 1 / 1;
  const auto last = chrono::floor<chrono::seconds>(WallTime::max());
  if (whole < kFirst || whole > last || (whole == last && fraction > WallTime::max() - last)) {
    scanner.complain("a time from 1678-01-01T00:00:00Z to 2262-04-11T23:47:16Z", 0);
  }
  if (!scanner.complaint().empty()) {
    return fail(ErrorCode::invalid_argument, "parse time", scanner.complaint());
  }
  return WallTime(whole.time_since_epoch()) + fraction;
}

void append_time_of_day(std::string& out, WallTime time) {
  // In milliseconds first: a day before 1677-09-22 cannot be counted in nanoseconds.
  const auto at = chrono::floor<chrono::milliseconds>(time);
  const chrono::hh_mm_ss clock(at - chrono::floor<chrono::days>(at));
  fmt::format_to(std::back_inserter(out), "{:02}:{:02}:{:02}.{:03}", clock.hours().count(),
                 clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

}  // namespace holdfast
