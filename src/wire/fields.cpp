#include "wire/fields.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/json_text.hpp"
#include "core/nearest_name.hpp"
#include "core/time_text.hpp"
#include "core/units.hpp"
#include "wire/base64.hpp"
#include "wire/json_syntax.hpp"

namespace holdfast::wire {
namespace {

[[nodiscard]] std::string_view between_quotes(const JsonValue& string) noexcept {
  return string.text.substr(1, string.text.size() - 2);
}

// For messages.
[[nodiscard]] std::string describe(const JsonValue& value) {
  switch (value.kind) {
    case JsonKind::string: return "the text " + quoted(unescaped(between_quotes(value)));
    case JsonKind::array: return "an array";
    case JsonKind::object: return "an object";
    default: return std::string(value.text.substr(0, 40));
  }
}

template <class Number>
[[nodiscard]] Read read_integer(const JsonValue& value, Number& out) {
  if (value.kind != JsonKind::number) return wrong_kind("a whole number", value);
  const char* const end = value.text.data() + value.text.size();
  const auto [stop, error] = std::from_chars(value.text.data(), end, out);
  if (error == std::errc() && stop == end) return {};
  if (value.text.find_first_of(".eE") != value.text.npos)
    return wrong_kind("a whole number", value);
  return wrong_kind(fmt::format("a whole number from {} to {}", std::numeric_limits<Number>::min(),
                                std::numeric_limits<Number>::max()),
                    value);
}

[[nodiscard]] Read read_seconds(const JsonValue& value, Duration& out) {
  double seconds = 0;
  const char* const end = value.text.data() + value.text.size();
  const auto [stop, error] = std::from_chars(value.text.data(), end, seconds);
  if (error != std::errc() || stop != end) return wrong_kind("a number of seconds", value);
  if (std::signbit(seconds) && seconds != 0)
    return fault(fmt::format("{} is negative", value.text));
  constexpr double kMost = 9'223'372'035;  // seconds that Duration can hold
  if (seconds > kMost)
    return fault(fmt::format("{} seconds are more than 292 years", describe(value)));
  const double whole = std::floor(seconds);
  out = std::chrono::seconds(static_cast<std::int64_t>(whole)) +
        Duration(std::llround((seconds - whole) * 1e9));
  return {};
}

// The words of an enumeration, by their place.
template <class Enum, std::size_t kCount>
[[nodiscard]] Read read_word(const JsonValue& value, const std::array<Enum, kCount>& all,
                             std::string_view name, Enum& out) {
  if (value.kind != JsonKind::string) return wrong_kind(name, value);
  const std::string given = unescaped(between_quotes(value));
  std::array<std::string, kCount> words;
  std::array<std::string_view, kCount> known;
  for (std::size_t i = 0; i < kCount; ++i) {
    words[i] = to_string(all[i]);
    std::ranges::replace(words[i], ' ', '_');
    known[i] = words[i];
    if (words[i] != given) continue;
    out = all[i];
    return {};
  }
  return fault(fmt::format("{} is not {}{}", quoted(given), name, did_you_mean(given, known)));
}

}  // namespace

std::unexpected<Fault> fault(std::string what) {
  return std::unexpected(Fault{.where = {}, .what = std::move(what)});
}

std::unexpected<Fault> wrong_kind(std::string_view expected, const JsonValue& found) {
  return fault(fmt::format("{} is expected, not {}", expected, describe(found)));
}

Read read(const JsonValue& value, bool& out) {
  if (value.kind != JsonKind::boolean) return wrong_kind("true or false", value);
  out = value.text == "true";
  return {};
}

Read read(const JsonValue& value, int& out) {
  return read_integer(value, out);
}

Read read(const JsonValue& value, std::uint64_t& out) {
  return read_integer(value, out);
}

Read read(const JsonValue& value, double& out) {
  if (value.kind != JsonKind::number) return wrong_kind("a number", value);
  const char* const end = value.text.data() + value.text.size();
  const auto [stop, error] = std::from_chars(value.text.data(), end, out);
  if (error == std::errc() && stop == end) return {};
  return wrong_kind("a number", value);
}

Read read(const JsonValue& value, std::string& out) {
  if (value.kind != JsonKind::string) return wrong_kind("a text", value);
  const std::string_view literal = between_quotes(value);
  if (literal.find('\\') == literal.npos) {
    out = literal;
  } else {
    out = unescaped(literal);
  }
  return {};
}

Read read(const JsonValue& value, Duration& out) {
  if (value.kind == JsonKind::number) return read_seconds(value, out);
  if (value.kind != JsonKind::string) {
    return wrong_kind("a span of time (\"30s\", or seconds as a number)", value);
  }
  auto parsed = parse_duration(unescaped(between_quotes(value)));
  if (!parsed) return fault(std::move(parsed.error().message));
  out = *parsed;
  return {};
}

Read read(const JsonValue& value, WallTime& out) {
  if (value.kind != JsonKind::string) return wrong_kind("a time (\"2026-03-01T12:34:56Z\")", value);
  auto parsed = parse_rfc3339(unescaped(between_quotes(value)));
  if (!parsed) return fault(std::move(parsed.error().message));
  out = std::chrono::floor<std::chrono::microseconds>(*parsed);
  return {};
}

Read read(const JsonValue& value, TaskId& out) {
  if (value.kind != JsonKind::string) return wrong_kind("an id", value);
  auto parsed = TaskId::parse(unescaped(between_quotes(value)));
  if (!parsed) return fault(std::move(parsed.error().message));
  out = *parsed;
  return {};
}

Read read(const JsonValue& value, core::Token& out) {
  return read(value, out.value);
}

Read read(const JsonValue& value, TaskState& out) {
  using enum TaskState;
  constexpr std::array kAll{pending, running, retrying, succeeded, failed, dead, canceled};
  return read_word(value, kAll, "a state", out);
}

Read read(const JsonValue& value, DeadReason& out) {
  using enum DeadReason;
  constexpr std::array kAll{out_of_attempts,    crashes, ambiguous, deadline,
                            throttled_too_long, replays};
  return read_word(value, kAll, "a reason of death", out);
}

Read read(const JsonValue& value, FailureKind& out) {
  using enum FailureKind;
  return read_word(value, std::array{error, timeout, crash}, "a kind of failure", out);
}

Read read_reason(const JsonValue& value, std::string& out) {
  constexpr std::size_t kMost = 500;
  if (Read done = read(value, out); !done) return done;
  if (out.size() <= kMost) return {};
  return fault(fmt::format("{} bytes, of at most {}", out.size(), kMost));
}

Read read_json_bytes(const JsonValue& value, std::string& out) {
  out = value.text;
  return {};
}

Read read_base64_bytes(const JsonValue& value, std::string& out) {
  std::string text;
  if (Read done = read(value, text); !done) return done;
  auto parsed = parse_base64(text);
  if (!parsed) return fault(std::move(parsed.error().message));
  out = std::move(*parsed);
  return {};
}

void MemberWalk::note(const FieldTraits& field, Fault fault) {
  fault.where.insert(0, fmt::format(".{}", field.name));
  keep(std::move(fault));
}

Read MemberWalk::outcome() && {
  if (first_) return std::unexpected(std::move(*first_));
  return {};
}

bool MemberWalk::note_seen(const FieldTraits& field, std::size_t at, const JsonValue& value) {
  const std::uint64_t bit = std::uint64_t{1} << at;
  if (seen_ & bit) {
    note(field, {.where = {}, .what = "is given twice", .is_of_document = true});
    return false;
  }
  seen_ |= bit;
  if (value.kind == JsonKind::null && !field.takes_null) return false;
  given_ |= bit;
  if (field.set == 0) return true;
  const std::uint64_t set = std::uint64_t{1} << field.set;
  if (sets_ & set) {
    note(field, {.where = {}, .what = "is given in another form too; give one of them"});
    return false;
  }
  sets_ |= set;
  return true;
}

void MemberWalk::note_unknown(std::string_view name, const std::vector<std::string_view>& known) {
  keep({.where = {},
        .what = fmt::format("unknown field {}{}", quoted(name), did_you_mean(name, known))});
}

void MemberWalk::note_missing(const FieldTraits& field) {
  note(field, {.where = {}, .what = "is missing"});
}

void MemberWalk::keep(Fault fault) {
  if (!first_ || (fault.is_of_document && !first_->is_of_document)) first_ = std::move(fault);
}

Error to_error(const Reading& reading, const Fault& fault) {
  std::string_view where = fault.where;
  if (where.starts_with('.')) where.remove_prefix(1);
  return {.code = reading.code,
          .operation = std::string(reading.operation),
          .message = where.empty() ? fault.what : fmt::format("{}: {}", where, fault.what)};
}

Result<void> check_syntax(std::string_view json, const Reading& reading) {
  const auto fault = syntax_fault(json, reading.most_depth);
  if (!fault) return {};
  return fail(reading.code, std::string(reading.operation),
              fmt::format("{}: {}", place_of(json, fault->offset), fault->what));
}

}  // namespace holdfast::wire
