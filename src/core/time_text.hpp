#pragma once

#include <string>

#include <holdfast/time.hpp>

namespace holdfast {

// "2026-03-01T12:34:56.789Z": RFC 3339 in UTC, cut (not rounded) to the millisecond. Always 24
// bytes.
void append_rfc3339(std::string& out, WallTime time);

// "12:34:56.789", UTC.
void append_time_of_day(std::string& out, WallTime time);

}  // namespace holdfast
