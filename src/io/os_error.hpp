#pragma once

#include <expected>
#include <string>

#include <holdfast/result.hpp>

namespace holdfast::io {

// What the system refused, as an error of ours: `open: /x/y: Permission denied`. No room, memory or
// descriptors: exhausted; no such thing: not_found; all else: unavailable.
[[nodiscard]] std::unexpected<Error> fail_os(std::string operation, const std::string& what,
                                             int os_error);

}  // namespace holdfast::io
