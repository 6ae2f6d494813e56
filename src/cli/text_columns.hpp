#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// Text as a terminal shows it: a column for each character, two for those that are wide, and none
// for marks that stand with another.
namespace holdfast::cli {

// No line of a verb is wider.
inline constexpr std::size_t kColumns = 80;

// Nothing that somebody has sent can do anything to the terminal.
[[nodiscard]] std::string visible(std::string_view text);

// Between the escape sequence `code` and its end, if `colour` is set.
[[nodiscard]] std::string coloured(std::string_view text, std::string_view code, bool colour);

[[nodiscard]] std::size_t columns_of(std::string_view text);

// As much of the text as has room in `columns`, with "…" at its end if there is more.
[[nodiscard]] std::string cut(std::string_view text, std::size_t columns);

// 1234567 → 1,234,567
[[nodiscard]] std::string grouped(std::uint64_t number);

// Words, broken into lines of at most kColumns that all start at `indent`. Ends the last line.
void append_wrapped(std::string& out, std::string_view text, std::size_t indent);

}  // namespace holdfast::cli
