#pragma once

#include <cstdint>
#include <vector>

namespace holdfast::io {

// What this process holds in memory now, in megabytes of 10^6 bytes.
[[nodiscard]] double resident_mb();

// The most that it has held.
[[nodiscard]] double most_resident_mb();

// The pages of files that a process has in memory, those of its program and libraries above all. A
// forked process does not have those that its parent has touched, until it touches them itself, so
// that what it holds says too little of what it would hold as a program of its own: together with
// its parent's it does.
class FilePages {
 public:
  // None where the system does not tell.
  [[nodiscard]] static FilePages of_this_process();

  // What a forked process would hold as a program of its own, where it holds `mb` now and these are
  // its parent's. Called in the forked one.
  [[nodiscard]] double with_ours(double mb) const;

 private:
  std::vector<std::uintptr_t> pages_;  // ascending
};

}  // namespace holdfast::io
