#pragma once

namespace holdfast::io {

// What this process holds in memory now, in megabytes (10^6 bytes); 0 if the system does not say.
[[nodiscard]] double resident_mb();

// The most that it has ever held.
[[nodiscard]] double most_resident_mb();

}  // namespace holdfast::io
