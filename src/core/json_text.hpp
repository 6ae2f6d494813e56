#pragma once

#include <string>
#include <string_view>

namespace holdfast {

// Appends `text` as a quoted JSON string. Whatever the bytes are, what is appended is valid UTF-8
// on one line that no terminal acts upon: control characters (NUL, newline, ESC, DEL, C1), line and
// paragraph separators, byte order marks and bidirectional controls become JSON escapes.
//
// A byte that is not UTF-8 becomes the four visible characters \xNN (in JSON: \\xNN). U+FFFD would
// be the custom, but it loses the byte, and the byte is what a person looking at an error wants.
void append_json_string(std::string& out, std::string_view text);

// The same escapes without the quotes, for text that people read: quotes and backslashes stay as
// they are.
void append_visible(std::string& out, std::string_view text);

// `text` as a JSON string for use in a message, cut after `limit` bytes with "…" after the quote.
// Written holdfast::quoted(text) where `text` is a std::string: <filesystem> brings std::quoted,
// which would be the better match.
[[nodiscard]] std::string quoted(std::string_view text, std::size_t limit = 80);

// Whether append_visible would leave `text` as it is.
[[nodiscard]] bool is_visible(std::string_view text) noexcept;

}  // namespace holdfast
