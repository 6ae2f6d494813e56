#pragma once

#include <functional>
#include <string_view>

#include "ports/records.hpp"
#include "stores/sqlite/database.hpp"

namespace holdfast::stores::sqlite {

struct AuditOptions {
  bool repair = false;
  // Told what is looked at next: "tasks". An audit of a large file takes seconds.
  std::function<void(std::string_view step)> on_step = {};
};

// So many findings are told one by one; all are counted.
inline constexpr std::size_t kToldFindings = 1000;

// Looks at everything in the file (N5): that SQLite finds its own structures whole, that each task
// stands in exactly one place, that nothing belongs to no task, that counters say what is there,
// and that accepted = present + removed. Memory: flat, but for 8 bytes a damaged row. The counters
// must have been written to the file, which may be of any version of the schema.
//
// With `repair`, inside the caller's transaction, mends what can be mended without losing a task.
// One that stands nowhere waits again, with the next token, so that no old claim can settle it. Of
// two places the later one on a task's way counts: waiting, running, parked, succeeded. What
// belongs to no task is removed; what is out of range becomes what needs a person; counters are
// counted anew. After a repair, what is in memory must be loaded anew.
//
// A file whose pages are damaged is reported as such (readable = false), and nothing is touched.
// Throws SqlError.
[[nodiscard]] ports::AuditReport audit(Database& database, const AuditOptions& options);

}  // namespace holdfast::stores::sqlite
