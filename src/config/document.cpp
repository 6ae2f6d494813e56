#include "config/document.hpp"

#include <algorithm>
#include <utility>

#include "io/toml.hpp"

namespace holdfast::config {
namespace {

Place to_place(const toml::source_region& region) {
  return {region.begin.line, region.begin.column};
}

Value to_value(const toml::node& node);

Value::Table to_table(const toml::table& from) {
  Value::Table table;
  table.reserve(from.size());
  for (const auto& [key, value] : from) {
    table.push_back({std::string(key.str()), to_place(key.source()), to_value(value)});
  }
  std::ranges::sort(table, {}, [](const Member& member) {  // toml++ keeps them by name
    return std::pair(member.place, std::string_view(member.key));
  });
  return table;
}

Value to_value(const toml::node& node) {
  Value value{to_place(node.source()), {}};
  if (const auto* yes = node.as_boolean()) value.data = yes->get();
  if (const auto* whole = node.as_integer()) value.data = whole->get();
  if (const auto* number = node.as_floating_point()) value.data = number->get();
  if (const auto* text = node.as_string()) value.data = text->get();
  if (const auto* table = node.as_table()) value.data = to_table(*table);
  if (const auto* list = node.as_array()) {
    Value::List items;
    items.reserve(list->size());
    for (const toml::node& item : *list)
      items.push_back(to_value(item));
    value.data = std::move(items);
  }
  return value;
}

}  // namespace

std::expected<Value::Table, Problem> parse_document(std::string_view text,
                                                    const std::string& file) {
  const toml::parse_result parsed = toml::parse(text, file);
  if (parsed) return to_table(parsed.table());
  return std::unexpected(Problem{.file = file,
                                 .place = to_place(parsed.error().source()),
                                 .message = std::string(parsed.error().description())});
}

}  // namespace holdfast::config
