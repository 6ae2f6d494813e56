#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "config/document.hpp"
#include "config/keys.hpp"
#include "config/plain_values.hpp"
#include "config/reading.hpp"
#include "core/json_text.hpp"

namespace holdfast::config {

// "it belongs into [table]" of a key that stands elsewhere; empty: no table has it.
[[nodiscard]] std::string home_of(std::string_view key);

template <class S>
void unknown_key(Reading& reading, const Section<S>& section, const std::string& path,
                 std::string_view prefix, const Member& member) {
  std::vector<std::string_view> known;
  for (const Row<S>& row : section.rows) {
    if (!row.info.name.starts_with(prefix)) continue;
    std::string_view name = row.info.name.substr(prefix.size());
    name = name.substr(0, name.find('.'));
    if (known.empty() || known.back() != name) known.push_back(name);
  }
  std::string suggestion = suggest(member.key, known);
  if (!suggestion.starts_with("did you mean")) {
    if (const std::string home = home_of(member.key); !home.empty()) suggestion = home;
  }
  reading.wrong(member.place, path, fmt::format("unknown key {}", holdfast::quoted(member.key)),
                std::move(suggestion));
}

template <class S>
void read_keys(Reading& reading, const Section<S>& section, const std::string& path,
               std::string_view prefix, const Value::Table& table, S& into) {
  for (const Member& member : table) {
    const std::string name = std::string(prefix) + member.key;
    const std::string key = join_key(path, member.key);
    const auto row =
        std::ranges::find(section.rows, name, [](const auto& r) { return r.info.name; });
    const bool is_one =
        member.key.find('.') == std::string::npos;  // dots are in names of ours only
    if (is_one && row != section.rows.end()) {
      reading.places[key] = member.value.place;
      row->read({reading, key, member.value.place}, member.value, into);
      continue;
    }
    const bool has_inner = is_one && std::ranges::any_of(section.rows, [&](const Row<S>& other) {
                             return other.info.name.starts_with(name + ".");
                           });
    const auto* inner = member.value.as<Value::Table>();
    if (!has_inner) {
      unknown_key(reading, section, path, prefix, member);
    } else if (inner == nullptr) {
      reading.wrong(member.value.place, key, "this must be a table",
                    fmt::format("write {} = {{ key = value }}", member.key));
    } else {
      reading.places[key] = member.value.place;
      read_keys(reading, section, key, name + ".", *inner, into);
    }
  }
}

// All that is in a table, into an S: each key by its row, and what no row knows is said.
template <class S>
void read_table(Reading& reading, const Section<S>& section, const std::string& path,
                const Value& value, S& into) {
  reading.places[path] = value.place;
  read_keys(reading, section, path, "", *value.as<Value::Table>(), into);
  for (const Row<S>& row : section.rows) {
    if (!row.info.required || reading.has(join_key(path, row.info.name))) continue;
    reading.wrong(value.place, path, fmt::format("{} is missing", row.info.name));
  }
}

}  // namespace holdfast::config
