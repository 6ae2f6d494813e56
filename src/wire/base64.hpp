#pragma once

#include <string>
#include <string_view>

#include <holdfast/result.hpp>

namespace holdfast::wire {

// RFC 4648, 4: the standard alphabet, with padding.
void append_base64(std::string& out, std::string_view bytes);

// Only what append_base64 writes is read, so that each text stands for other bytes. The error is
// invalid_argument and names the offset.
[[nodiscard]] Result<std::string> parse_base64(std::string_view text);

}  // namespace holdfast::wire
