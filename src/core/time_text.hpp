#pragma once

#include <string>
#include <string_view>

#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

namespace holdfast {

// "2026-03-01T12:34:56.789Z": RFC 3339 in UTC, cut (not rounded) to the millisecond. Always 24
// bytes.
void append_rfc3339(std::string& out, WallTime time);

// "2026-03-01T12:34:56.789012Z": the same to the microsecond. Always 27 bytes.
void append_rfc3339_micros(std::string& out, WallTime time);

// Any date and time of RFC 3339: "2026-03-01T12:34:56Z", "2026-03-01 14:34:56.5+02:00". Exact or it
// fails: what lies outside of 1678 to 2262, or is finer than a nanosecond, is an error. Errors are
// invalid_argument; their messages quote the text and name the byte offset.
[[nodiscard]] Result<WallTime> parse_rfc3339(std::string_view text);

// "12:34:56.789", UTC.
void append_time_of_day(std::string& out, WallTime time);

}  // namespace holdfast
