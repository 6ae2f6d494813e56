#pragma once

#include <cstddef>

namespace holdfast::io {

// Lets this process have as many files open at once as it may, and says how many: thousands of
// webhooks are thousands of sockets, and the usual soft limit is 1,024. Programs that are started
// from here get the limit that was there before, since old ones cannot do with more.
std::size_t raise_file_limit() noexcept;

// For a child between fork and exec. Async-signal-safe.
void restore_file_limit() noexcept;

}  // namespace holdfast::io
