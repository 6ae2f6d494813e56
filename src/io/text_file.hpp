#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <holdfast/result.hpp>

namespace holdfast::io {

// A whole file of at most `most_bytes`, as people write them. Errors name the path.
[[nodiscard]] Result<std::string> read_text_file(const std::string& path,
                                                 std::string_view operation,
                                                 std::size_t most_bytes);

}  // namespace holdfast::io
