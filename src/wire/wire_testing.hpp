#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rapidcheck.h>

#include <holdfast/task.hpp>

#include "wire/json_writer.hpp"

// Values of every kind for the property tests of this room.
namespace holdfast::wire::testing {

template <class... Values>
[[nodiscard]] std::string written(const Values&... values) {
  std::string out;
  JsonWriter writer(out);
  write(writer, values...);
  return out;
}

inline rc::Gen<std::string> any_bytes() {
  return rc::gen::container<std::string>(rc::gen::arbitrary<char>());
}

inline rc::Gen<std::string> any_text() {
  const auto piece = rc::gen::oneOf(
      rc::gen::element<std::string>("", "\"", "\\", "\n", "\x1b", "\x7f", "/", "{", "]", "é", "世",
                                    "🐙", "\u2028", "\ufeff", "\u202e", std::string(1, '\0')),
      rc::gen::container<std::string>(rc::gen::inRange<char>(' ', '~')));
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece),
                      [](const std::vector<std::string>& pieces) {
                        std::string all;
                        for (const std::string& each : pieces)
                          all += each;
                        return all;
                      });
}

// The text of a JSON value as somebody may have typed it, spaces and odd numbers included.
inline std::string any_json(int depth = 0) {
  const auto space = [] { return *rc::gen::element<std::string>("", "", "", " ", "\n", "\t\r "); };
  const int kind = *rc::gen::inRange(0, depth < 4 ? 5 : 3);
  const int members = *rc::gen::inRange(0, 4);
  std::string out;
  switch (kind) {
    case 0: return *rc::gen::element<std::string>("null", "true", "false", "{}", "[]", "[ ]");
    case 1:
      return *rc::gen::element<std::string>(
          "0", "-0", "0.10", "1e400", "-1E-400", "1.0E+2", "12345678901234567890",
          "123456789012345678901234567890", "0.1000000000000000055511151231257827");
    case 2:
      if (*rc::gen::arbitrary<bool>()) return R"("\u0041\/\b\ud83d\udc19\\\"")";
      JsonWriter(out).text(*any_text());
      return out;
    case 3:
      for (int i = 0; i < members; ++i)
        out += (i ? "," : "") + space() + any_json(depth + 1) + space();
      return "[" + out + "]";
    default:
      for (int i = 0; i < members; ++i) {
        out += (i ? "," : "") + space();
        JsonWriter(out).text(*any_text());
        out += space() + ":" + space() + any_json(depth + 1) + space();
      }
      return "{" + out + "}";
  }
}

inline rc::Gen<std::string> any_payload() {
  return rc::gen::oneOf(any_bytes(), any_text(), rc::gen::exec([] { return any_json(); }));
}

// As fine as the wire is, and as far as it reaches.
inline rc::Gen<WallTime> any_time() {
  using std::chrono::microseconds;
  const auto first = std::chrono::sys_days(std::chrono::year(1678) / 1 / 1);
  const auto last = std::chrono::floor<microseconds>(Duration::max());
  return rc::gen::map(
      rc::gen::inRange(microseconds(first.time_since_epoch()).count(), last.count()),
      [](microseconds::rep count) { return WallTime(microseconds(count)); });
}

inline rc::Gen<Duration> any_span() {
  return rc::gen::map(rc::gen::inRange<Duration::rep>(0, Duration::max().count()),
                      [](Duration::rep count) { return Duration(count); });
}

template <class Value>
[[nodiscard]] std::optional<Value> maybe(const rc::Gen<Value>& gen) {
  if (*rc::gen::arbitrary<bool>()) return std::nullopt;
  return *gen;
}

inline TaskId any_id() {
  Uuid::Bytes bytes{};
  for (std::uint8_t& byte : bytes)
    byte = *rc::gen::arbitrary<std::uint8_t>();
  return TaskId(Uuid(bytes));
}

inline Failure any_failure() {
  return {.message = *any_text(),
          .kind = *rc::gen::element(FailureKind::error, FailureKind::timeout, FailureKind::crash),
          .http_status = maybe(rc::gen::arbitrary<int>()),
          .exit_code = maybe(rc::gen::arbitrary<int>()),
          .os_error = maybe(rc::gen::arbitrary<int>()),
          .retry_after = maybe(any_span())};
}

inline constexpr std::string_view kTrace =
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

}  // namespace holdfast::wire::testing
