#pragma once

#include <functional>
#include <string>

#include <holdfast/result.hpp>

#include "stores/sqlite/database.hpp"

namespace holdfast::stores::sqlite {

// The version that this program writes.
[[nodiscard]] int newest_version() noexcept;

// The version of a file; 0 for an empty one. One of a newer version is refused, and so is a file
// that is not Holdfast's. Changes nothing; throws SqlError.
[[nodiscard]] Result<int> version_of(Database& database, const std::string& path);

// Brings the file to the newest version, step by step, in one transaction: whatever comes between,
// it is of the version it was, or of the newest. Rewrites no row, so it costs the same at any size
// (docs/decisions/0011). One of a newer version is refused, and so is a file that is not
// Holdfast's. Throws SqlError, with nothing changed once the database is closed.
// Returns the version it found; 0 for a new file.
[[nodiscard]] Result<int> migrate(Database& database, const std::string& path, WallTime now);

}  // namespace holdfast::stores::sqlite
