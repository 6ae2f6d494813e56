#pragma once

#include <optional>
#include <string>
#include <string_view>

// W3C's Trace Context: who asked for something, told from program to program.
namespace holdfast {

// Whether this is a traceparent of version 00: "00-" with a trace id of 32 hexadecimal digits, "-",
// a parent id of 16, "-", flags of 2; small letters; no id all zeros.
[[nodiscard]] bool is_traceparent(std::string_view text) noexcept;

// A traceparent as it came in the header of a request, as version 00: those of later versions begin
// with the same fields. Nothing: it is malformed, and to be ignored.
[[nodiscard]] std::optional<std::string> received_traceparent(std::string_view header);

// The trace id of a traceparent: what lines of logs are found by. Of what is none: empty.
[[nodiscard]] std::string_view trace_id_of(std::string_view traceparent) noexcept;

}  // namespace holdfast
