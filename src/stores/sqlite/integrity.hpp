#pragma once

#include <string>
#include <vector>

#include "stores/sqlite/database.hpp"

namespace holdfast::stores::sqlite {

// What SQLite says of its own structures.
struct Integrity {
  std::vector<std::string> damage;   // for people; empty: none
  std::vector<std::string> indexes;  // that disagree with their tables
  bool readable = true;              // tables are whole, so that tasks can be looked at
};

// Reads the whole file. Changes nothing.
[[nodiscard]] Integrity check_integrity(Database& database);

// Makes indexes anew from their tables; works inside a transaction. False if they are not whole
// afterwards: two rows have what only one may have.
[[nodiscard]] bool rebuild(Database& database, const std::vector<std::string>& indexes);

}  // namespace holdfast::stores::sqlite
