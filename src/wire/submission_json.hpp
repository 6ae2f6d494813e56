#pragma once

#include <cstddef>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/result.hpp>
#include <holdfast/task.hpp>

#include "wire/bytes.hpp"
#include "wire/json_cursor.hpp"
#include "wire/json_writer.hpp"

namespace holdfast::wire {

// Tasks as they are handed in:
//
//   {"type": "mail.send", "queue": "mails", "payload": {"to": "ann"}, "priority": 5, "delay":
//   "30s",
//    "due": "2026-11-16T03:00:00Z", "deadline": …, "key": "order-17", "attempts": 3,
//    "timeout": "10s", "trace": "00-…", "retry_on_failure": true}
//
// Only the type must be given, and null is the same as a field that is left out (but for the
// payload, of which null is a value). Spans of time may be numbers of seconds. What of all this may
// be handed in is not decided here: a priority of a million is read.

struct Limits {
  std::size_t most_entries = 1000;
  // Of the brackets of the whole document.
  std::size_t most_depth = kMostPayloadDepth + 4;
  // What read_submissions takes for the queue of a task that names none.
  std::string_view unnamed_queue = "default";
};

// Fails with invalid_argument. The message says what and where: `delay: "30 secs": unknown unit …`,
// `line 1, column 20: unexpected "}"`.
[[nodiscard]] Result<Submission> read_submission(std::string_view json, const Limits& limits);

// One object, or an array of them. Each has its own error, whose place begins with that in the
// array: `[3].delay: …`. The document as a whole fails if it is no JSON, nested too deep, has too
// many entries, or names a field of a task twice.
[[nodiscard]] Result<std::vector<Result<Submission>>> read_submissions(std::string_view json,
                                                                       const Limits& limits);
// Whether a document that was read is an array, and so is to be answered with one.
[[nodiscard]] bool is_array(std::string_view json);

// One field of a task, by the name that it has in such a document; or what is wrong with the value.
[[nodiscard]] std::expected<void, std::string> set_field(Submission& out, std::string_view name,
                                                         const JsonValue& value);

// What is as it is without saying is left out. A payload whose JSON is nested deeper than
// `most_payload_depth` is written as text.
void write(JsonWriter& writer, const Submission& submission,
           std::size_t most_payload_depth = kMostPayloadDepth);
void write(JsonWriter& writer, std::span<const Submission> submissions);

}  // namespace holdfast::wire
