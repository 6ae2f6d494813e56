#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <holdfast/clock.hpp>
#include <holdfast/result.hpp>

#include "ports/records.hpp"

namespace holdfast::stores::sqlite {

struct InspectOptions {
  std::string path = {};
  bool repair = false;
  // Told what is looked at next: see AuditOptions.
  std::function<void(std::string_view step)> on_step = {};
};

struct Inspection {
  int schema = 0;             // of the file, as it was found
  bool migrated = false;      // to the newest schema; only by a repair that had something to mend
  std::string backup = {};    // the copy that was made before the repair; empty: none was needed
  ports::AuditReport report;  // findings as they were found; numbers as they are now
  std::uint64_t left = 0;     // findings that are there still, or could not be mended
};

// Audits a file that nobody has open (N5). Without `repair` nothing is changed: not the file, nor
// its log, and none is made beside them. A file with a log that must not be written to is read in a
// copy, in the folder for temporary files. With `repair`, a file that has findings is copied first,
// to `<path>.before-repair` (or `….before-repair.2` and so on: no earlier copy is replaced), mended
// in one transaction, and audited again. Blocks, for seconds on a large file.
// - conflict: another process has it open; the message names it where it can.
// - not_found, unavailable: there is no such file; it is a folder, or must not be read.
// - invalid_argument: empty, not Holdfast's, or of a newer Holdfast.
// - corrupt: no SQLite database. One that is damaged is no error, but has a report that says so.
// - exhausted: no room for a copy; nothing was changed.
[[nodiscard]] Result<Inspection> inspect(const InspectOptions& options,
                                         Clock& clock = system_clock());

}  // namespace holdfast::stores::sqlite
