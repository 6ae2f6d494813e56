#pragma once

#include <string>

#include <holdfast/clock.hpp>
#include <holdfast/log.hpp>
#include <holdfast/result.hpp>

#include "ports/store.hpp"

namespace holdfast::stores::sqlite {

struct Options {
  std::string path = {};
  std::string address = {};  // where this process can be reached; told to who finds the file in use
  Logger log = {};
  // The write-ahead log is moved into the file when it has so many pages.
  int checkpoint_pages = 4000;
  // For tests that show what would be caught: "full" is the only one that keeps what was promised.
  std::string synchronous = "full";
  // Which of SQLite's virtual file systems; empty: the usual one. For tests with a disk that fails.
  std::string vfs = {};
};

// Opens or makes an embedded store: one file, readable and writable by its owner alone, with
// SQLite's write-ahead log beside it, and a lock file that names the process that has it open.
// - conflict: another process has it open; the message names it.
// - invalid_argument: not a file of Holdfast's, or one of a newer Holdfast.
// - exhausted, unavailable: the disk is full; the folder cannot be written.
// An older file is brought to the newest schema: see schema.hpp.
// `new_file`, if given, says whether the file was made just now.
[[nodiscard]] Result<ports::OpenStore> open(const Options& options, Clock& clock = system_clock(),
                                            bool* new_file = nullptr);

}  // namespace holdfast::stores::sqlite
