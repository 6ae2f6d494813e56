#include "core/log_format.hpp"

#include <cmath>
#include <iterator>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "core/json_text.hpp"
#include "core/time_text.hpp"
#include "core/units.hpp"
#include "core/utf8.hpp"

namespace holdfast {
namespace {

constexpr std::size_t kLevelColumns = 8;
constexpr std::size_t kEventColumns = 20;

void append_cut_mark(std::string& out, std::size_t left_out_bytes) {
  fmt::format_to(std::back_inserter(out), "…(+{} bytes)", left_out_bytes);
}

void append_bounded_json(std::string& out, std::string_view text, std::size_t limit) {
  const std::string_view kept = utf8_prefix(text, limit);
  append_json_string(out, kept);
  if (kept.size() == text.size()) return;
  out.pop_back();  // the mark stands inside the quotes
  append_cut_mark(out, text.size() - kept.size());
  out += '"';
}

void append_bounded_visible(std::string& out, std::string_view text, std::size_t limit) {
  const std::string_view kept = utf8_prefix(text, limit);
  append_visible(out, kept);
  if (kept.size() < text.size()) append_cut_mark(out, text.size() - kept.size());
}

// A decimal number of seconds without loss; a double would blur nanoseconds after 100 days.
void append_seconds(std::string& out, Duration span) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const auto count = static_cast<std::uint64_t>(span.count());
  const std::uint64_t size = span < Duration::zero() ? 0 - count : count;
  if (span < Duration::zero()) out += '-';
  fmt::format_to(std::back_inserter(out), "{}", size / kSecond);
  if (size % kSecond == 0) return;
  fmt::format_to(std::back_inserter(out), ".{:09}", size % kSecond);
  out.erase(out.find_last_not_of('0') + 1);
}

void append_json_number(std::string& out, double value) {
  if (std::isnan(value)) {
    out += R"("nan")";
  } else if (std::isinf(value)) {
    out += value > 0 ? R"("inf")" : R"("-inf")";
  } else {
    fmt::format_to(std::back_inserter(out), "{}", value);
  }
}

void append_json_value(std::string& out, const Field& field) {
  if (field.is_secret()) {
    out += R"("***")";
    return;
  }
  std::visit(
      [&out](const auto& value) {
        using T = std::remove_cvref_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::string_view>) {
          append_bounded_json(out, value, kLogTextBytes);
        } else if constexpr (std::is_same_v<T, Duration>) {
          append_seconds(out, value);
        } else if constexpr (std::is_same_v<T, double>) {
          append_json_number(out, value);
        } else {
          fmt::format_to(std::back_inserter(out), "{}", value);
        }
      },
      field.value());
}

// Appends the keys of one JSON object and keeps them apart from each other. What it remembers of a
// key is where its text stands in `out`, so nothing is copied.
class Keys {
 public:
  explicit Keys(std::string& out) : out_(out) {}

  void append(std::string_view name) {
    out_ += at_.empty() ? '{' : ',';
    const std::size_t start = out_.size();
    append_bounded_json(out_, name, kLogNameBytes);
    while (is_taken(std::string_view(out_).substr(start)))
      out_.insert(out_.size() - 1, 1, '_');
    at_.emplace_back(start, out_.size() - start);
    out_ += ':';
  }

 private:
  [[nodiscard]] bool is_taken(std::string_view key) const {
    for (const auto& [start, length] : at_) {
      if (std::string_view(out_).substr(start, length) == key) return true;
    }
    return false;
  }

  std::string& out_;
  std::vector<std::pair<std::size_t, std::size_t>> at_;
};

[[nodiscard]] bool is_clear_without_quotes(std::string_view text) noexcept {
  return !text.empty() && text.find_first_of(" \"=\\") == text.npos && is_visible(text);
}

void append_console_text(std::string& out, std::string_view text, std::size_t limit) {
  if (is_clear_without_quotes(text)) {
    append_bounded_visible(out, text, limit);
  } else {
    append_bounded_json(out, text, limit);
  }
}

void append_console_value(std::string& out, const Field& field) {
  if (field.is_secret()) {
    out += "***";
    return;
  }
  std::visit(
      [&out](const auto& value) {
        using T = std::remove_cvref_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::string_view>) {
          append_console_text(out, value, kLogTextBytes);
        } else if constexpr (std::is_same_v<T, Duration>) {
          out += format_duration(value);
        } else {
          fmt::format_to(std::back_inserter(out), "{}", value);
        }
      },
      field.value());
}

[[nodiscard]] std::string_view colour_of(Level level) noexcept {
  switch (level) {
    case Level::debug: return "\x1b[2m";
    case Level::info: return "\x1b[32m";
    case Level::warning: return "\x1b[33m";
    case Level::error: return "\x1b[31m";
    case Level::critical: return "\x1b[1;31m";
  }
  return "";
}

// The parts of a console line; without colour the marks are simply left out.
class ConsoleLine {
 public:
  ConsoleLine(std::string& out, bool colour) : out_(out), colour_(colour) {}

  template <class Append>
  void styled(std::string_view style, Append append) {
    if (colour_) out_ += style;
    append();
    if (colour_) out_ += "\x1b[0m";
  }

  template <class Append>
  void column(std::size_t width, std::string_view style, Append append) {
    std::size_t start = 0;
    std::size_t end = 0;
    styled(style, [&] {
      start = out_.size();
      append();
      end = out_.size();
    });
    const std::size_t used = end - start;
    out_.append(used < width ? width - used + 1 : 1, ' ');
  }

 private:
  std::string& out_;
  bool colour_;
};

}  // namespace

void append_json_line(std::string& out, const LogRecord& record) {
  std::string line;  // the keys' places are offsets into this line alone
  line.reserve(256);
  Keys keys(line);
  keys.append("time");
  line += '"';
  append_rfc3339(line, record.time);
  line += '"';
  keys.append("level");
  append_json_string(line, to_string(record.level));
  keys.append("event");
  append_bounded_json(line, record.event, kLogTextBytes);
  keys.append("message");
  append_bounded_json(line, record.message, kLogTextBytes);
  for (const Field& field : record.fields) {
    keys.append(field.name());
    append_json_value(line, field);
  }
  out += line;
  out += "}\n";
}

void append_console_line(std::string& out, const LogRecord& record, bool colour) {
  constexpr std::string_view kDim = "\x1b[2m";
  constexpr std::string_view kCyan = "\x1b[36m";
  ConsoleLine line(out, colour);
  line.column(0, kDim, [&] { append_time_of_day(out, record.time); });
  line.column(kLevelColumns, colour_of(record.level), [&] { out += to_string(record.level); });
  line.column(kEventColumns, kCyan,
              [&] { append_bounded_visible(out, record.event, kLogTextBytes); });
  append_bounded_visible(out, record.message, kLogTextBytes);
  for (const Field& field : record.fields) {
    out += &field == record.fields.data() ? "  " : " ";
    line.styled(kDim, [&] {
      append_console_text(out, field.name(), kLogNameBytes);
      out += '=';
    });
    append_console_value(out, field);
  }
  out.erase(out.find_last_not_of(' ') + 1);
  out += '\n';
}

}  // namespace holdfast
