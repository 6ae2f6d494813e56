#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include <holdfast/time.hpp>

namespace holdfast::wire {

// Appends JSON to a string, and sets the commas. What is called in a wrong order is written in a
// wrong order: the caller knows its own form. Allocates nothing but the string.
//
//   JsonWriter writer(out);
//   writer.begin_object().key("id").text(id).key("tags").begin_array().text("a").end_array();
//   writer.end_object();
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(&out) {}

  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name);

  // Bytes that are not UTF-8 become visible: see append_json_string.
  JsonWriter& text(std::string_view value);
  template <std::integral Number>
  JsonWriter& number(Number value) {
    if constexpr (std::signed_integral<Number>) return signed_number(value);
    return unsigned_number(static_cast<std::uint64_t>(value));
  }
  // The shortest text that reads back as the same; null for what JSON has no number for.
  JsonWriter& number(double value);
  JsonWriter& boolean(bool value) { return raw(value ? "true" : "false"); }
  JsonWriter& null() { return raw("null"); }
  // RFC 3339 in UTC, cut to the microsecond. Times before 1678, which no reader takes, are written
  // as the first that one does.
  JsonWriter& time(WallTime value);
  // "1.5s"; less than nothing is written as nothing.
  JsonWriter& duration(Duration value);
  // A word of the core as the outside face has it: "out of attempts" is "out_of_attempts".
  JsonWriter& word(std::string_view value);
  // Text that is one JSON value already.
  JsonWriter& raw(std::string_view json);
  // Bytes between quotes that need no escape.
  JsonWriter& plain(std::string_view value);

 private:
  void separate() {
    if (needs_comma_) *out_ += ',';
    needs_comma_ = true;
  }
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& signed_number(std::int64_t value);
  JsonWriter& unsigned_number(std::uint64_t value);

  std::string* out_;
  bool needs_comma_ = false;  // before the next key or value
};

}  // namespace holdfast::wire
