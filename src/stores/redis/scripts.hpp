#pragma once

#include <span>

#include "stores/redis/script.hpp"

// The scripts of the store: lua/, compiled into the program. Above each stands what it takes and
// gives.
namespace holdfast::stores::redis {

struct Scripts {
  Script submit, claim, claim_these, renew, change, settle, overdue, purge, withdraw, carried,
      configure, jot;
  Script fetch, count, groups, page, numbers, notes;
  Script audit_counts, audit_tasks, audit_places, audit_groups;
};

// The same ones for the whole program.
[[nodiscard]] const Scripts& scripts();
[[nodiscard]] std::span<const Script* const> all_scripts();

}  // namespace holdfast::stores::redis
