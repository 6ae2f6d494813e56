#pragma once

#include <array>
#include <cstddef>
#include <string_view>

// Shapes of values inside error texts, for fingerprint.cpp. Each function looks at the start of
// `text` and returns how many bytes have that shape, 0 for none. They look at shapes only, never at
// what the digits say (25:61:61 is a time), so that two values of one kind are never told apart.
namespace holdfast::shapes {

enum CharClass : unsigned char { kDigit = 1, kHexDigit = 2, kLetter = 4 };

// What each byte is: asked for every byte of a text, many times.
inline constexpr auto kCharClasses = [] {
  std::array<unsigned char, 256> classes{};
  for (unsigned c = 0; c < classes.size(); ++c) {
    const bool digit = c >= '0' && c <= '9';
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80;
    const bool hex = digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    classes[c] = static_cast<unsigned char>((digit ? kDigit : 0) | (letter ? kLetter : 0) |
                                            (hex ? kHexDigit : 0));
  }
  return classes;
}();

[[nodiscard]] constexpr bool is_of(char c, int classes) noexcept {
  return (kCharClasses[static_cast<unsigned char>(c)] & classes) != 0;
}
[[nodiscard]] constexpr bool is_digit(char c) noexcept {
  return is_of(c, kDigit);
}
[[nodiscard]] constexpr bool is_hex_digit(char c) noexcept {
  return is_of(c, kHexDigit);
}
// Letters are those of ASCII and every byte of other scripts.
[[nodiscard]] constexpr bool is_letter(char c) noexcept {
  return is_of(c, kLetter);
}
[[nodiscard]] constexpr bool is_alnum(char c) noexcept {
  return is_of(c, kDigit | kLetter);
}

[[nodiscard]] std::size_t alnum_run(std::string_view text) noexcept;
[[nodiscard]] std::size_t digit_run(std::string_view text) noexcept;

// A shape only counts where the word ends with it.
[[nodiscard]] bool ends_word(std::string_view text, std::size_t length) noexcept;

[[nodiscard]] std::size_t uuid(std::string_view text) noexcept;
// Pairs of hexadecimal digits, all joined by ":" or all by "-": a MAC has six.
[[nodiscard]] std::size_t hex_pairs(std::string_view text) noexcept;
[[nodiscard]] std::size_t ipv4(std::string_view text) noexcept;  // with :port and /bits, if there
[[nodiscard]] std::size_t ipv6(
    std::string_view text) noexcept;  // also [address] and [address]:port
[[nodiscard]] std::size_t email(std::string_view text) noexcept;
// "db.internal:5432", "localhost:80"; not "main.go:42".
[[nodiscard]] std::size_t host_and_port(std::string_view text) noexcept;
// Absolute, relative or of Windows, with the :line:column that may follow.
[[nodiscard]] std::size_t path(std::string_view text) noexcept;
// "main.go:42", "Main.java:17".
[[nodiscard]] std::size_t source_line(std::string_view text) noexcept;
// Dates and times of day as ISO 8601, RFC 5322, syslog, asctime, web server logs and Oracle have
// them.
[[nodiscard]] std::size_t timestamp(std::string_view text) noexcept;
[[nodiscard]] std::size_t number(std::string_view text) noexcept;       // "42", "1,234", "1.5e-3"
[[nodiscard]] std::size_t hex_literal(std::string_view text) noexcept;  // "0x1f"
[[nodiscard]] std::size_t duration(std::string_view text) noexcept;  // "1.5s", "1h2m", "30 seconds"
[[nodiscard]] std::size_t size(std::string_view text) noexcept;      // "10MB", "1.5GiB"
// Base64 of at least 24 characters, with its padding.
[[nodiscard]] std::size_t base64(std::string_view text) noexcept;

// Whether a whole run of letters and digits looks like a hexadecimal number, or an id that nobody
// chose. Names with digits in them (sha256, Log4j2Appender, E11000) do not.
[[nodiscard]] bool is_bare_hex(std::string_view run) noexcept;
[[nodiscard]] bool is_opaque(std::string_view run) noexcept;

}  // namespace holdfast::shapes
