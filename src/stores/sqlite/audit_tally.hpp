#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "ports/records.hpp"
#include "stores/sqlite/database.hpp"

namespace holdfast::stores::sqlite {

// Counts all tasks, queue by queue and state by state, and compares with what the counters say and
// with what was accepted. Fills in the numbers of the report; with `repair` as they are afterwards.
// A task is counted as what a repair makes of it: pending if it stands nowhere, but as its row says
// if it is one of `misplaced`.
//
// Counters are written anew by a repair. But a task that was accepted and is neither here nor
// removed is lost, and stays a finding: the counters then say what is left.
[[nodiscard]] std::vector<ports::Finding> audit_tally(
    Database& database, bool repair, const std::unordered_set<std::int64_t>& misplaced,
    ports::AuditReport& report);

}  // namespace holdfast::stores::sqlite
