#include "config/change.hpp"

#include <utility>

#include <fmt/format.h>

#include "config/keys.hpp"

namespace holdfast::config {
namespace {

std::string words(const std::string& key, const std::string& before, const std::string& after) {
  if (before == after) return key + ": changed";  // what is shown of a secret stays the same
  return fmt::format("{}: {} -> {}", key, before.empty() ? "nothing" : before,
                     after.empty() ? "nothing" : after);
}

template <class S>
void compare(Change& change, const Section<S>& section, const std::string& path, const S& old,
             S& now) {
  for (const Row<S>& row : section.rows) {
    if (row.same(old, now)) continue;
    // A name of ours has dots only where TOML has tables.
    const std::string key = path + "." + std::string(row.info.name);
    const bool can = row.info.reload == Reload::yes;
    (can ? change.reloaded : change.needs_restart)
        .push_back(words(key, row.show(old), row.show(now)));
    if (!can) row.copy(now, old);
  }
}

template <class S>
void compare(Change& change, const Section<S>& section, const std::string& path,
             const std::map<std::string, S>& old, std::map<std::string, S>& now) {
  for (const auto& [name, values] : old) {
    if (!now.contains(name)) change.reloaded.push_back(join_key(path, name) + ": removed");
  }
  for (auto& [name, values] : now) {
    const auto before = old.find(name);
    if (before == old.end()) {
      change.reloaded.push_back(join_key(path, name) + ": added");
    } else {
      compare(change, section, join_key(path, name), before->second, values);
    }
  }
}

}  // namespace

Change diff(const Config& old, const Config& now) {
  Change change{.config = now};
  each_section([&](const auto& section, auto member) {
    compare(change, section, std::string(section.name), old.*member, change.config.*member);
  });
  return change;
}

}  // namespace holdfast::config
