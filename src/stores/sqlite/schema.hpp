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

// Brings the file to the newest version, step by step, in one transaction. A file that has tasks
// in it is copied first, to `<path>.v<version>.backup`. One of a newer version is refused, and so
// is a file that is not Holdfast's.
// Returns the version it found; 0 for a new file.
[[nodiscard]] Result<int> migrate(Database& database, const std::string& path, WallTime now);

}  // namespace holdfast::stores::sqlite
