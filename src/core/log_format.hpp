#pragma once

#include <cstddef>
#include <string>

#include <holdfast/log.hpp>

namespace holdfast {

// A log record as text. Whatever bytes it holds, each function appends exactly one line of valid
// UTF-8, newline included, that no terminal acts upon (see json_text.hpp for the escapes). Secret
// fields print as ***.
//
// A text of more than kLogTextBytes is cut there and ends in "…(+N bytes)", so that a 10 MB error
// costs neither 10 MB of log nor a line that nobody can open. Names of fields are cut at
// kLogNameBytes.
inline constexpr std::size_t kLogTextBytes = 8192;
inline constexpr std::size_t kLogNameBytes = 128;

// {"time":"2026-03-01T12:34:56.789Z","level":"info","event":…,"message":…, then the fields}
//
// Fields keep their names and order. A name that is taken already, by one of the four keys or by an
// earlier field, gets "_" appended until it is free. Durations are numbers of seconds ("wait":1.5),
// which log stores can sum and compare; values that JSON has no number for are the strings "inf",
// "-inf" and "nan".
void append_json_line(std::string& out, const LogRecord& record);

// 12:34:56.789 warning  retry.wait           The message  attempt=2 wait=1m30s error="no route"
//
// Times are UTC. Values are quoted, as JSON strings, where they would not be clear without.
void append_console_line(std::string& out, const LogRecord& record, bool colour);

}  // namespace holdfast
