#pragma once

#include "ports/records.hpp"
#include "stores/sqlite/database.hpp"
#include "stores/sqlite/tally.hpp"

namespace holdfast::stores::sqlite {

// Looks at everything in the file (N5): that SQLite finds its own structures whole, that each task
// stands in exactly one place, that nothing belongs to no task, that counters say what is there,
// and that accepted = present + removed. With `repair`, inside the caller's transaction, mends what
// can be mended without losing a task: one that stands nowhere waits again. Throws SqlError. After
// a repair, what is in memory must be loaded anew.
[[nodiscard]] ports::AuditReport audit(Database& database, const Tally& tally, bool repair);

}  // namespace holdfast::stores::sqlite
