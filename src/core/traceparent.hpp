#pragma once

#include <string_view>

namespace holdfast::wire {

// Whether this is a traceparent of W3C's Trace Context, version 00: "00-" with a trace id of 32
// hexadecimal digits, "-", a parent id of 16, "-", flags of 2; small letters; no id all zeros.
[[nodiscard]] bool is_traceparent(std::string_view text) noexcept;

}  // namespace holdfast::wire
