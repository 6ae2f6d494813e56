#include "wire/json_writer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

#include "core/json_text.hpp"
#include "core/time_text.hpp"
#include "core/units.hpp"

namespace holdfast::wire {
namespace {

constexpr WallTime kFirstTime = std::chrono::sys_days(std::chrono::year(1678) / 1 / 1);

template <class Number>
void append_number(std::string& out, Number value) {
  std::array<char, 32> digits{};  // the longest double takes 24
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out.append(digits.data(), end);
}

}  // namespace

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  append_json_string(*out_, name);
  *out_ += ':';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::text(std::string_view value) {
  separate();
  append_json_string(*out_, value);
  return *this;
}

JsonWriter& JsonWriter::number(double value) {
  if (!std::isfinite(value)) return null();
  separate();
  append_number(*out_, value);
  return *this;
}

JsonWriter& JsonWriter::time(WallTime value) {
  separate();
  *out_ += '"';
  append_rfc3339_micros(*out_, std::max(value, kFirstTime));
  *out_ += '"';
  return *this;
}

JsonWriter& JsonWriter::duration(Duration value) {
  return plain(format_duration(std::max(value, Duration::zero())));
}

JsonWriter& JsonWriter::word(std::string_view value) {
  const std::size_t start = out_->size();
  text(value);
  std::replace(out_->begin() + static_cast<std::ptrdiff_t>(start), out_->end(), ' ', '_');
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  *out_ += json;
  return *this;
}

JsonWriter& JsonWriter::plain(std::string_view value) {
  separate();
  *out_ += '"';
  *out_ += value;
  *out_ += '"';
  return *this;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  *out_ += bracket;
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  *out_ += bracket;
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::signed_number(std::int64_t value) {
  separate();
  append_number(*out_, value);
  return *this;
}

JsonWriter& JsonWriter::unsigned_number(std::uint64_t value) {
  separate();
  append_number(*out_, value);
  return *this;
}

}  // namespace holdfast::wire
