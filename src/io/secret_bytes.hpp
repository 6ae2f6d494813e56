#pragma once

#include <array>
#include <cstdint>

namespace holdfast::io {

using SecretBytes = std::array<std::uint8_t, 32>;

// What nobody can guess, from the system's own source: for secrets, which Random is not for. Throws
// std::system_error where the system has none to give.
[[nodiscard]] SecretBytes secret_bytes();

}  // namespace holdfast::io
