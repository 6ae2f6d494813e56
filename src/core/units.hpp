#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

namespace holdfast {

// Durations and sizes as people write them in configuration.
//
// Reading is exact or it fails: what does not fit, or cannot be held to the nanosecond (byte), is
// an error and not a rounded value. Errors are invalid_argument, and their messages quote the text
// and name the byte offset: `"10 secs": unknown unit "secs" at offset 3; use ns, us, ms, s, m, h or
// d`.

// One or more numbers with units, from the largest unit to the smallest: "250ms", "1h30m", "1.5s",
// "10 s". Units: ns, us (µs), ms, s, m, h, d (24 hours).
[[nodiscard]] Result<Duration> parse_duration(std::string_view text);

// One number with at most one unit: "512", "512B", "256KiB", "10 GiB", "1.5MB". KiB, MiB … are
// powers of 1024; kB (KB), MB … are powers of 1000.
[[nodiscard]] Result<std::uint64_t> parse_size(std::string_view text);

// The exact value in few characters: "1m30s", "250ms", "1.5us", "7d". parse_duration reads it back,
// but for negative spans, which it refuses and this writes with a leading "-".
[[nodiscard]] std::string format_duration(Duration span);

// The exact value in the unit that makes it shortest: "256KiB", "1MB", "1.5GiB", "1234567B".
// parse_size reads it back.
[[nodiscard]] std::string format_size(std::uint64_t size_bytes);

}  // namespace holdfast
