#pragma once

#include <string>

#include <holdfast/result.hpp>

#include "stores/sqlite/database.hpp"

namespace holdfast::stores::sqlite {

// Copies the file as of now, whole, with what its log holds, to `to`, for its owner's eyes only.
// What was there under that name is replaced. Fails with exhausted, and leaves no half copy.
[[nodiscard]] Result<void> back_up(Database& database, const std::string& path,
                                   const std::string& to);

}  // namespace holdfast::stores::sqlite
