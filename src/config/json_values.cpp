#include "config/json_values.hpp"

#include <cmath>

#include "config/problem.hpp"
#include "core/json_text.hpp"
#include "wire/json_cursor.hpp"
#include "wire/json_writer.hpp"

namespace holdfast::config {
namespace {

bool write(const Spot& spot, const Value& value, wire::JsonWriter& writer) {
  if (const auto* yes = value.as<bool>()) {
    writer.boolean(*yes);
  } else if (const auto* whole = value.as<std::int64_t>()) {
    writer.number(*whole);
  } else if (const auto* number = value.as<double>(); number && std::isfinite(*number)) {
    writer.number(*number);
  } else if (const auto* text = value.as<std::string>()) {
    writer.text(*text);
  } else if (const auto* list = value.as<Value::List>()) {
    writer.begin_array();
    for (const Value& item : *list) {
      if (!write(spot, item, writer)) return false;
    }
    writer.end_array();
  } else if (const auto* table = value.as<Value::Table>()) {
    writer.begin_object();
    for (const Member& member : *table) {
      writer.key(member.key);
      if (!write(spot, member.value, writer)) return false;
    }
    writer.end_object();
  } else {
    spot.at(value.place).wrong("JSON has no such value", "write it as a text, in quotes");
    return false;
  }
  return true;
}

std::string toml_at(wire::JsonCursor& cursor) {
  std::string text;
  switch (cursor.kind()) {
    case wire::JsonKind::object: {
      cursor.enter();
      while (const auto key = cursor.next_key()) {
        text += (text.empty() ? " " : ", ") + join_key("", wire::unescaped(*key)) + " = ";
        text += toml_at(cursor);
      }
      return text.empty() ? "{}" : "{" + text + " }";
    }
    case wire::JsonKind::array: {
      cursor.enter();
      while (cursor.next_element())
        text += (text.empty() ? "" : ", ") + toml_at(cursor);
      return "[" + text + "]";
    }
    default: return std::string(cursor.take().text);  // TOML writes them as JSON does
  }
}

}  // namespace

std::optional<std::string> json_of(const Spot& spot, const Value& value) {
  std::string json;
  wire::JsonWriter writer(json);
  if (!write(spot, value, writer)) return std::nullopt;
  return json;
}

std::string toml_of(std::string_view json) {
  wire::JsonCursor cursor(json);
  return toml_at(cursor);
}

}  // namespace holdfast::config
