#pragma once

#include <string>

#include <holdfast/clock.hpp>
#include <holdfast/result.hpp>

namespace holdfast::stores::sqlite {

struct Migration {
  int from = 0;  // the schema that was found
  int to = 0;    // the schema that it has now
};

// Brings a file that nobody has open to the newest schema, as opening it as a store does. Makes no
// file that is not there.
// - conflict: another process has it open; the message names it.
// - not_found, unavailable: there is no such file; it is a folder, or must not be read.
// - invalid_argument: empty, not Holdfast's, or of a newer Holdfast.
// - exhausted: the disk is full; nothing was changed.
[[nodiscard]] Result<Migration> migrate_file(const std::string& path,
                                             Clock& clock = system_clock());

}  // namespace holdfast::stores::sqlite
