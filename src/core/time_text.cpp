#include "core/time_text.hpp"

#include <chrono>
#include <iterator>

#include <fmt/format.h>

namespace holdfast {

namespace chrono = std::chrono;

void append_rfc3339(std::string& out, WallTime time) {
  const auto day = chrono::floor<chrono::days>(time);
  const chrono::year_month_day date(day);
  fmt::format_to(std::back_inserter(out), "{:04}-{:02}-{:02}T", static_cast<int>(date.year()),
                 static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  append_time_of_day(out, time);
  out += 'Z';
}

void append_time_of_day(std::string& out, WallTime time) {
  // In milliseconds first: a day before 1677-09-22 cannot be counted in nanoseconds.
  const auto at = chrono::floor<chrono::milliseconds>(time);
  const chrono::hh_mm_ss clock(at - chrono::floor<chrono::days>(at));
  fmt::format_to(std::back_inserter(out), "{:02}:{:02}:{:02}.{:03}", clock.hours().count(),
                 clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

}  // namespace holdfast
