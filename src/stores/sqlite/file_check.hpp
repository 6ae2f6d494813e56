#pragma once

#include <string>

#include <holdfast/result.hpp>

namespace holdfast::stores::sqlite {

// Whether there is a file that may be read and holds anything at all. Said before SQLite is asked,
// which would say it less well, or make the file.
[[nodiscard]] Result<void> check_file(const std::string& path);

}  // namespace holdfast::stores::sqlite
