#pragma once

#include <optional>
#include <string_view>

namespace holdfast {

// The number (errno) of an OS error by its name, "ECONNRESET", or by the number itself, "104".
[[nodiscard]] std::optional<int> os_error_number(std::string_view name) noexcept;

}  // namespace holdfast
