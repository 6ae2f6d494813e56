#include "ports/message.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace holdfast::ports {
namespace {

std::optional<std::int64_t> as_number(const Field& field) noexcept {
  return std::visit(
      []<class T>(const T& value) -> std::optional<std::int64_t> {
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
          if (std::in_range<std::int64_t>(value)) return static_cast<std::int64_t>(value);
        }
        return std::nullopt;
      },
      field.value);
}

std::uint64_t size_of_field(const Field& field) noexcept {
  std::uint64_t size = sizeof(FieldTable::value_type);
  if (const auto* text = std::get_if<std::string>(&field.value)) return size + text->size();
  if (const auto* bytes = std::get_if<Field::Bytes>(&field.value))
    return size + bytes->bytes.size();
  if (const auto* array = std::get_if<FieldArray>(&field.value)) {
    for (const Field& inner : *array)
      size += size_of_field(inner);
  }
  if (const auto* table = std::get_if<FieldTable>(&field.value)) {
    for (const auto& [name, inner] : *table)
      size += size_of_field(inner);
  }
  return size;
}

std::string text_or_empty(const FieldTable& table, std::string_view name) {
  return std::string(text_of(table, name).value_or(""));
}

std::optional<Death> read_death(const Field& field) {
  const auto* table = std::get_if<FieldTable>(&field.value);
  if (!table) return std::nullopt;
  const auto queue = text_of(*table, "queue");
  if (!queue) return std::nullopt;
  Death death{.queue = std::string(*queue),
              .reason = text_or_empty(*table, "reason"),
              .count = std::max<std::int64_t>(0, number_of(*table, "count").value_or(1)),
              .exchange = text_or_empty(*table, "exchange"),
              .routing_keys = {},
              .time = std::nullopt};
  if (const Field* keys = find_field(*table, "routing-keys")) {
    if (const auto* array = std::get_if<FieldArray>(&keys->value)) {
      for (const Field& key : *array) {
        if (const auto* text = std::get_if<std::string>(&key.value)) {
          death.routing_keys.push_back(*text);
        }
      }
    }
  }
  if (const Field* time = find_field(*table, "time")) {
    if (const auto* seconds = std::get_if<Field::Time>(&time->value)) death.time = seconds->seconds;
  }
  if (const auto expiration = text_of(*table, "original-expiration")) {
    death.original_expiration = std::string(*expiration);
  }
  return death;
}

}  // namespace

bool Field::operator==(const Field& other) const {
  return value == other.value;
}

const Field* find_field(const FieldTable& table, std::string_view name) noexcept {
  const auto found = std::ranges::find(table, name, &FieldTable::value_type::first);
  return found == table.end() ? nullptr : &found->second;
}

std::optional<std::string_view> text_of(const FieldTable& table, std::string_view name) noexcept {
  const Field* const field = find_field(table, name);
  if (!field) return std::nullopt;
  if (const auto* text = std::get_if<std::string>(&field->value)) return *text;
  // Some clients send texts as byte arrays.
  if (const auto* bytes = std::get_if<Field::Bytes>(&field->value)) return bytes->bytes;
  return std::nullopt;
}

std::optional<std::int64_t> number_of(const FieldTable& table, std::string_view name) noexcept {
  const Field* const field = find_field(table, name);
  return field ? as_number(*field) : std::nullopt;
}

void set_field(FieldTable& table, std::string_view name, Field field) {
  const auto found = std::ranges::find(table, name, &FieldTable::value_type::first);
  if (found == table.end()) {
    table.emplace_back(std::string(name), std::move(field));
  } else {
    found->second = std::move(field);
  }
}

void remove_field(FieldTable& table, std::string_view name) {
  std::erase_if(table, [&](const auto& entry) { return entry.first == name; });
}

std::uint64_t size_in_memory(const Message& message) noexcept {
  std::uint64_t size = message.body.size();
  for (const auto& [name, field] : message.headers)
    size += size_of_field(field);
  return size;
}

std::vector<Death> deaths_of(const Message& message) {
  std::vector<Death> deaths;
  const Field* const field = find_field(message.headers, "x-death");
  if (!field) return deaths;
  const auto* array = std::get_if<FieldArray>(&field->value);
  if (!array) return deaths;
  for (const Field& entry : *array) {
    if (auto death = read_death(entry)) deaths.push_back(std::move(*death));
  }
  return deaths;
}

}  // namespace holdfast::ports
