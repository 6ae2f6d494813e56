#include "stores/sqlite/integrity.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <sqlite3.h>

namespace holdfast::stores::sqlite {
namespace {

// The index that a line of integrity_check is about; empty: it is about something worse.
std::string index_of(std::string_view line) {
  constexpr std::array<std::string_view, 3> kBefore{
      " missing from index ", "wrong # of entries in index ", "non-unique entry in index "};
  for (const std::string_view before : kBefore) {
    const std::size_t at = line.find(before);
    if (at != std::string_view::npos) return std::string(line.substr(at + before.size()));
  }
  return {};
}

}  // namespace

Integrity check_integrity(Database& database) {
  Integrity integrity;
  const auto take = [&](Row row) {
    const std::string line = row.string(0);
    if (line == "ok") return;
    integrity.damage.push_back("SQLite: " + line);
    std::string index = index_of(line);
    if (index.empty()) {
      integrity.readable = false;
    } else if (std::ranges::find(integrity.indexes, index) == integrity.indexes.end()) {
      integrity.indexes.push_back(std::move(index));
    }
  };
  try {
    Statement(database, "pragma integrity_check(1000)").each(take);
  } catch (const SqlError& error) {
    // The check itself gives up where the damage is too great.
    if ((error.code() & 0xff) != SQLITE_CORRUPT) throw;
    integrity.damage.push_back("SQLite: " + std::string(error.what()));
    integrity.readable = false;
  }
  return integrity;
}

bool rebuild(Database& database, const std::vector<std::string>& indexes) {
  for (const std::string& index : indexes) {
    std::string name;
    for (const char c : index)
      name += c == '"' ? "\"\"" : std::string(1, c);
    try {
      database.execute("reindex \"" + name + '"');
    } catch (const SqlError& error) {
      if ((error.code() & 0xff) == SQLITE_CONSTRAINT) return false;
      throw;
    }
  }
  return check_integrity(database).damage.empty();
}

}  // namespace holdfast::stores::sqlite
