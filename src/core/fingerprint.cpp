#include "core/fingerprint.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

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

// The plain form of a typographic quote at the start of `text`, or 0.
[[nodiscard]] char plain_quote(std::string_view text) noexcept {
  if (!text.starts_with("\xe2\x80") || text.size() < 3) return '\0';
  const std::string_view quote = text.substr(0, 3);
  if (quote == "\u2018" || quote == "\u2019") return '\'';
  if (quote == "\u201c" || quote == "\u201d") return '"';
  return '\0';
}

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
      const char quote = plain_quote(text);
      out += quote != '\0' ? quote : text.front();
      if (quote != '\0') taken = 3;
    }
    text.remove_prefix(taken);
  }
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

}  // namespace

std::string normalized(std::string_view error) {
  // One run is nearly always enough, and the second one only shows it. But what a run replaced can
  // make a quote close that did not close before. Each run that changes something leaves less that
  // could be replaced, so this ends; the bound is for texts that were made to take long.
  constexpr int kMostRuns = 8;
  std::string text = cleaned(utf8_prefix(error, kFingerprintBytes));
  for (int run = 0; run < kMostRuns; ++run) {
    std::string next = Normalizer(text, kFingerprintBytes).run();
    if (next == text) break;
    text = std::move(next);
  }
  return text;
}

std::string Fingerprint::text() const {
  return fmt::format("{:016x}", value_);
}

std::optional<Fingerprint> Fingerprint::parse(std::string_view text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [read_to, error] = std::from_chars(text.data(), end, value, 16);
  if (error != std::errc() || read_to != end || text.size() != 16) return std::nullopt;
  return Fingerprint(value);
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
