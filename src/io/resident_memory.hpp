#pragma once

namespace holdfast::io {

// What this process holds in memory now, in megabytes (10^6 bytes); 0 if the system does not say.
[[nodiscard]] double resident_mb();

// The most that it has ever held.
[[nodiscard]] double most_resident_mb();

// What of it are pages of files: the program, and its libraries. A process that is forked off does
// not have those that its parent has touched, until it touches them itself. So what it holds and
// this, of its parent, is what it would hold as a program of its own: a little more, rather.
[[nodiscard]] double resident_file_mb();

}  // namespace holdfast::io
