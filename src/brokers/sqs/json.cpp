#include "brokers/sqs/json.hpp"

#include <charconv>

#include "core/json_check.hpp"

namespace holdfast::brokers::sqs {

using wire::JsonCursor;
using wire::JsonKind;

bool is_object(std::string_view json) {
  return is_json(json) && JsonCursor(json).kind() == JsonKind::object;
}

std::string Json::text() const {
  switch (value_.kind) {
    case JsonKind::string: return wire::unescaped(value_.text.substr(1, value_.text.size() - 2));
    case JsonKind::number:
    case JsonKind::boolean: return std::string(value_.text);
    case JsonKind::null:
    case JsonKind::array:
    case JsonKind::object: return {};
  }
  return {};
}

std::optional<std::int64_t> Json::number() const {
  const std::string digits = text();
  std::int64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stopped, failed] = std::from_chars(digits.data(), end, value);
  if (failed != std::errc() || stopped != end) return std::nullopt;
  return value;
}

std::vector<std::pair<std::string, Json>> Json::members() const {
  std::vector<std::pair<std::string, Json>> all;
  if (value_.kind != JsonKind::object) return all;
  JsonCursor cursor(value_.text);
  cursor.enter();
  while (const auto key = cursor.next_key()) {
    std::string name = wire::unescaped(*key);
    all.emplace_back(std::move(name), Json(cursor.take()));
  }
  return all;
}

std::optional<Json> Json::find(std::string_view name) const {
  if (value_.kind != JsonKind::object) return std::nullopt;
  JsonCursor cursor(value_.text);
  cursor.enter();
  while (const auto key = cursor.next_key()) {
    const Json value(cursor.take());
    if (*key == name) return value;
  }
  return std::nullopt;
}

std::string Json::text_of(std::string_view name) const {
  const auto found = find(name);
  return found ? found->text() : std::string();
}

std::vector<Json> Json::elements() const {
  std::vector<Json> all;
  if (value_.kind != JsonKind::array) return all;
  JsonCursor cursor(value_.text);
  cursor.enter();
  while (cursor.next_element())
    all.emplace_back(cursor.take());
  return all;
}

}  // namespace holdfast::brokers::sqs
