#include "core/fingerprint.hpp"

#include <fmt/format.h>

#include "core/normalizer.hpp"
#include "core/utf8.hpp"

namespace holdfast {
namespace {

// How many bytes a terminal would take as a command, beginning with the ESC at the start of `text`.
[[nodiscard]] std::size_t escape_sequence(std::string_view text) noexcept {
  if (text.size() < 2) return text.size();
  const bool is_csi = text[1] == '[';
  const bool is_osc = text[1] == ']';
  if (!is_csi && !is_osc) return 2;
  for (std::size_t i = 2; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (is_csi && (byte < 0x20 || byte > 0x3f)) return i + 1;
    if (is_osc && byte == 0x07) return i + 1;
    if (is_osc && byte == 0x1b) return std::min(i + 2, text.size());
  }
  return text.size();
}

struct Quote {
  std::string_view typographic;
  char plain;
};
constexpr Quote kQuotes[] = {{"\u2018", '\''}, {"\u2019", '\''}, {"\u201c", '"'}, {"\u201d", '"'}};

// Without colours, on one line, with plain quotes and single spaces: what the rules are written
// for.
[[nodiscard]] std::string cleaned(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text.front());
    std::size_t taken = 1;
    if (byte == 0x1b) {
      taken = escape_sequence(text);
    } else if (byte <= 0x20 || byte == 0x7f) {
      if (!out.empty() && out.back() != ' ') out += ' ';
    } else {
      const std::size_t before = out.size();
      for (const Quote& quote : kQuotes) {
        if (!text.starts_with(quote.typographic)) continue;
        out += quote.plain;
        taken = quote.typographic.size();
      }
      if (out.size() == before) out += text.front();
    }
    text.remove_prefix(taken);
  }
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

}  // namespace

std::string normalized(std::string_view error) {
  const std::string text = cleaned(utf8_prefix(error, kFingerprintBytes));
  return Normalizer(text, kFingerprintBytes).run();
}

std::string Fingerprint::text() const {
  return fmt::format("{:016x}", value_);
}

Fingerprint fingerprint(std::string_view error) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : normalized(error)) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return Fingerprint(hash);
}

}  // namespace holdfast
