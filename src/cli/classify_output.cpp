#include "cli/classify_output.hpp"

#include <chrono>

#include <fmt/format.h>

#include "cli/text_columns.hpp"
#include "core/json_text.hpp"
#include "core/units.hpp"
#include "core/utf8.hpp"

namespace holdfast::cli {
namespace {

constexpr std::size_t kVerdictIndent = 11;  // the longest verdict and two spaces
constexpr std::size_t kJsonTextBytes = 4096;

std::string_view colour_of(VerdictKind verdict) {
  switch (verdict) {
    case VerdictKind::retry: return "\x1b[36m";      // cyan
    case VerdictKind::throttle: return "\x1b[33m";   // yellow
    case VerdictKind::give_up: return "\x1b[31m";    // red
    case VerdictKind::ambiguous: return "\x1b[35m";  // magenta
    case VerdictKind::success: return "\x1b[32m";    // green
  }
  return "";
}

// "http.unavailable (HTTP status 503): The server is down for now."
std::string grounds(const Explanation& explanation) {
  std::string text = explanation.rule.empty() ? "no rule" : explanation.rule;
  if (explanation.basis != Basis::pattern && explanation.basis != Basis::fallback) {
    text += fmt::format(" ({} {})", to_string(explanation.basis), explanation.matched);
  }
  if (!explanation.reason.empty()) text += ": " + explanation.reason;
  if (explanation.verdict.wait) {
    text += fmt::format(" Wait {}.", format_duration(*explanation.verdict.wait));
  }
  return text;
}

void append_member(std::string& out, std::string_view name, std::string_view text) {
  fmt::format_to(std::back_inserter(out), ",\"{}\":", name);
  append_json_string(out, text);
}

}  // namespace

void append_for_people(std::string& out, std::string_view text, const Explanation& explanation,
                       bool colour) {
  const std::string_view verdict = to_string(explanation.verdict.kind);
  if (colour) out += colour_of(explanation.verdict.kind);
  out += verdict;
  if (colour) out += "\x1b[0m";
  const std::string shown = visible(utf8_prefix(text, kColumns * 4));
  if (!shown.empty()) {
    out.append(kVerdictIndent - verdict.size(), ' ');
    out += cut(shown, kColumns - kVerdictIndent);
  }
  out += '\n';
  std::string below;
  append_visible(below, grounds(explanation));
  append_wrapped(out, below, kVerdictIndent);
}

void append_json(std::string& out, std::string_view text, const Explanation& explanation) {
  out += "{\"text\":";
  append_json_string(out, utf8_prefix(text, kJsonTextBytes));
  fmt::format_to(std::back_inserter(out), ",\"text_bytes\":{}", text.size());
  append_member(out, "verdict", to_string(explanation.verdict.kind));
  append_member(out, "category", explanation.category);
  if (explanation.verdict.wait) {
    const std::chrono::duration<double> wait = *explanation.verdict.wait;
    fmt::format_to(std::back_inserter(out), ",\"wait\":{}", wait.count());
  }
  append_member(out, "basis", to_string(explanation.basis));
  if (explanation.rule.empty()) {
    out += ",\"rule\":null";
  } else {
    append_member(out, "rule", explanation.rule);
  }
  append_member(out, "reason", explanation.reason);
  append_member(out, "matched", explanation.matched);
  if (explanation.offset) {
    fmt::format_to(std::back_inserter(out), ",\"offset\":{}", *explanation.offset);
  }
  out += "}\n";
}

}  // namespace holdfast::cli
